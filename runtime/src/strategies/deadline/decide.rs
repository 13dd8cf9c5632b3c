//! Whether an attempt is worth starting with what is left. Pure.

use crate::base::clock::Moment;
use crate::call::Detail;
use crate::call::context::Deadline;

/// "Practically never finished in less": this percentile of the recent latencies, read at its lower bound.
pub(crate) const FLOOR_PERCENTILE: f64 = 1.0;
/// Below this many recent attempts nothing is known and nothing is doomed.
pub(crate) const FLOOR_SAMPLES: u64 = 100;
/// One of this many doomed attempts runs all the same.
pub(crate) const DOOMED_PROBE_EVERY: u64 = 50;

/// What becomes of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Go,
    /// Doomed by the estimate, and run to check the estimate.
    Probe,
    Refuse(Detail),
}

/// `floor` is the estimate in nanoseconds (0: unknown), `doomed` how many have been found doomed before.
#[inline]
pub(crate) fn decide(
    now: Moment,
    deadline: Deadline,
    in_queue: bool,
    floor: u64,
    doomed: impl FnOnce() -> u64,
) -> Start {
    let remaining = deadline.at.since(now);
    if remaining == 0 {
        return Start::Refuse(Detail::Spent { in_queue });
    }
    if remaining >= floor {
        return Start::Go;
    }
    if doomed() % DOOMED_PROBE_EVERY == DOOMED_PROBE_EVERY - 1 {
        return Start::Probe;
    }
    Start::Refuse(Detail::Doomed { remaining, floor })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_raw(1_000);

    fn with_left(nanos: u64) -> Deadline {
        Deadline::starting(NOW, nanos)
    }

    #[test]
    fn nothing_left_is_refused_whatever_the_floor() {
        assert_eq!(decide(NOW, with_left(0), true, 0, || 49), Start::Refuse(Detail::Spent { in_queue: true }));
    }

    #[test]
    fn less_than_the_floor_is_doomed_but_for_one_in_fifty() {
        assert_eq!(
            decide(NOW, with_left(99), false, 100, || 0),
            Start::Refuse(Detail::Doomed { remaining: 99, floor: 100 })
        );
        assert_eq!(decide(NOW, with_left(100), false, 100, || 0), Start::Go);
        let probes = (0..500).filter(|&n| decide(NOW, with_left(99), false, 100, || n) == Start::Probe).count();
        assert_eq!(probes, 10);
    }
}
