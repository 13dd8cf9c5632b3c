//! An hour of figures in memory, so that whoever opens the dashboard in an outage sees how it began.
//!
//! The runtime keeps totals since the process started. A task of the dashboard's reads them once a second and keeps what
//! has changed ([`frame`]): two minutes by the second and an hour by the quarter of a minute ([`ring`]). For what a quantile
//! cannot be taken from, such as a quantile of an hour, it keeps whole readings of a quarter of an hour ago, half an hour
//! ago and so on ([`marks`]).
//!
//! A function gets its rings when it has been called, and at most [`MOST`] functions do; those beyond are on the wall with
//! their totals and have no past. A test measures what a function takes; `docs/dashboard.md` states it.
//!
//! Invariants: memory depends on how many functions have been called and on nothing else; the task runs as long as a
//! dashboard is there and not longer; no lock in here is taken by a call.

pub(crate) mod changes;
pub(crate) mod frame;
pub(crate) mod marks;
pub(crate) mod outcome;
pub(crate) mod periods;
pub(crate) mod ring;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::base::clock::Moment;
use crate::call::Identity;
use crate::catalogue;
use crate::declaration::Declaration;
use crate::metrics::{BreakerState, BulkheadFigures, Snapshot, snapshot};
use crate::registry;
use crate::strategies::bulkhead::Asking;
use frame::{BulkheadFrame, SiteFrame};
use marks::Marks;
use ring::{Ring, SECONDS, TURN};

/// How many functions have a past.
pub(crate) const MOST: usize = 256;
/// Whole readings are kept of the beginnings of this many quarters of an hour.
const QUARTERS: usize = 4;
/// Turns in a quarter of an hour.
const TURNS_A_QUARTER: u64 = 60;

/// The past of one function.
#[derive(Debug)]
pub(crate) struct SiteHistory {
    pub(crate) frames: Ring<SiteFrame>,
    /// Since the process started.
    pub(crate) total: Marks,
    at_turn: Marks,
    /// Readings at the beginnings of quarters of an hour, the oldest first.
    quarters: VecDeque<Marks>,
}

impl SiteHistory {
    fn new() -> Self {
        let start = Marks::default();
        let quarters = VecDeque::with_capacity(QUARTERS);
        Self { frames: Ring::new(), total: start.clone(), at_turn: start, quarters }
    }

    fn take(&mut self, now: Marks, ends_turn: bool, ends_quarter: bool) {
        self.frames.push_second(SiteFrame::between(&self.total, &now));
        if ends_turn {
            self.frames.push_turn(SiteFrame::between(&self.at_turn, &now));
            self.at_turn = now.clone();
        }
        if ends_quarter {
            if self.quarters.len() == QUARTERS {
                self.quarters.pop_front();
            }
            self.quarters.push_back(now.clone());
        }
        self.total = now;
    }

    /// What has happened in the last hour, or since the process started if that is less long ago. (Up to a quarter of an
    /// hour less, since readings are kept by the quarter.)
    pub(crate) fn last_hour(&self) -> Marks {
        match self.quarters.front().filter(|_| self.quarters.len() == QUARTERS) {
            Some(earlier) => self.total.since(earlier),
            None => self.total.clone(),
        }
    }

    /// Outcomes of the last so many seconds.
    pub(crate) fn outcomes(&self, seconds: usize) -> outcome::Outcomes {
        let mut all = outcome::Outcomes::default();
        for frame in self.frames.last(seconds) {
            all.iter_mut().zip(frame.outcomes).for_each(|(sum, count)| *sum += u64::from(count));
        }
        all
    }
}

/// Everything that is kept.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// Seconds since the first reading.
    pub(crate) seconds: u64,
    pub(crate) sites: BTreeMap<String, SiteHistory>,
    pub(crate) bulkheads: BTreeMap<&'static str, Ring<BulkheadFrame>>,
    pub(crate) breakers: BTreeMap<&'static str, Ring<BreakerState>>,
    /// The last reading whole, for what has no past.
    pub(crate) now: Snapshot,
}

/// A function's number in an address: unique in a binary.
pub(crate) fn id(identity: &Identity) -> String {
    let Identity { name, module, line, .. } = identity;
    format!("{module}::{name}@{line}")
}

impl Kept {
    /// Reads everything.
    fn take(&mut self) {
        self.seconds += 1;
        let ends_turn = self.seconds.is_multiple_of(TURN as u64);
        let ends_quarter = self.seconds.is_multiple_of(TURN as u64 * TURNS_A_QUARTER);
        self.now = snapshot();
        let declared = catalogue::entries();
        for (entry, figures) in declared.iter().zip(&self.now.sites) {
            let id = id(&entry.declaration.identity);
            if !self.sites.contains_key(&id) {
                if figures.calls + figures.in_flight == 0 || self.sites.len() >= MOST {
                    continue;
                }
                self.sites.insert(id.clone(), SiteHistory::new());
            }
            if let Some(site) = self.sites.get_mut(&id) {
                site.take(Marks::of(figures), ends_turn, ends_quarter);
            }
        }
        self.take_named(ends_turn);
    }

    fn take_named(&mut self, ends_turn: bool) {
        let peaks: BTreeMap<_, _> =
            registry::bulkheads().into_iter().map(|it| (it.name(), it.take_peaks(Asking::Dashboard))).collect();
        for figures in &self.now.bulkheads {
            let [running, queued] = peaks.get(figures.name).copied().unwrap_or_default();
            let frame = BulkheadFrame {
                slots: slots(figures),
                running: figures.running,
                queued: figures.queued,
                peak_running: running.max(figures.running),
                peak_queued: queued.max(figures.queued),
            };
            keep(self.bulkheads.entry(figures.name).or_insert_with(Ring::new), frame, ends_turn);
        }
        for figures in &self.now.isolates {
            let frame = BulkheadFrame {
                slots: figures.threads,
                running: figures.running,
                queued: figures.queued,
                peak_running: figures.running,
                peak_queued: figures.queued,
            };
            keep(self.bulkheads.entry(figures.name).or_insert_with(Ring::new), frame, ends_turn);
        }
        for figures in &self.now.breakers {
            let ring = self.breakers.entry(figures.name).or_insert_with(Ring::new);
            ring.push_second(figures.state);
            if ends_turn {
                // A short opening must not vanish between two turns.
                let worst = ring.last(TURN).copied().max_by_key(|state| *state != BreakerState::Closed);
                ring.push_turn(worst.unwrap_or(figures.state));
            }
        }
    }
}

/// Of compartments for keys, those of all keys together.
fn slots(figures: &BulkheadFigures) -> u32 {
    let keys = figures.keys.as_ref().map_or(1, |keys| u32::try_from(keys.kept).unwrap_or(u32::MAX).max(1));
    let all = figures.slots.saturating_mul(keys);
    figures.total.map_or(all, |total| total.min(all))
}

fn keep(ring: &mut Ring<BulkheadFrame>, frame: BulkheadFrame, ends_turn: bool) {
    ring.push_second(frame);
    if ends_turn {
        let joined = BulkheadFrame::joined(ring.last(TURN));
        ring.push_turn(joined);
    }
}

/// The past, and the task that writes it.
#[derive(Debug)]
pub(crate) struct History {
    kept: Mutex<Kept>,
    /// Tells those who wait that another second was read.
    ticked: watch::Sender<u64>,
    sampler: Mutex<Option<JoinHandle<()>>>,
}

impl History {
    /// The one of the process: there is one as long as a dashboard has it, and several dashboards share it.
    pub(crate) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<History>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(history) = shared.upgrade() {
            return history;
        }
        let (ticked, _) = watch::channel(0);
        let history = Arc::new(Self { kept: Mutex::default(), ticked, sampler: Mutex::default() });
        *shared = Arc::downgrade(&history);
        changes::listen();
        history
    }

    /// Has the task run on the caller's runtime, unless it runs already. Outside of a runtime it has to wait.
    pub(crate) fn keep_going(self: &Arc<Self>) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let mut sampler = self.sampler.lock().unwrap_or_else(PoisonError::into_inner);
        if sampler.as_ref().is_none_or(JoinHandle::is_finished) {
            *sampler = Some(runtime.spawn(run(Arc::downgrade(self))));
        }
    }

    pub(crate) fn read(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be told of every second that was read.
    pub(crate) fn ticks(&self) -> watch::Receiver<u64> {
        self.ticked.subscribe()
    }

    fn tick(&self) {
        let seconds = {
            let mut kept = self.read();
            kept.take();
            kept.seconds
        };
        self.ticked.send_replace(seconds);
    }
}

impl Drop for History {
    fn drop(&mut self) {
        let sampler = self.sampler.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(sampler) = sampler.take() {
            sampler.abort();
        }
    }
}

async fn run(history: Weak<History>) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(history) = history.upgrade() else { return };
        history.tick();
    }
}

/// How long ago, in seconds.
pub(crate) fn ago(at: Moment) -> f64 {
    Moment::now().since(at) as f64 / 1e9
}

/// What a declaration is called in addresses.
pub(crate) fn declared(id: &str) -> Option<(&'static Declaration, Vec<&'static Declaration>)> {
    let all: Vec<_> = catalogue::entries().into_iter().map(|entry| entry.declaration).collect();
    all.iter().copied().find(|it| self::id(&it.identity) == id).map(|it| (it, all.clone()))
}

const _: () = assert!(SECONDS >= TURN);

#[cfg(test)]
mod tests {
    use super::*;

    /// What a function that has been called takes: the figure of `docs/dashboard.md`.
    #[test]
    fn a_function_takes_less_than_160_kibibytes_for_its_hour() {
        let bands = 3 * crate::base::histogram::BUCKETS * size_of::<u64>();
        let marks = size_of::<Marks>() + bands;
        let frames = (SECONDS + ring::TURNS) * size_of::<SiteFrame>();
        let all = frames + (2 + QUARTERS) * marks + size_of::<SiteHistory>();
        println!("{all} bytes: {frames} of frames, {marks} a reading");
        assert!(all < 160 * 1024, "{all}");
    }

    #[test]
    fn the_last_hour_begins_where_the_oldest_quarter_does() {
        let mut site = SiteHistory::new();
        let marks = |attempts| Marks { attempts, ..Marks::default() };
        site.take(marks(10), true, true);
        assert_eq!(site.last_hour().attempts, 10, "everything, as long as it is not an hour");
        for attempts in [20, 30, 40, 50, 60] {
            site.take(marks(attempts), true, true);
        }
        site.take(marks(65), false, false);
        assert_eq!(site.last_hour().attempts, 65 - 30);
    }
}
