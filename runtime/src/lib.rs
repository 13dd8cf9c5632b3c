//! Async functions that survive slow dependencies.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod __private;
mod base;
mod call;
mod catalogue;
mod declaration;
pub mod export;
pub mod metrics;
mod pipeline;
mod registry;
mod site;
mod spawn;
mod strategies;
#[cfg(feature = "testing")]
pub mod testing;

pub use base::histogram::Bands;
pub use call::context::{attempt, call_id};
pub use call::tally::{AttemptFate, StopReason, WaitFate};
pub use call::{CallId, Class, Classify, Error, ErrorKind, Event, Failure, FallbackUse, Fate, Identity, Refusal};
pub use metrics::{Snapshot, snapshot};
pub use spawn::spawn;
pub use watertight_macros::resilient;

/// Deadlines that travel down the tree of calls.
pub mod deadline {
    pub use crate::strategies::deadline::{Within, clamp, remaining, within};
}

/// Breakers, by hand.
pub mod breaker {
    pub use crate::registry::{isolate, reset};
}
