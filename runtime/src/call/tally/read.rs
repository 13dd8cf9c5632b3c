//! A tally as plain numbers: the sums over all lanes, for whoever reads.
//!
//! Invariant: what ended is read before what started, so nothing is ever in flight a negative number of times.

use std::sync::OnceLock;

use super::{AttemptFate, HedgeFate, LATE_RUNGS, StopReason, Tally, WaitFate};
use crate::base::histogram::{Bands, Histogram};
use crate::base::lane::Count;
use crate::call::beyond::ObservedFigures;
use crate::call::fate::{FATES, FallbackUse};
use crate::call::would::WouldFigures;

impl Tally {
    /// A plain copy of everything.
    pub(crate) fn read(&self) -> TallyFigures {
        let mut all = TallyFigures { observed: self.beyond.read(), ..TallyFigures::default() };
        // What ended is read before what started, so that a call ending in between never makes "in flight" negative.
        for figures in self.figures() {
            for (total, cells) in all.fates.iter_mut().zip(&figures.fates) {
                total.iter_mut().zip(cells).for_each(|(total, cell)| *total += cell.get());
            }
            all.dequeued += figures.dequeued.get();
            all.unthrottled += figures.unthrottled.get();
            add_all(&mut all.attempts, &figures.attempts);
        }
        for figures in self.figures() {
            all.started += figures.started.get();
            all.queued += figures.queued.get();
            all.throttled += figures.throttled.get();
            all.retries += figures.retries.get();
            all.at_once += figures.at_once.get();
            all.lent += figures.lent.get();
            all.overruns += figures.overruns.get();
            all.doomed_probes += figures.doomed_probes.get();
            #[cfg(feature = "testing")]
            {
                all.begun += figures.begun.get();
            }
            for ((begun, answered), rung) in all.rungs.iter_mut().zip(&figures.rungs) {
                *begun += rung.begun.get();
                *answered += rung.answered.get();
            }
            add_all(&mut all.stops, &figures.stops);
            add_all(&mut all.hedges, &figures.hedges);
            add_all(&mut all.deadline_tenths, &figures.deadline_tenths);
            figures.would.add_to(&mut all.would);
            figures.latency.add_to(&mut all.latency);
            if let Some(cut_off) = figures.cut_off.get() {
                cut_off.add_to(&mut all.cut_off);
            }
            add_waits(&mut all.waits, &figures.waits);
            add_waits(&mut all.token_waits, &figures.token_waits);
            if let Some(ages) = figures.last_good_age.get() {
                ages.add_to(&mut all.last_good_age);
            }
        }
        all
    }
}

/// A tally as plain numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct TallyFigures {
    pub(crate) started: u64,
    pub(crate) fates: [[u64; FallbackUse::ALL.len()]; FATES],
    pub(crate) attempts: [u64; AttemptFate::ALL.len()],
    pub(crate) retries: u64,
    /// How many attempts of each number after the first were begun, and gave the call its value.
    pub(crate) rungs: [(u64, u64); LATE_RUNGS],
    pub(crate) stops: [u64; StopReason::ALL.len()],
    pub(crate) hedges: [u64; HedgeFate::ALL.len()],
    pub(crate) at_once: u64,
    pub(crate) queued: u64,
    pub(crate) dequeued: u64,
    pub(crate) throttled: u64,
    pub(crate) unthrottled: u64,
    pub(crate) lent: u64,
    pub(crate) overruns: u64,
    pub(crate) doomed_probes: u64,
    pub(crate) deadline_tenths: [u64; 10],
    pub(crate) would: WouldFigures,
    pub(crate) latency: Bands,
    pub(crate) cut_off: Bands,
    pub(crate) last_good_age: Bands,
    pub(crate) observed: Option<ObservedFigures>,
    #[cfg(feature = "testing")]
    pub(crate) begun: u64,
    pub(crate) waits: [Bands; WaitFate::ALL.len()],
    pub(crate) token_waits: [Bands; WaitFate::ALL.len()],
}

fn add_waits<const N: usize>(totals: &mut [Bands; N], waits: &[OnceLock<Box<Histogram>>; N]) {
    for (bands, waits) in totals.iter_mut().zip(waits) {
        if let Some(waits) = waits.get() {
            waits.add_to(bands);
        }
    }
}

fn add_all<const N: usize>(totals: &mut [u64; N], cells: &[Count; N]) {
    totals.iter_mut().zip(cells).for_each(|(total, cell)| *total += cell.get());
}
