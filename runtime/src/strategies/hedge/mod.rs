//! A second attempt beside one that takes long, and the first good answer wins.
//!
//! Of a hundred calls a few take ten times as long as the rest, for reasons that have nothing to do with what was asked: a
//! pause of the collector, a full queue on one of many machines, a lost packet. Asked again, such a call is as likely as any
//! other to be quick. So a call that is still running when nearly all others would have answered gets a second attempt,
//! and the slower of the two is dropped. For a few per cent more load the tail is cut to about the delay plus a usual
//! answer. (The idea is of Dean and Barroso, "The Tail at Scale", 2013, under the name of hedged requests.)
//!
//! ```text
//!   first    ├────────────────────────────────── ✕  dropped, its slot free: "lost"
//!   second               ├───────▶ answer            the call's answer: "won"
//!            0         delay
//!            └─ from the start of the body, not of the wait for a slot
//! ```
//!
//! It helps against slowness of *one* attempt. When every attempt is slow because the other side is overloaded, it would be
//! one more attempt for each, at the worst moment. Four things stand against that:
//!
//! - **Never more than one** for each attempt; what remains of the tail after two has other reasons.
//! - **Out of the retry budget,** the one of the site's retries: what all further attempts of ten seconds may be, hedges and
//!   retries together, is a fifth of the calls and one a second. Without a ticket there is no hedge, and it is counted.
//! - **It takes what is free, or nothing.** It asks the breaker and the bulkhead like any attempt, but it never waits in
//!   line: where somebody queues, the compartment is the bottleneck, and a second attempt of this call would take the
//!   slot that another call's first needs. Refused, it is not made, and the first runs on.
//! - **A percentile moves with the slowness.** Where everybody is slow, so is the percentile, and nobody is hedged.
//!
//! **The delay** is fixed, or a percentile of this site's own recent attempts. It counts from the start of the body: the
//! percentile was measured from there, and time in the queue says that *we* are busy. Attempts that were dropped, by a limit or
//! because they lost, are in the estimate as what they were, longer than they ran ([`Lengths`](crate::base::lengths::Lengths)).
//! Left out, each hedge that wins would take its own reason out of the figures: the percentile would fall, more would be
//! hedged, and it would fall further. Until enough attempts are known there is no hedge: a guess that is too short doubles
//! the load of a fresh process, and missing a few hedges costs nothing but the old tail. A percentile below the floor is
//! taken as the floor, so that a function that answers in a millisecond is not asked twice for a timer's lateness.
//!
//! **Which answer ends it.** A value, and an error that asking again would not change: both are what the other attempt would
//! say. An error worth another try waits for the other attempt, which is that other try. If both fail, the body's own error
//! that came first is the attempt's, and retry decides once; a limit says less than an error and stands back.
//!
//! Sized badly: a percentile below p90 spends the budget on calls that were about to answer; a fixed delay that was right last
//! year hedges every call once the function got slower; a bulkhead without room to spare turns every hedge away.
//!
//! Invariants: the body of a second attempt runs only while the first one runs or has failed with an error worth another
//! try; every hedge that was due has exactly one outcome; a ticket of one that was not made goes back.

mod config;
mod decide;
mod pace;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

pub(crate) use config::After;
pub use config::Config;
pub(crate) use decide::{due, ends_race};
pub(crate) use pace::Pace;
