//! The vocabulary that every strategy speaks.
//!
//! A strategy is told about a call through what stands here, and answers in the same words: which function it is
//! ([`Identity`]), what surrounds the running code ([`context`]), how an attempt came out ([`Verdict`], [`Class`]), why a
//! call was refused or cut short ([`Error`]), how it ended ([`Fate`]), and where all that is counted ([`tally`]).
//!
//! Invariants: no strategy is named here by its type; everything is plain data that may be copied or read from any
//! thread; the context goes down the line and an outcome comes up, nothing else crosses.

mod attempts;
pub(crate) mod beyond;
pub(crate) mod context;
#[cfg(test)]
mod context_tests;
mod error;
pub(crate) mod event;
mod fate;
#[cfg(feature = "testing")]
pub(crate) mod fault;
mod identity;
pub(crate) mod ids;
pub(crate) mod intake;
mod outcome;
pub(crate) mod tally;
pub(crate) mod trace;
#[cfg(feature = "testing")]
pub(crate) mod watch;
#[cfg(feature = "testing")]
pub(crate) mod world;
pub(crate) mod would;

pub use attempts::HedgeFate;
pub use beyond::{ObservedFate, ObservedFigures};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use fate::{FallbackUse, Fate, Refusal};
pub use identity::Identity;
pub use ids::CallId;
pub use outcome::{Class, Classify, Failure, Verdict};

pub(crate) use error::Detail;
pub(crate) use outcome::BoxError;
