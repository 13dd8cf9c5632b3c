//! The figures, read: plain data for programs, a table for people, fixed names for everybody else.
//!
//! Counting is done where it happens, in `call/tally`; nothing here is on the path of a call. Reading sums the
//! lanes of every site and copies; it may be done at any time, by anyone, as often as wanted, and costs the callers
//! nothing.
//!
//! Invariants: a snapshot is plain data and stays as it was; every metric name is written once, in [`names`]; every
//! series exists from process start, at zero.

mod merge;
mod named;
pub mod names;
pub(crate) mod series;
mod snapshot;
mod table;

pub use crate::call::ObservedFigures;
pub use crate::strategies::breaker::State as BreakerState;
pub use named::{BreakerFigures, BulkheadFigures, IsolateFigures, KeyCount, KeyFigures, RateFigures};
pub use snapshot::{Rung, SiteFigures, Snapshot, snapshot};
