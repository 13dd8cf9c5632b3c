//! The figures of several functions as those of one.
//!
//! Invariant: every figure is a count or a histogram, so the sum of two is what one that did the work of both would say.

use super::snapshot::SiteFigures;
use crate::call::tally::LATE_RUNGS;

impl SiteFigures {
    /// Adds another function's figures; name and place stay.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.merge_sums(other);
        self.declares.iter_mut().zip(other.declares).for_each(|(mine, theirs)| *mine |= theirs);
        add(&mut self.deadline_used, &other.deadline_used);
        self.latency.merge(&other.latency);
        self.cut_off.merge(&other.cut_off);
        self.last_good_age.merge(&other.last_good_age);
        if let Some(theirs) = &other.observed {
            self.observed.get_or_insert_default().merge(theirs);
        }
        self.fates.iter_mut().zip(&other.fates).for_each(|(mine, theirs)| add(mine, theirs));
        add(&mut self.attempts, &other.attempts);
        add(&mut self.stops, &other.stops);
        add(&mut self.hedges, &other.hedges);
        for rung in 0..LATE_RUNGS {
            self.rungs[rung].0 += other.rungs[rung].0;
            self.rungs[rung].1 += other.rungs[rung].1;
        }
        self.waits.iter_mut().zip(&other.waits).for_each(|(mine, theirs)| mine.merge(theirs));
        self.token_waits.iter_mut().zip(&other.token_waits).for_each(|(mine, theirs)| mine.merge(theirs));
        add(&mut self.would.refuse, &other.would.refuse);
        add(&mut self.would.cut, &other.would.cut);
        self.would.queue += other.would.queue;
        self.would.retry += other.would.retry;
    }

    fn merge_sums(&mut self, other: &Self) {
        let sums = [
            (&mut self.calls, other.calls),
            (&mut self.in_flight, other.in_flight),
            (&mut self.ok, other.ok),
            (&mut self.error, other.error),
            (&mut self.timed_out, other.timed_out),
            (&mut self.refused, other.refused),
            (&mut self.cancelled, other.cancelled),
            (&mut self.panicked, other.panicked),
            (&mut self.fallback_used, other.fallback_used),
            (&mut self.fallback_failed, other.fallback_failed),
            (&mut self.fallback_full, other.fallback_full),
            (&mut self.retries, other.retries),
            (&mut self.queued, other.queued),
            (&mut self.throttled, other.throttled),
            (&mut self.entered_at_once, other.entered_at_once),
            (&mut self.lent, other.lent),
            (&mut self.overruns, other.overruns),
            (&mut self.doomed_probes, other.doomed_probes),
            (&mut self.would_refuse, other.would_refuse),
            (&mut self.would_cut, other.would_cut),
            (&mut self.would_queue, other.would_queue),
            (&mut self.would_retry, other.would_retry),
        ];
        for (mine, theirs) in sums {
            *mine += theirs;
        }
    }
}

fn add(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}
