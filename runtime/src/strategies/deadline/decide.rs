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
}
