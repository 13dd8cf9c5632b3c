//! Asking again, seldom enough that it cannot make matters worse.
//!
//! A retry helps against a fault that is over by the next try and hurts against everything else: three attempts against
//! an overloaded dependency are three times the load at the worst moment, and each attempt's timeout is one more that
//! somebody waits. So retries are bounded three ways: by number, by time (no pause is begun that cannot end before the
//! deadline, or before `max_duration` has passed since the first attempt), and by a budget shared by all calls of the site,
//! or of all sites that name it: a fifth of their number, so that under a total outage the dependency sees a fifth more
//! load and not three times as much. (Budgets of this kind come from Finagle.)
//!
//! **What is asked again.** The body's own errors, as far as they are classed as retryable. Never a timeout unless the
//! site says `idempotent`: an order that timed out may have been booked. Never our own refusals unless the site names
//! them, since asking a full bulkhead again makes it fuller; an open breaker ends the loop unless it is named, and a spent
//! deadline in any case. What `abort` names is final whatever else was named.
//!
//! **When.** After a pause drawn evenly between nothing and a bound that doubles each time, up to a cap ("full jitter",
//! from the AWS architecture blog): callers that failed together must not come back together. Other curves and other jitter
//! are there for those who know their dependency's rhythm (`backoff`). A hint from the other side
//! wins over the draw. No slot is held in a pause; the next attempt joins the back of the queue.
//!
//! ```text
//!   attempt ── failed ──▶ decide ──▶ stop: exhausted · not retryable · open · hint too long · no time · too late · budget spent
//!      ▲                    │
//!      └──── pause ◀────────┘ again: a retry is taken from the budget
//! ```
//!
//! Invariants: at most `max` attempts after the first; every pause lies between 0 and the cap, or is the hint; the caller
//! gets the last real error; a pause that is dropped gives its retry back to the budget.

mod backoff;
#[cfg(all(test, not(watertight_loom)))]
mod backoff_tests;
mod budget;
mod config;
mod decide;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

pub(crate) use budget::{Budget, Ticket};
pub use config::Config;
pub(crate) use config::{Allowance, Backoff, Causes, Curve, Jitter};
pub(crate) use decide::{Next, Seen, Trouble, decide};
