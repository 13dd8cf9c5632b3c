//! Whether an attempt is worth starting with what is left. Pure.

use super::estimate::Limits;
use crate::base::clock::Moment;
use crate::call::Detail;
use crate::call::context::Deadline;

/// One of this many doomed attempts runs all the same.
const DOOMED_PROBE_EVERY: u64 = 50;

/// What becomes of the attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    Go,
    /// Doomed by the estimate, and run to check the estimate.
    Probe,
    Refuse(Detail),
}

/// Where an attempt stands when it could start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// It had to wait for its slot.
    pub(crate) in_queue: bool,
    /// Others wait for it.
    pub(crate) wanted: bool,
}

/// `limits` are the estimate, `doomed` how many have been found doomed before.
#[inline]
pub(crate) fn decide(
    now: Moment,
    deadline: Deadline,
    turn: Turn,
    limits: Limits,
    doomed: impl FnOnce() -> u64,
) -> Start {
    let remaining = deadline.at.since(now);
    if remaining == 0 {
        return Start::Refuse(Detail::Spent { in_queue: turn.in_queue });
    }
    let floor = if turn.wanted { limits.worthwhile } else { limits.hopeless };
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
    use proptest::prelude::*;

    use super::*;

    const NOW: Moment = Moment::from_raw(1_000);
    const LIMITS: Limits = Limits { hopeless: 100, worthwhile: 200 };
    const ALONE: Turn = Turn { in_queue: false, wanted: false };
    const WANTED: Turn = Turn { in_queue: true, wanted: true };

    fn with_left(nanos: u64) -> Deadline {
        Deadline::starting(NOW, nanos)
    }

    #[test]
    fn nothing_left_is_refused_whatever_is_known() {
        let refused = Start::Refuse(Detail::Spent { in_queue: true });
        assert_eq!(decide(NOW, with_left(0), WANTED, Limits::default(), || 49), refused);
    }

    #[test]
    fn nothing_known_refuses_nothing() {
        assert_eq!(decide(NOW, with_left(1), WANTED, Limits::default(), || 0), Start::Go);
    }

    #[test]
    fn alone_it_may_try_its_luck_and_with_others_waiting_it_must_be_worthwhile() {
        assert_eq!(decide(NOW, with_left(100), ALONE, LIMITS, || 0), Start::Go);
        let doomed = Start::Refuse(Detail::Doomed { remaining: 199, floor: 200 });
        assert_eq!(decide(NOW, with_left(199), WANTED, LIMITS, || 0), doomed);
        assert_eq!(decide(NOW, with_left(200), WANTED, LIMITS, || 0), Start::Go);
    }

    #[test]
    fn one_doomed_attempt_in_fifty_runs_all_the_same() {
        let doomed = Start::Refuse(Detail::Doomed { remaining: 99, floor: 100 });
        assert_eq!(decide(NOW, with_left(99), ALONE, LIMITS, || 0), doomed);
        let probes = (0..500).filter(|&n| decide(NOW, with_left(99), ALONE, LIMITS, || n) == Start::Probe).count();
        assert_eq!(probes, 10);
    }

    proptest! {
        /// The rule in the reader's words, held against the code over everything it is handed.
        #[test]
        fn an_attempt_starts_exactly_when_enough_is_left_or_it_is_the_fiftieth_without(
            left in 0_u64..400, hopeless in 0_u64..300, more in 0_u64..300, wanted: bool, in_queue: bool, doomed in 0_u64..200,
        ) {
            let limits = Limits { hopeless, worthwhile: hopeless + more };
            let needed = if wanted { hopeless + more } else { hopeless };
            let expected = if left == 0 {
                Start::Refuse(Detail::Spent { in_queue })
            } else if left >= needed {
                Start::Go
            } else if (doomed + 1).is_multiple_of(DOOMED_PROBE_EVERY) {
                Start::Probe
            } else {
                Start::Refuse(Detail::Doomed { remaining: left, floor: needed })
            };
            let turn = Turn { in_queue, wanted };
            prop_assert_eq!(decide(NOW, with_left(left), turn, limits, || doomed), expected);
            let with_more = decide(NOW, with_left(left + 1), turn, limits, || doomed);
            prop_assert!(expected != Start::Go || with_more == Start::Go, "more time never refuses what less let through");
        }

        /// Whatever the order of lengths, one in fifty of the doomed runs, so the estimate is never without a check for long.
        #[test]
        fn of_every_fifty_doomed_in_a_row_one_runs(lengths in prop::collection::vec(1_u64..100, 50..300)) {
            let mut seen = 0;
            let starts: Vec<_> = lengths.iter().map(|left| {
                seen += 1;
                decide(NOW, with_left(*left), ALONE, LIMITS, || seen - 1)
            }).collect();
            for window in starts.windows(50) {
                prop_assert_eq!(window.iter().filter(|start| **start == Start::Probe).count(), 1);
            }
        }
    }
}
