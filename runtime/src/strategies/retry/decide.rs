//! Whether to ask again, and after how long. Pure: handed the times, the roll, and whether the breaker is open.
//!
//! The budget is asked last and elsewhere, so that a retry that is not made for another reason is never paid for.

use super::backoff::pause;
use super::config::Config;
use crate::call::Verdict;
use crate::call::tally::StopReason;

/// The longest pause the other side can ask for; beyond it a caller is better told to come back than kept waiting.
const LONGEST_HINT: u64 = 60_000_000_000;

/// Why an attempt has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The body's own error.
    Answered(Verdict),
    /// Cut off by its timeout.
    TimedOut,
    /// The bulkhead was full.
    Full,
    /// It waited too long for a slot.
    Waited,
    /// The breaker refused.
    Open,
    /// It came too often; a token will be there after so many nanoseconds.
    Limited(u64),
    /// The deadline is spent, or there is too little left.
    OutOfTime,
    /// The process is shutting down.
    Closed,
}

/// What is known when an attempt has failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The attempt that failed, 0 for the first.
    pub(crate) attempt: u32,
    pub(crate) trouble: Trouble,
    /// Nanoseconds left, `None` without a deadline.
    pub(crate) remaining: Option<u64>,
    pub(crate) breaker_open: bool,
    /// Nanoseconds since the first attempt began.
    pub(crate) elapsed: u64,
    /// The pause before this attempt, 0 if there was none.
    pub(crate) last_pause: u64,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Stop(StopReason),
    /// Ask again after so many nanoseconds.
    Again(u64),
}

pub(crate) fn decide(config: &Config, seen: Seen, roll: f64) -> Next {
    if !is_retryable(config, seen) {
        return Next::Stop(match seen.trouble {
            Trouble::Open => StopReason::Open,
            Trouble::OutOfTime => StopReason::NoTime,
            _ => StopReason::NotRetryable,
        });
    }
    if seen.attempt >= config.max {
        return Next::Stop(StopReason::Exhausted);
    }
    let left = config.max_duration.map(|most| most.saturating_sub(seen.elapsed));
    if left == Some(0) {
        return Next::Stop(StopReason::MaxDuration);
    }
    if seen.breaker_open && !config.on.open {
        return Next::Stop(StopReason::Open);
    }
    let hint = match seen.trouble {
        Trouble::Answered(verdict) => verdict.retry_after.map(crate::base::clock::nanos),
        Trouble::Limited(retry_after) => Some(retry_after),
        _ => None,
    };
    let pause = hint.unwrap_or_else(|| pause(config.backoff, seen.attempt, seen.last_pause, roll));
    if seen.remaining.is_some_and(|remaining| pause >= remaining) {
        return Next::Stop(if hint.is_some() { StopReason::Hint } else { StopReason::NoTime });
    }
    if left.is_some_and(|left| pause >= left) {
        return Next::Stop(StopReason::MaxDuration);
    }
    if hint.is_some_and(|hint| hint > LONGEST_HINT) {
        return Next::Stop(StopReason::Hint);
    }
    Next::Again(pause)
}

fn is_retryable(config: &Config, seen: Seen) -> bool {
    match seen.trouble {
        Trouble::Answered(verdict) => config.on.error && verdict.retryable,
        Trouble::TimedOut => config.on.timeout,
        Trouble::Full => config.on.full,
        Trouble::Waited => config.on.wait,
        Trouble::Open => config.on.open,
        Trouble::Limited(_) => config.on.rate,
        Trouble::OutOfTime | Trouble::Closed => false,
    }
}
