//! Where a site's figures are kept: one set of cells per thread that ever called it.
//!
//! The runtime counts for itself and lets others read. A recorder may be installed late, early or never, a dashboard
//! may come and go; what happened stays known. Each thread writes its own lane without atomic read-modify-writes (see
//! [`crate::base::lane`]), and whoever reads sums the lanes, so a call pays a nanosecond or two per figure however many
//! threads share the site and whoever watches.
//!
//! A lane is allocated at a thread's first call of the site and kept for good; the rarer histograms (attempts cut off,
//! waits for a slot) only when there is something to put in. A site called by four threads takes about 17 KiB (a test holds a lane to 5).
//!
//! Two rules keep the figures honest. An attempt cut off at its limit did not take that long, it took at least that
//! long: it goes to a histogram of its own and never into the latency. And a wait for a slot is recorded however it
//! ended, or the longest waits would be the ones that vanish.
//!
//! Invariants: every call that ends adds one to exactly one cell of `fates`; calls started = calls ended + calls in
//! flight once the threads have been joined; memory per site depends on the number of threads alone.

mod read;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::attempts::HedgeFate;
pub use super::attempts::{AttemptFate, StopReason};
use super::beyond::Beyond;
pub use super::fate::WaitFate;
use super::fate::{FATES, FallbackUse, Fate, Refusal};
use super::intake::Shown;
use super::would::{Cut, Would};
use crate::base::histogram::Histogram;
use crate::base::lane::{CELLS, Count, Lane};
use crate::base::lengths::Lengths;
pub(crate) use read::TallyFigures;

/// How many attempts after a call's first are counted apart: the second, the third, and all later ones together.
pub(crate) const LATE_RUNGS: usize = 3;

/// Attempts of one number, after the first.
struct Rung {
    begun: Count,
    answered: Count,
}

/// One thread's cells of one site.
struct Figures {
    started: Count,
    fates: [[Count; FallbackUse::ALL.len()]; FATES],
    attempts: [Count; AttemptFate::ALL.len()],
    retries: Count,
    rungs: [Rung; LATE_RUNGS],
    stops: [Count; StopReason::ALL.len()],
    hedges: [Count; HedgeFate::ALL.len()],
    at_once: Count,
    queued: Count,
    dequeued: Count,
    throttled: Count,
    unthrottled: Count,
    lent: Count,
    overruns: Count,
    doomed_probes: Count,
    deadline_tenths: [Count; 10],
    would: Would,
    latency: Box<Histogram>,
    cut_off: OnceLock<Box<Histogram>>,
    last_good_age: OnceLock<Box<Histogram>>,
    /// Bodies begun: with the attempts, which are those that have ended, it tells a test how many run.
    #[cfg(feature = "testing")]
    begun: Count,
    waits: [OnceLock<Box<Histogram>>; WaitFate::ALL.len()],
    token_waits: [OnceLock<Box<Histogram>>; WaitFate::ALL.len()],
}

impl Figures {
    fn boxed() -> Box<Self> {
        Box::new(Self {
            started: Count::new(),
            fates: [const { [const { Count::new() }; FallbackUse::ALL.len()] }; FATES],
            attempts: [const { Count::new() }; AttemptFate::ALL.len()],
            retries: Count::new(),
            rungs: [const { Rung { begun: Count::new(), answered: Count::new() } }; LATE_RUNGS],
            stops: [const { Count::new() }; StopReason::ALL.len()],
            hedges: [const { Count::new() }; HedgeFate::ALL.len()],
            at_once: Count::new(),
            queued: Count::new(),
            dequeued: Count::new(),
            throttled: Count::new(),
            unthrottled: Count::new(),
            lent: Count::new(),
            overruns: Count::new(),
            doomed_probes: Count::new(),
            deadline_tenths: [const { Count::new() }; 10],
            would: Would::new(),
            latency: Histogram::boxed(),
            cut_off: OnceLock::new(),
            last_good_age: OnceLock::new(),
            #[cfg(feature = "testing")]
            begun: Count::new(),
            waits: [const { OnceLock::new() }; WaitFate::ALL.len()],
            token_waits: [const { OnceLock::new() }; WaitFate::ALL.len()],
        })
    }
}

/// A site's figures. Lives in the site's static.
pub(crate) struct Tally {
    lanes: [OnceLock<Box<Figures>>; CELLS],
    /// An error was retried, and nobody has said what it means.
    retried_unsaid: AtomicBool,
    /// Whether calls are taken in.
    pub(crate) intake: Shown,
    /// What was seen of attempts beyond their limit.
    pub(crate) beyond: Beyond,
}

impl Tally {
    pub(crate) const fn new() -> Self {
        Self {
            lanes: [const { OnceLock::new() }; CELLS],
            retried_unsaid: AtomicBool::new(false),
            intake: Shown::new(),
            beyond: Beyond::new(),
        }
    }

    /// An error was retried of which neither its type nor a predicate says what it means.
    pub(crate) fn retried_unsaid(&self) {
        self.retried_unsaid.store(true, Ordering::Relaxed);
    }

    /// Whether that has happened.
    pub(crate) fn has_retried_unsaid(&self) -> bool {
        self.retried_unsaid.load(Ordering::Relaxed)
    }

    /// The calling thread's cells.
    #[inline]
    pub(crate) fn here(&self) -> Here<'_> {
        let lane = Lane::here();
        Here { lane, figures: self.lanes[lane.cell()].get_or_init(Figures::boxed) }
    }

    fn figures(&self) -> impl Iterator<Item = &Figures> {
        self.lanes.iter().filter_map(|lane| lane.get().map(AsRef::as_ref))
    }

    /// A body is polled for the first time.
    #[inline]
    pub(crate) fn body_begun(&self) {
        #[cfg(feature = "testing")]
        {
            let here = self.here();
            here.figures.begun.add(here.lane, 1);
        }
        #[cfg(not(feature = "testing"))]
        let _ = self;
    }

    /// How many calls have begun and not ended.
    pub(crate) fn in_flight(&self) -> u64 {
        // What ended first, see `read`.
        let ended: u64 = self.figures().flat_map(|all| all.fates.iter().flatten()).map(Count::get).sum();
        self.figures().map(|all| all.started.get()).sum::<u64>().saturating_sub(ended)
    }

    /// Whether one of them waits in a line.
    pub(crate) fn has_waiters(&self) -> bool {
        let left: u64 = self.figures().map(|all| all.dequeued.get() + all.unthrottled.get()).sum();
        self.figures().map(|all| all.queued.get() + all.throttled.get()).sum::<u64>() > left
    }

    /// How long attempts ran: those that completed, and those that were cut off.
    pub(crate) fn lengths(&self) -> Lengths {
        let mut all = Lengths::default();
        for figures in self.figures() {
            figures.latency.add_to(&mut all.completed);
            if let Some(cut) = figures.cut_off.get() {
                cut.add_to(&mut all.cut_off);
            }
        }
        all
    }
}

/// The calling thread's cells, for the length of one poll.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    lane: Lane,
    figures: &'a Figures,
}

impl Here<'_> {
    /// The lane, for other counters kept the same way.
    #[inline]
    pub(crate) fn lane(self) -> Lane {
        self.lane
    }

    #[inline]
    pub(crate) fn started(self) {
        self.figures.started.add(self.lane, 1);
    }

    #[inline]
    pub(crate) fn ended(self, fate: Fate, fallback: FallbackUse) {
        self.figures.fates[fate.index()][fallback as usize].add(self.lane, 1);
    }

    #[inline]
    pub(crate) fn attempt(self, fate: AttemptFate) {
        self.figures.attempts[fate as usize].add(self.lane, 1);
    }

    /// Another attempt begins, not the first.
    pub(crate) fn retried(self, attempt: u32) {
        self.figures.retries.add(self.lane, 1);
        self.rung(attempt).begun.add(self.lane, 1);
    }

    /// An attempt that was not the first gave the call its value.
    #[cold]
    pub(crate) fn answered_late(self, attempt: u32) {
        self.rung(attempt).answered.add(self.lane, 1);
    }

    fn rung(&self, attempt: u32) -> &Rung {
        &self.figures.rungs[(attempt.max(1) as usize - 1).min(LATE_RUNGS - 1)]
    }

    pub(crate) fn stopped(self, reason: StopReason) {
        self.figures.stops[reason as usize].add(self.lane, 1);
    }

    pub(crate) fn hedged(self, fate: HedgeFate) {
        self.figures.hedges[fate as usize].add(self.lane, 1);
    }

    #[inline]
    pub(crate) fn entered_at_once(self) {
        self.figures.at_once.add(self.lane, 1);
    }

    pub(crate) fn queued(self) {
        self.figures.queued.add(self.lane, 1);
    }

    pub(crate) fn left_queue(self, fate: WaitFate, nanos: u64) {
        self.figures.dequeued.add(self.lane, 1);
        self.figures.waits[fate as usize].get_or_init(Histogram::boxed).record(self.lane, nanos);
    }

    pub(crate) fn throttled(self) {
        self.figures.throttled.add(self.lane, 1);
    }

    pub(crate) fn left_throttle(self, fate: WaitFate, nanos: u64) {
        self.figures.unthrottled.add(self.lane, 1);
        self.figures.token_waits[fate as usize].get_or_init(Histogram::boxed).record(self.lane, nanos);
    }

    pub(crate) fn lent(self) {
        self.figures.lent.add(self.lane, 1);
    }

    pub(crate) fn overran(self) {
        self.figures.overruns.add(self.lane, 1);
    }

    pub(crate) fn doomed_probe(self) {
        self.figures.doomed_probes.add(self.lane, 1);
    }

    #[inline]
    pub(crate) fn deadline_used(self, tenths: usize) {
        self.figures.deadline_tenths[tenths].add(self.lane, 1);
    }

    pub(crate) fn would_refuse(self, reason: Refusal) {
        self.figures.would.refuse(self.lane, reason);
    }

    pub(crate) fn would_cut(self, cause: Cut) {
        self.figures.would.cut(self.lane, cause);
    }

    pub(crate) fn would_queue(self) {
        self.figures.would.queue(self.lane);
    }

    pub(crate) fn would_retry(self) {
        self.figures.would.retry(self.lane);
    }

    #[inline]
    pub(crate) fn took(self, nanos: u64) {
        self.figures.latency.record(self.lane, nanos);
    }

    /// A success so old was served again.
    pub(crate) fn served_last_good(self, age: u64) {
        self.figures.last_good_age.get_or_init(Histogram::boxed).record(self.lane, age);
    }

    pub(crate) fn cut_off(self, nanos: u64) {
        self.figures.cut_off.get_or_init(Histogram::boxed).record(self.lane, nanos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_all_threads_add_up() {
        static TALLY: Tally = Tally::new();
        let threads: Vec<_> = (0..8)
            .map(|_| {
                std::thread::spawn(|| {
                    for n in 0..1_000 {
                        let here = TALLY.here();
                        here.started();
                        here.took(1_000);
                        here.ended(Fate::ALL[n % FATES], FallbackUse::Used);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
        let all = TALLY.read();
        assert_eq!(all.started, 8_000);
        assert_eq!(all.fates.iter().flatten().sum::<u64>(), 8_000);
        // Each thread books the fates in turn, and begins with this one.
        let ok = 8 * 1_000_u64.div_ceil(FATES as u64);
        assert_eq!(all.fates[Fate::Ok.index()][FallbackUse::Used as usize], ok);
        assert_eq!(all.latency.count(), 8_000);
        assert_eq!(all.cut_off.count(), 0);
    }

    #[test]
    fn a_lane_is_small() {
        let bytes = size_of::<Figures>() + size_of::<Histogram>();
        assert!(bytes <= 5 * 1024, "{bytes}");
    }
}
