//! For tests of services that use this crate.
//!
//! Invariant: nothing here is compiled without the feature `testing`, and a release build of a service has no use for it.

mod record;

pub use record::{Recording, record};
