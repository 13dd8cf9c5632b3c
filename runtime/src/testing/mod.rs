//! For tests of services that use this crate.
//!
//! A test of a guarded function wants three things that production has no use for. A state of its own: two tests of one
//! process must not fill each other's compartments ([`World`]). Figures of its own, and a way to act at the moment when
//! they say so ([`figures_of`]). And a dependency that fails on demand: [`inject`] has a function's body hang, be late, fail or
//! panic, and [`Hung`] is for fakes. What happened, step by step, is what [`record`] tells.
//!
//! All of it runs on tokio's clock, so under `#[tokio::test(start_paused = true)]` a test of an outage that lasts minutes
//! takes milliseconds. `docs/testing.md` walks through one.
//!
//! Invariant: nothing here is compiled without the feature `testing`, and a release build of a service has no use for it.

mod figures;
mod hung;
mod inject;
mod names;
mod record;
mod world;

pub use figures::{Figures, NeverCame, figures_of};
pub use hung::Hung;
pub use inject::{Fault, Injection, inject};
pub use names::NotOne;
pub use record::{Recording, record};
pub use world::World;

pub use crate::call::fault::Injectable;
