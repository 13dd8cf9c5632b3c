//! What everything else stands on, without one word of the domain.
//!
//! Nothing here knows what a bulkhead or a call is. That is what makes these pieces checkable alone: a clock that a
//! test can pause, locks and atomics that a model checker can replace, counters that threads do not fight over, and a
//! histogram of fixed size.
//!
//! Invariants: nothing in this folder imports from another folder of the crate; time is read in `clock` and nowhere
//! else; the model checker is switched in `sync` and nowhere else.

pub(crate) mod clock;
pub(crate) mod histogram;
pub(crate) mod lane;
pub(crate) mod lengths;
pub(crate) mod line;
pub(crate) mod number;
pub(crate) mod park;
mod place;
pub(crate) mod rng;
pub(crate) mod share;
pub(crate) mod sync;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod top;
