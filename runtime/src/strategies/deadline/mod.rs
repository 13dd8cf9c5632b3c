//! A moment by which a call, and everything it awaits, must be over.
//!
//! A timeout of two seconds at each of three hops is six seconds for the person in front. A deadline is set once, as an
//! absolute moment, and travels down the tree of calls; each hop gets the smaller of what it wants and what is left, and
//! inner scopes can only tighten. `deadline = "2s"` opens a scope for a call; [`within`] does so by hand;
//! [`spawn`](crate::spawn) carries it into a new task. Code inside reads [`remaining`] and passes [`clamp`] on to clients
//! that take a timeout of their own.
//!
//! ```text
//!   edge 2 s ─┬─ wants 500 ms ── gets 500 ms
//!             │      (1.6 s later)
//!             └─ wants 2 s ───── gets 400 ms ─┬─ wants 1 s ── gets what is left of 400 ms
//! ```
//!
//! **Work that cannot be finished is not started.** With nothing left, the body is not polled at all. With a little
//! left, the question is what this function has lately managed: when practically none of its recent attempts finished in
//! what remains, starting it would only hold a slot until it is cut off. While others wait for the slot the bar is higher:
//! it must be nearly as good a use of the slot as a fresh caller would be ([`estimate`] says how both are told, attempts
//! that were cut off included). Without this, a queue that is longer than the deadline serves every caller just too late,
//! and a full machine does no useful work. Such an attempt is refused as doomed, except for one in fifty, which keeps the
//! estimate honest when the function gets faster.
//!
//! Invariants: a nested scope is never later than the one around it; a call with nothing left takes no slot, token or
//! probe; leaving the task (a plain spawn) leaves the scope, and reading outside of one gives `None`.

mod config;
mod decide;
mod estimate;
mod scope;

pub(crate) use config::Config;
pub(crate) use decide::{Start, Turn, decide};
pub(crate) use estimate::{Limits, estimate};
pub(crate) use scope::Carried;
pub use scope::{Within, clamp, remaining, within};
