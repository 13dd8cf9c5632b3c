//! What one process tells the next about time, whatever the protocol.
//!
//! A budget that every hop keeps for itself is no budget: three hops of two seconds are six. So each hop tells the next how
//! long its answer is of use, and the next one believes it, as far as it likes.
//!
//! **The time that is left travels, never a point in time.** Two machines agree on how long a second is and on little else:
//! clocks that differ by hours change nothing here. What it costs is the way: a request that spends 5 ms on the wire is
//! believed to have 5 ms more than its caller will wait. Nobody answers late by it, since the caller keeps its own time and
//! hangs up; but work may go on for so long. Who wants the answer to arrive in time keeps something back
//! (`keep_back`).
//!
//! **What the last hop says is believed within bounds.** A value that cannot be read is no reason to refuse a request, nor to
//! let it run for ever: it counts as not said. A caller may ask for less than this hop would give, never for more than
//! `at_most`. With nothing left the request is refused before the handler is called.
//!
//! **The request is the scope.** Its future is polled under the deadline, and dropped at it; and it is dropped by whoever
//! drives it when its connection is gone. Either way the handler's work goes with it, as it does for every future: nothing
//! is spawned here that could stay.
//!
//! Invariants: no clock of this machine is compared with one of another; what goes out is never more than what is left; no
//! value from outside can panic, overflow or lift a bound.

#[cfg(any(feature = "http", feature = "tonic"))]
mod inward;
#[cfg(any(feature = "reqwest", feature = "tonic"))]
mod outward;
#[cfg(any(feature = "http", feature = "reqwest", feature = "tonic"))]
mod wire;

#[cfg(any(feature = "http", feature = "tonic"))]
pub(super) use inward::{Bounded, Terms, terms};
#[cfg(any(feature = "reqwest", feature = "tonic"))]
pub(super) use outward::{GRACE, is_over, left};
#[cfg(any(feature = "http", feature = "reqwest"))]
pub(super) use wire::read_millis;
#[cfg(feature = "reqwest")]
pub(super) use wire::write_millis;
#[cfg(feature = "tonic")]
pub(super) use wire::{read_grpc, write_grpc};

/// Where the remaining time stands in a request over HTTP, in whole milliseconds.
#[cfg(any(feature = "http", feature = "reqwest"))]
pub(super) const HEADER: &str = "x-request-timeout-ms";
