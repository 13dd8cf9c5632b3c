//! Limits of all processes together: `bulkhead = "recs:64/fleet"`, `rate = "1000/s/fleet"`.
//!
//! A vendor allows sixty-four calls at once, and a service runs in eight processes. Eight each is safe and wrong: the one that
//! has the traffic is refused what seven others do not use. To ask a shared counter on every call is right and slow, and makes
//! a hang of that counter a hang of everything. So each process has a *share*: a number for a short time, a *lease*, that it
//! enforces by itself. A task of its own asks the store five times in a lease, says what was wanted, and is told what it has
//! from now on.
//!
//! ```text
//!   calls ──▶ bulkhead's word (slots = share)          the hot path: no word of a fleet
//!                  ▲          │ peaks
//!             set_share     read
//!                  │          ▼
//!   limits ◀── sync ◀──▶ decide (what to ask, how long it holds)
//!                │
//!                ▼  one question, one answer, for all limits
//!              store ── redis (sync.lua) │ in tests: grant (the same rule), a slow network, partitions
//! ```
//!
//! # Who gets what
//!
//! Max-min fairness: wants are met up to one level, the highest for which there is enough. Whoever wants less than the level
//! has all of it; the others have the level each; so nobody can have more without somebody with no more having less, and to ask
//! for more than one needs takes nothing from anyone below the level. Where there is enough for all, what is left is dealt out
//! from below, so that an idle fleet has equal parts and a burst finds slots. In proportion to demand would be the other way
//! to do it; but demand of those who are refused is only a guess, and the one who guesses highest would have most.
//!
//! The store does not keep the wants of every process for that, which would make each sync as dear as the fleet is large, but
//! how many there are of each length in bits and what they come to: thirty-two pairs of numbers for a limit. Wants of one
//! length count as their mean, which by Jensen's inequality gives out too little rather than too much. What cannot be divided goes by
//! a number each process has drawn; with fewer slots than processes the draw changes with each lease, so that all have
//! their turn.
//!
//! # The bound
//!
//! Let `L` be the limit, `n` the processes, `C` the longest an attempt runs (its timeout), and a *part* `max(1, L/n)`.
//!
//! | when | running at most | for how long |
//! |---|---|---|
//! | everybody hears from the store | `L` | always |
//! | `k` processes have lost it | `L` + what those `k` had leased, until they are out of what they ran | `C` after their leases ended |
//! | | `L` + `k` parts | as long as they have lost it |
//! | nobody hears from it | `n` parts: `L`, or `n` where that is more | as long as it is gone |
//! | the store was emptied, or restarted so | `L` | nobody gets more than it held for one lease |
//! | a process has not joined yet, or has left | one part more each | until it has |
//!
//! *Everybody hears from it.* The store keeps, of each process, what it may be using at most (`kept`), and the sum of these
//! never exceeds `L` (the model in `grant` is tested on that under any order of questions, losses, repetitions and
//! restarts). A share grows only out of what the sum leaves. When it shrinks, the store goes on counting what the process
//! held; the process first puts the smaller share in force and then says, with its next question, the larger of share and what
//! still runs. Only then is the difference somebody else's. So a call that runs is counted for as long as it runs, and
//! shrinking costs time, never the bound.
//!
//! *It was lost.* A lease is counted from before the question was sent, and ends here before it ends in the store. From there on
//! the process has a part, and the store gives its share to others: **a dead process and one behind a partition look the
//! same**, and to give back what the dead had within a lease is to give away what the other still runs. Calls above the part
//! are not cut off; their timeouts end them. A site without a timeout has no `C`, and [`crate::check()`] says so. Parts add up to `L` as
//! long as all go by one `n`: each by the number it has heard last, and at least by what was declared
//! ([`declare_replicas`]). Where `L < n` a part is one all the same: a function that is refused everywhere because nobody can be asked
//! would be an outage made by its own protection.
//!
//! *It was emptied.* A store in which nobody has a lease has not heard of those who hold something. For one lease it lets
//! everybody keep what they say they held, as far as that adds up to `L`, and gives nobody more. After that, whoever has not asked
//! has lost its lease by its own clock. The same rule holds for a Redis that was stopped for ten seconds, or whose clock was set forward.
//!
//! *What no protocol without a look at the store on every call can bound.* A process that was stopped as a whole for longer
//! than its lease and goes on runs on its old share until its task has had its turn, which is a few milliseconds. A Redis that
//! fails over to a replica which lags knows old sums until each process has asked again, a fifth of a lease.
//!
//! For a rate the same holds of tokens a unit; over any stretch of time `w`, all processes take at most `burst + n + w * rate`,
//! the `n` being the one token that each can hold at least.
//!
//! # What a call notices
//!
//! Nothing: the share is the number of slots in the word that entering swaps anyway. A Redis that is slow, stopped or
//! gone is waited for by the task alone. A process whose share is nothing refuses like a full bulkhead ("0 of 0 slots"), or lets wait
//! where there is a queue, and asks four times as often until it has something.
//!
//! # Clocks
//!
//! The store reads its own, a process its own, and none is compared with another; what crosses the wire are lengths. A process
//! whose clock is a year off is no different.
//!
//! Invariants: no call waits for the store; a leased share is in force for no longer than its lease; of one limit the store
//! has never given more than the whole; a question that is asked or heard twice changes nothing.

#[cfg(feature = "redis")]
mod decide;
#[cfg(feature = "redis")]
mod figures;
#[cfg(all(test, feature = "redis"))]
mod grant;
#[cfg(feature = "redis")]
mod join;
#[cfg(feature = "redis")]
mod limits;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "redis")]
mod store;
#[cfg(feature = "redis")]
mod sync;
#[cfg(all(test, feature = "redis", not(watertight_loom)))]
mod tests;

pub use crate::replicas::declare_replicas;
#[cfg(feature = "redis")]
pub use figures::{FleetFigures, ShareFigures, Source};
#[cfg(feature = "redis")]
pub use join::{Fleet, Join, JoinError, join};
