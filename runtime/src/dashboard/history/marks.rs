//! A reading of one function's figures, to be held against an earlier one.
//!
//! Of a snapshot's figures only those that a panel shows are kept: a whole one has some thirty kibibytes a function.
//!
//! Invariant: every figure but what is under way only grows.

use super::outcome::{self, Outcomes};
use crate::advice::Curve;
use crate::base::histogram::Bands;
use crate::base::lengths::Lengths;
use crate::call::ObservedFigures;
use crate::call::tally::{LATE_RUNGS, StopReason, WaitFate};
use crate::metrics::SiteFigures;

/// A function's figures at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) outcomes: Outcomes,
    pub(crate) attempts: u64,
    pub(crate) hedges: u64,
    pub(crate) stops: [u64; StopReason::ALL.len()],
    /// Attempts begun and answered, rung by rung.
    pub(crate) rungs: [(u64, u64); LATE_RUNGS + 1],
    pub(crate) deadline_used: [u64; 10],
    pub(crate) lengths: Lengths,
    /// Of attempts that ran on beyond their limit, where there were any.
    pub(crate) observed: Option<Box<ObservedFigures>>,
    pub(crate) waits: Bands,
    pub(crate) wait_fates: [u64; WaitFate::ALL.len()],
    pub(crate) entered_at_once: u64,
    /// Under way.
    pub(crate) in_flight: u64,
}

impl Marks {
    pub(crate) fn of(site: &SiteFigures) -> Self {
        let mut waits = Bands::default();
        for fate in WaitFate::ALL {
            waits.merge(site.waits(fate));
        }
        Self {
            outcomes: outcome::of(site),
            attempts: site.attempts(),
            hedges: site.hedges(),
            stops: StopReason::ALL.map(|reason| site.stopped_for(reason)),
            rungs: site.ladder().map(|rung| (rung.begun, rung.answered)),
            deadline_used: site.deadline_used,
            lengths: Lengths { completed: site.latency.clone(), cut_off: site.cut_off.clone() },
            observed: site.observed.clone().map(Box::new),
            waits,
            wait_fates: WaitFate::ALL.map(|fate| site.waits(fate).count()),
            entered_at_once: site.entered_at_once,
            in_flight: site.in_flight,
        }
    }

    /// What has happened since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let mut rungs = self.rungs;
        for (now, then) in rungs.iter_mut().zip(earlier.rungs) {
            *now = (now.0.saturating_sub(then.0), now.1.saturating_sub(then.1));
        }
        Self {
            outcomes: less(self.outcomes, &earlier.outcomes),
            attempts: self.attempts.saturating_sub(earlier.attempts),
            hedges: self.hedges.saturating_sub(earlier.hedges),
            stops: less(self.stops, &earlier.stops),
            rungs,
            deadline_used: less(self.deadline_used, &earlier.deadline_used),
            lengths: self.lengths.since(&earlier.lengths),
            observed: self
                .observed
                .as_ref()
                .map(|now| earlier.observed.as_ref().map_or_else(|| now.clone(), |then| Box::new(now.since(then)))),
            waits: self.waits.since(&earlier.waits),
            wait_fates: less(self.wait_fates, &earlier.wait_fates),
            entered_at_once: self.entered_at_once.saturating_sub(earlier.entered_at_once),
            in_flight: self.in_flight,
        }
    }

    /// How many attempts take longer than a length, from all that was seen.
    pub(crate) fn curve(&self) -> Curve {
        Curve::seen(&self.lengths, self.observed.as_deref())
    }

    /// Calls that ended.
    pub(crate) fn calls(&self) -> u64 {
        self.outcomes.iter().sum()
    }
}

fn less<const N: usize>(mut now: [u64; N], then: &[u64; N]) -> [u64; N] {
    now.iter_mut().zip(then).for_each(|(now, then)| *now = now.saturating_sub(*then));
    now
}
