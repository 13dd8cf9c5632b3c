//! A limit on one attempt.
//!
//! A dependency that accepts a connection and never answers is the failure nothing else sees: no error, no crash, only
//! a caller that goes on holding what it holds. So an attempt gets a length of time, counted from the moment its slot is
//! granted (waiting for a slot has its own limit), and at the end of it the body's future is dropped: the work is
//! cancelled, not abandoned.
//!
//! The body is always polled before the timer. Work that is ready is never reported late; and a body that comes back
//! ready after its limit because it blocked its thread *has* answered, perhaps with a write, so its answer stands and an
//! overrun is counted instead. No timer is registered before the body has been pending once, since registering one
//! costs more than most ready bodies take.
//!
//! Timers of tokio's fire up to about a millisecond late and never early, and a body that blocks its thread cannot be
//! interrupted by anything in the same thread.
//!
//! Invariants: the limit in force is the smaller of the timeout and what is left of the deadline; which of the two
//! fired is known and said.

use crate::base::clock::Moment;
use crate::call::context::Deadline;

/// What a site declares: the longest one attempt may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    nanos: u64,
}

impl Config {
    /// A limit in nanoseconds; the attribute refuses zero.
    pub(crate) const fn new(nanos: u64) -> Self {
        Self { nanos }
    }

    pub(crate) const fn nanos(self) -> u64 {
        self.nanos
    }
}

/// Which of the two limits is the smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Timeout,
    Deadline,
}

/// When an attempt that starts now must end, and what would end it.
#[inline]
pub(crate) fn decide(now: Moment, timeout: Option<u64>, deadline: Deadline) -> (Moment, Cause) {
    let limit = timeout.map_or(Moment::NEVER, |nanos| now.plus(nanos));
    if deadline.at < limit { (deadline.at, Cause::Deadline) } else { (limit, Cause::Timeout) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_holds_and_is_named() {
        let now = Moment::from_raw(0);
        let deadline = Deadline::starting(now, 50);
        assert_eq!(decide(now, Some(30), deadline), (now.plus(30), Cause::Timeout));
        assert_eq!(decide(now, Some(80), deadline), (now.plus(50), Cause::Deadline));
        assert_eq!(decide(now, None, deadline), (now.plus(50), Cause::Deadline));
        assert_eq!(decide(now, Some(u64::MAX), Deadline::NONE).1, Cause::Timeout);
        assert_eq!(decide(now, None, Deadline::NONE).0, Moment::NEVER);
    }
}
