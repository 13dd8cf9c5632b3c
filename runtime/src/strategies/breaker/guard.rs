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

    /// Reports the attempt's result and the nanoseconds its body took. `now` is asked for only when that may change the
    /// state, or when the breaker counts by time.
    #[inline]
    pub(crate) fn settle(mut self, sign: Sign, took: u64, now: impl FnOnce() -> Moment) {
        // What says nothing is left unsettled, and dropped as such.
        self.settled = self.breaker.settle(sign, took, self.generation, self.probe, now);
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
