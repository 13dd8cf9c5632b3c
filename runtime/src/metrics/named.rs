//! The figures of what has a name of its own and is shared: bulkheads, threads, rates and breakers.

use std::time::Duration;

use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::base::share::Share;
use crate::base::table::Census;
use crate::base::top::Counted;
use crate::registry::Threads;
use crate::strategies::breaker::{Breaker, Change, Standing, State as BreakerState};
use crate::strategies::bulkhead::Bulkhead;
use crate::strategies::rate::Rate;

/// A bulkhead's figures. Where it has a compartment for each key, `running` and `queued` are those of all of them together,
/// and `slots` and `queue` those of each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadFigures {
    /// Its name.
    pub name: &'static str,
    /// How many may run. Where the limit is a fleet's (`/fleet`), this process's share of it.
    pub slots: u32,
    /// The limit as it was declared, of all processes together where it is a fleet's; else the same as `slots`.
    pub limit: u32,
    /// Whether the limit is a fleet's.
    pub fleet: bool,
    /// How many run.
    pub running: u32,
    /// How many have run at once at most.
    pub peak_running: u32,
    /// How many may wait.
    pub queue: u32,
    /// How many wait.
    pub queued: u32,
    /// How many have waited at once at most.
    pub peak_queued: u32,
    /// How many may run over all keys together.
    pub total: Option<u32>,
    /// Its keys, once a call has had one.
    pub keys: Option<KeyFigures>,
}

impl BulkheadFigures {
    pub(super) fn read(bulkhead: &'static Bulkhead) -> Self {
        let whole = bulkhead.occupancy();
        let mut figures = Self {
            name: bulkhead.name(),
            slots: whole.slots,
            limit: bulkhead.limits().slots,
            fleet: bulkhead.share() != Share::Whole,
            running: whole.running,
            peak_running: whole.peak_running,
            queue: whole.queue,
            queued: whole.queued,
            peak_queued: whole.peak_queued,
            total: None,
            keys: None,
        };
        if let Some(keyed) = bulkhead.keys() {
            let all = keyed.occupancy();
            figures.running += all.running;
            figures.queued += all.queued;
            figures.peak_running = figures.peak_running.max(all.peak_running);
            figures.peak_queued = figures.peak_queued.max(all.peak_queued);
            figures.total = keyed.total();
            figures.keys = Some(KeyFigures::of(&keyed.census()));
        }
        figures
    }
}

/// The figures of a set of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IsolateFigures {
    /// Its name.
    pub name: &'static str,
    /// How many threads there may be.
    pub threads: u32,
    /// How many have been started.
    pub started: u32,
    /// How many are taken, by abandoned work too.
    pub running: u32,
    /// How many have been taken at once at most.
    pub peak_running: u32,
    /// How many of those taken run what nobody waits for any more.
    pub running_abandoned: u64,
    /// How many may wait.
    pub queue: u32,
    /// How many wait.
    pub queued: u32,
    /// How many have waited at once at most.
    pub peak_queued: u32,
    /// How often a caller has gone while the code ran, so that nothing could stop it.
    pub abandoned: u64,
    /// For how long abandoned work that came back had gone on without its caller.
    pub overran: Bands,
}

impl IsolateFigures {
    pub(super) fn read(threads: &'static Threads) -> Self {
        // What is at large first, since all of it is running: read the other way round, there could be more of it.
        let standing = threads.workers.standing();
        let seen = threads.door.occupancy();
        Self {
            name: threads.door.name(),
            threads: seen.slots,
            started: standing.started,
            running: seen.running,
            peak_running: seen.peak_running,
            running_abandoned: standing.at_large.min(seen.running.into()),
            queue: seen.queue,
            queued: seen.queued,
            peak_queued: seen.peak_queued,
            abandoned: standing.abandoned,
            overran: standing.overran,
        }
    }
}

/// A rate's figures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateFigures {
    /// Its name; a function's own rate has the function's.
    pub name: &'static str,
    /// How many tokens come in a unit of time.
    pub count: u32,
    /// The unit of time.
    pub unit: Duration,
    /// How many can be taken at once.
    pub burst: u32,
    /// Where the rate is a fleet's (`/fleet`): of its tokens those that come in a unit of time in this process.
    pub share: Option<f64>,
    /// How many wait for a token.
    pub waiting: u32,
    /// Its keys, once a call has had one.
    pub keys: Option<KeyFigures>,
}

impl RateFigures {
    pub(super) fn read(rate: &'static Rate) -> Self {
        let figures = rate.limit();
        let share =
            (rate.share() != Share::Whole).then(|| f64::from(rate.figures().count) / f64::from(figures.grain()));
        Self {
            share,
            name: rate.name(),
            count: figures.count,
            unit: Duration::from_nanos(figures.unit),
            burst: figures.burst,
            waiting: rate.waiting(),
            keys: rate.census().as_ref().map(KeyFigures::of),
        }
    }
}

/// A breaker's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerFigures {
    /// Its name; a function's own breaker has the function's.
    pub name: &'static str,
    /// The state it is in. An open breaker becomes half-open with the first caller after its cooldown.
    pub state: BreakerState,
    /// Failures in the window, while closed.
    pub failures: usize,
    /// Slow attempts in the window, failed or not, while closed.
    pub slow: u64,
    /// Results in the window, while closed.
    pub calls: u64,
    /// How often it has opened.
    pub opened: u64,
    /// How often it has half-opened.
    pub half_opened: u64,
    /// How often it has closed again.
    pub closed: u64,
    /// The last change of state, with its cause and the figures that led to it.
    pub last_change: Option<Change>,
    /// For how long it has been open, half-open or held open, over its whole life.
    pub not_closed_for: Duration,
}

impl BreakerFigures {
    pub(super) fn read(breaker: &'static Breaker, now: Moment) -> Self {
        let Standing { state, transitions: [opened, half_opened, closed], seen, last, not_closed_for } =
            breaker.standing(now);
        Self {
            name: breaker.name(),
            state,
            failures: usize::try_from(seen.failures).unwrap_or(usize::MAX),
            slow: seen.slow,
            calls: seen.calls,
            opened,
            half_opened,
            closed,
            last_change: last,
            not_closed_for: Duration::from_nanos(not_closed_for),
        }
    }
}

/// What is known of the keys of a bulkhead or a rate. Of fixed size, however many keys there are or were.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyFigures {
    /// Keys that something is kept of now.
    pub kept: usize,
    /// Those of them that no call uses.
    pub idle: usize,
    /// The keys with the most calls since the process started, most first, ten at most.
    pub busiest: Vec<KeyCount>,
    /// The keys that were refused most often here, most first, ten at most.
    pub most_refused: Vec<KeyCount>,
}

impl KeyFigures {
    fn of(census: &Census) -> Self {
        const MOST: usize = 10;
        let counts = |counted: &[Counted]| counted.iter().take(MOST).map(KeyCount::of).collect();
        Self {
            kept: census.kept,
            idle: census.idle,
            busiest: counts(&census.seen),
            most_refused: counts(&census.refused),
        }
    }
}

/// How often a key occurred: `count` at most, and `count - error` at least.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyCount {
    /// The key as it is shown, cut after 64 bytes.
    pub key: String,
    /// How often it occurred, at most.
    pub count: u64,
    /// By how much that may be too many. 0 for a key that was counted from its first occurrence on.
    pub error: u64,
}

impl KeyCount {
    fn of(counted: &Counted) -> Self {
        Self { key: counted.shown.to_string(), count: counted.count, error: counted.error }
    }
}
