//! An admission: settled by a result, or given back without one.

use super::{Breaker, Sign};
use crate::base::clock::Moment;

/// The right to run one attempt past a breaker.
#[derive(Debug)]
pub(crate) struct Admission {
    breaker: &'static Breaker,
    generation: u32,
    probe: Option<u32>,
    settled: bool,
}

impl Admission {
    #[inline]
    pub(super) fn of(breaker: &'static Breaker, generation: u32, probe: Option<u32>) -> Self {
        Self { breaker, generation, probe, settled: false }
    }

    /// Reports the attempt's result. `now` is asked for only when that may change the state.
    #[inline]
    pub(crate) fn settle(mut self, sign: Sign, now: impl FnOnce() -> Moment) {
        self.settled = true;
        match sign {
            Sign::Success => self.breaker.succeeded(self.generation, self.probe, now),
            Sign::Failure => self.breaker.failed(self.generation, self.probe, now()),
        }
    }
}

impl Drop for Admission {
    #[inline]
    fn drop(&mut self) {
        // Neutral: the caller went away, or our own bulkhead or deadline refused. Only a probe has anything to give back.
        if let (false, Some(probe)) = (self.settled, self.probe) {
            self.breaker.give_back(self.generation, probe);
        }
    }
}
