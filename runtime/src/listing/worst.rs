//! The longest that a call can take by what its function declares. Pure: handed the declarations.
//!
//! ```text
//!   attempts × ( wait for a token + wait for a slot + timeout ) + pauses,  at most the deadline
//! ```
//!
//! It is the figure that a caller has to reckon with, and the one that nobody adds up: with the defaults `retry = 2` next
//! to a timeout of 300 ms and a queue comes to two seconds. A hedge makes an attempt longer by its delay at most, since its
//! body has the timeout from its own start. Where a function says `max_duration`, no attempt begins later than that.
//!
//! Not in it: the fallback, which runs outermost and has no limit but the deadlines around the call; a pause that the
//! other side asks for with `retry_after`; code that blocks its thread, which nothing in the same thread can end.
//!
//! Invariants: adding a strategy that waits never makes a worst case shorter; a deadline bounds it whatever else is said;
//! without a limit on the body there is none, and it says so.

use std::time::Duration;

use crate::declaration::Declaration;
use crate::strategies::{bulkhead, deadline, hedge, isolate, timeout};

/// The longest that a call can take by its function's own settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorstCase {
    /// Runs of the body, one after another.
    pub attempts: u32,
    /// The longest wait of each for a token and for a slot.
    pub wait: Duration,
    /// The longest run of each body; `None` without a timeout.
    pub run: Option<Duration>,
    /// All pauses together.
    pub pauses: Duration,
    /// No attempt begins later than this after the first.
    pub max_duration: Option<Duration>,
    /// The function's own deadline.
    pub deadline: Option<Duration>,
}

impl WorstCase {
    pub(crate) fn of(declaration: &Declaration, all: &[&Declaration]) -> Self {
        let observe = declaration.observe;
        let retry = declaration.retry.filter(|_| !observe.retry);
        let nanos = Duration::from_nanos;
        Self {
            attempts: retry.map_or(1, |retry| retry.max.saturating_add(1)),
            wait: nanos(token_wait(declaration).saturating_add(slot_wait(declaration, all))),
            run: declaration
                .timeout
                .filter(|_| !observe.timeout)
                .map(|timeout| nanos(longest_run(declaration, timeout))),
            pauses: nanos(retry.map_or(0, |retry| retry.longest_pauses())),
            max_duration: retry.and_then(|retry| retry.max_duration).map(nanos),
            deadline: declaration.deadline.filter(|_| !observe.deadline).map(deadline::Config::nanos).map(nanos),
        }
    }

    /// The longest that the attempts, waits and pauses come to, whatever the deadline; `None` if a body may run for ever.
    pub fn without_deadline(&self) -> Option<Duration> {
        let one = self.wait.saturating_add(self.run?);
        let all = one.saturating_mul(self.attempts).saturating_add(self.pauses);
        Some(self.max_duration.map_or(all, |last| all.min(last.saturating_add(one))))
    }

    /// The longest that a call can take; `None` if it has no end.
    pub fn longest(&self) -> Option<Duration> {
        [self.without_deadline(), self.deadline].into_iter().flatten().min()
    }

    #[cfg(feature = "json")]
    pub(crate) fn json(&self) -> serde_json::Value {
        let ms = |length: Duration| length.as_secs_f64() * 1e3;
        serde_json::json!({
            "attempts": self.attempts,
            "wait_ms": ms(self.wait),
            "run_ms": self.run.map(ms),
            "pauses_ms": ms(self.pauses),
            "max_duration_ms": self.max_duration.map(ms),
            "deadline_ms": self.deadline.map(ms),
            "without_deadline_ms": self.without_deadline().map(ms),
            "longest_ms": self.longest().map(ms),
        })
    }
}

fn token_wait(declaration: &Declaration) -> u64 {
    declaration.rate.filter(|_| !declaration.observe.rate).map_or(0, |rate| rate.wait)
}

/// Nobody waits where there is no queue.
fn slot_wait(declaration: &Declaration, all: &[&Declaration]) -> u64 {
    if let Some(isolate) = declaration.isolate {
        let named = all.iter().filter_map(|it| it.isolate).filter(|it| it.name == isolate.name);
        let limits = named.chain([isolate]).filter_map(|it| it.limits).reduce(isolate::Limits::stricter);
        let queue = limits.unwrap_or(isolate::Limits::UNDECLARED).queue;
        return if queue > 0 { declaration.longest_wait(isolate.wait) } else { 0 };
    }
    let Some(bulkhead) = declaration.bulkhead.filter(|_| !declaration.observe.bulkhead) else { return 0 };
    let named = all.iter().filter_map(|it| it.bulkhead).filter(|it| it.name == bulkhead.name);
    let limits = named.chain([bulkhead]).filter_map(|it| it.limits).reduce(bulkhead::Limits::stricter);
    let queue = limits.unwrap_or(bulkhead::Limits::UNDECLARED).queue;
    if queue > 0 { declaration.longest_wait(bulkhead.wait) } else { 0 }
}

/// With its hedge, which starts at its delay; a percentile is known at run time, and nothing runs longer than the timeout.
fn longest_run(declaration: &Declaration, timeout: timeout::Config) -> u64 {
    let timeout = timeout.nanos();
    let delay = declaration.hedge.map_or(0, |hedge| match hedge.after {
        hedge::After::Fixed(nanos) => nanos.min(timeout),
        hedge::After::Percentile(_) => timeout,
    });
    timeout.saturating_add(delay)
}
