//! When a second attempt is due, and whether an answer ends the race. Pure.

use super::config::{After, Config};
use crate::base::clock::Moment;
use crate::call::Verdict;

/// How many attempts must lie beyond a percentile for it to mean something, and how many there must be in all.
const BEYOND: u64 = 5;
const AT_LEAST: u64 = 100;

/// How many recent attempts make a percentile known: `p95` takes 100, `p99` 500, `p99.9` 5000.
pub(super) fn enough(after: After) -> u64 {
    match after {
        After::Fixed(_) => 0,
        After::Percentile(tenths) => (BEYOND * 1_000).div_ceil(u64::from(1_000 - tenths.min(999))).max(AT_LEAST),
    }
}

/// When an attempt that started then, and must end at `limit`, is hedged: never, if it would be cut off first or if the
/// percentile is not known.
pub(crate) fn due(
    config: &Config,
    started_at: Moment,
    limit: Moment,
    percentile: impl FnOnce() -> Option<u64>,
) -> Option<Moment> {
    let delay = match config.after {
        After::Fixed(nanos) => nanos,
        After::Percentile(_) => percentile()?.max(config.floor),
    };
    let at = started_at.plus(delay);
    (at < limit).then_some(at)
}

/// Whether an attempt that answers ends the race at once, or waits for the other one.
#[inline]
pub(crate) fn ends_race(verdict: Verdict) -> bool {
    verdict.ok || !verdict.retryable
}
