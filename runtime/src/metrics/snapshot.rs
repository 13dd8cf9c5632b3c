//! All figures at one moment, as plain data.

use std::time::Duration;

use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::call::tally::{AttemptFate, StopReason, TallyFigures, WaitFate};
use crate::call::{FallbackUse, Fate, Identity, Refusal};
use crate::catalogue::{self, Entry};
use crate::declaration::Declaration;
use crate::registry::{self, Threads};
use crate::strategies::breaker::{Breaker, Change, Standing, State as BreakerState};
use crate::strategies::bulkhead::Bulkhead;
use crate::strategies::rate::Rate;

/// The figures of every guarded function, bulkhead, rate and breaker of the binary, used or not.
///
/// Its Display is a table.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Snapshot {
    /// One per guarded function of the binary, in the order of module and line.
    pub sites: Vec<SiteFigures>,
    /// One per named bulkhead, by name.
    pub bulkheads: Vec<BulkheadFigures>,
    /// One per set of threads of their own, by name.
    pub isolates: Vec<IsolateFigures>,
    /// One per rate, by name.
    pub rates: Vec<RateFigures>,
    /// One per breaker, by name.
    pub breakers: Vec<BreakerFigures>,
}

/// Reads all figures.
///
/// Functions that were never called are listed too, at zero. Figures of one function agree with each other once its
/// calls have ended; while calls are under way they are read one after another.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use watertight::resilient;
///
/// #[resilient(timeout = "1s")]
/// async fn twice_the_price(cents: u32) -> Result<u32, watertight::Error> {
///     Ok(cents * 2)
/// }
///
/// twice_the_price(21).await.unwrap();
/// let snapshot = watertight::snapshot();
/// let site = snapshot.site("twice_the_price").expect("listed");
/// assert_eq!((site.calls, site.ok), (1, 1));
/// println!("{snapshot}");
/// # }
/// ```
pub fn snapshot() -> Snapshot {
    let now = Moment::now();
    Snapshot {
        sites: catalogue::entries().into_iter().map(SiteFigures::read).collect(),
        bulkheads: registry::bulkheads().into_iter().map(BulkheadFigures::read).collect(),
        isolates: registry::isolates().into_iter().map(IsolateFigures::read).collect(),
        rates: registry::rates().into_iter().map(RateFigures::read).collect(),
        breakers: registry::breakers().into_iter().map(|breaker| BreakerFigures::read(breaker, now)).collect(),
    }
}

impl Snapshot {
    /// The first function of a name.
    pub fn site(&self, name: &str) -> Option<&SiteFigures> {
        self.sites.iter().find(|site| site.name == name)
    }

    /// The bulkhead of a name.
    pub fn bulkhead(&self, name: &str) -> Option<&BulkheadFigures> {
        self.bulkheads.iter().find(|bulkhead| bulkhead.name == name)
    }

    /// The threads of a name.
    pub fn isolate(&self, name: &str) -> Option<&IsolateFigures> {
        self.isolates.iter().find(|isolate| isolate.name == name)
    }

    /// The first rate of a name.
    pub fn rate(&self, name: &str) -> Option<&RateFigures> {
        self.rates.iter().find(|rate| rate.name == name)
    }

    /// The first breaker of a name.
    pub fn breaker(&self, name: &str) -> Option<&BreakerFigures> {
        self.breakers.iter().find(|breaker| breaker.name == name)
    }
}

/// One guarded function's figures.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SiteFigures {
    /// The function's name.
    pub name: &'static str,
    /// Its module path.
    pub module: &'static str,
    /// Its source file.
    pub file: &'static str,
    /// Its line.
    pub line: u32,
    /// Whether it is declared idempotent.
    pub idempotent: bool,
    /// Calls that ended: the sum of all fates.
    pub calls: u64,
    /// Calls that have begun and not ended.
    pub in_flight: u64,
    /// Calls whose body returned a value.
    pub ok: u64,
    /// Calls whose body's last error was final.
    pub error: u64,
    /// Calls whose last attempt was cut off.
    pub timed_out: u64,
    /// Calls that were refused, for whatever reason.
    pub refused: u64,
    /// Calls that the caller dropped.
    pub cancelled: u64,
    /// Calls whose body panicked.
    pub panicked: u64,
    /// Calls that a fallback answered.
    pub fallback_used: u64,
    /// Calls whose fallback failed too.
    pub fallback_failed: u64,
    /// Attempts after a call's first.
    pub retries: u64,
    /// Calls waiting for a slot.
    pub queued: u64,
    /// Calls waiting for a token.
    pub throttled: u64,
    /// Attempts that got their slot without waiting.
    pub entered_at_once: u64,
    /// Nested calls that ran in the slot of the call around them.
    pub lent: u64,
    /// Attempts that answered after their limit.
    pub overruns: u64,
    /// Doomed attempts that ran all the same, to check the estimate.
    pub doomed_probes: u64,
    /// How much of its deadline was used when a call came in, in tenths.
    pub deadline_used: [u64; 10],
    /// How long completed attempts took.
    pub latency: Bands,
    /// How long attempts had run when they were cut off.
    pub cut_off: Bands,
    fates: [[u64; FallbackUse::ALL.len()]; Fate::ALL.len()],
    attempts: [u64; AttemptFate::ALL.len()],
    stops: [u64; StopReason::ALL.len()],
    waits: [Bands; WaitFate::ALL.len()],
    token_waits: [Bands; WaitFate::ALL.len()],
}

impl SiteFigures {
    fn read(entry: Entry) -> Self {
        Self::of(entry.declaration, entry.tally.read())
    }

    /// A function's figures from the totals of a tally.
    pub(crate) fn of(declaration: &Declaration, all: TallyFigures) -> Self {
        let Identity { name, module, file, line, .. } = declaration.identity;
        let of = |fate: Fate| all.fates[fate.index()].iter().sum::<u64>();
        let calls = all.fates.iter().flatten().sum::<u64>();
        let fallback = |usage: FallbackUse| all.fates.iter().map(|uses| uses[usage as usize]).sum::<u64>();
        Self {
            name,
            module,
            file,
            line,
            idempotent: declaration.idempotent,
            calls,
            in_flight: all.started.saturating_sub(calls),
            ok: of(Fate::Ok),
            error: of(Fate::Error),
            timed_out: of(Fate::TimedOut),
            refused: Refusal::ALL.into_iter().map(|reason| of(Fate::Refused(reason))).sum(),
            cancelled: of(Fate::Cancelled),
            panicked: of(Fate::Panicked),
            fallback_used: fallback(FallbackUse::Used),
            fallback_failed: fallback(FallbackUse::Failed),
            retries: all.retries,
            queued: all.queued.saturating_sub(all.dequeued),
            throttled: all.throttled.saturating_sub(all.unthrottled),
            entered_at_once: all.at_once,
            lent: all.lent,
            overruns: all.overruns,
            doomed_probes: all.doomed_probes,
            deadline_used: all.deadline_tenths,
            latency: all.latency,
            cut_off: all.cut_off,
            fates: all.fates,
            attempts: all.attempts,
            stops: all.stops,
            waits: all.waits,
            token_waits: all.token_waits,
        }
    }

    /// Calls of one fate, whatever the fallback did.
    pub fn fate(&self, fate: Fate) -> u64 {
        self.fates[fate.index()].iter().sum()
    }

    /// Calls of one fate and one use of the fallback.
    pub fn fate_with(&self, fate: Fate, fallback: FallbackUse) -> u64 {
        self.fates[fate.index()][fallback as usize]
    }

    /// Calls refused for one reason.
    pub fn refused_for(&self, reason: Refusal) -> u64 {
        self.fate(Fate::Refused(reason))
    }

    /// All runs of the body that have ended.
    pub fn attempts(&self) -> u64 {
        self.attempts.iter().sum()
    }

    /// Runs of the body that ended one way.
    pub fn attempts_by(&self, fate: AttemptFate) -> u64 {
        self.attempts[fate as usize]
    }

    /// Failed attempts that were not followed by another, for one reason.
    pub fn stopped_for(&self, reason: StopReason) -> u64 {
        self.stops[reason as usize]
    }

    /// How long callers waited for a slot, by how the wait ended; those that did not wait are not among them.
    pub fn waits(&self, fate: WaitFate) -> &Bands {
        &self.waits[fate as usize]
    }

    /// How long callers waited for a token, by how the wait ended; those that did not wait are not among them.
    pub fn token_waits(&self, fate: WaitFate) -> &Bands {
        &self.token_waits[fate as usize]
    }
}

/// A bulkhead's figures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BulkheadFigures {
    /// Its name.
    pub name: &'static str,
    /// How many may run.
    pub slots: u32,
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
}

impl BulkheadFigures {
    fn read(bulkhead: &'static Bulkhead) -> Self {
        let seen = bulkhead.occupancy();
        Self {
            name: bulkhead.name(),
            slots: seen.slots,
            running: seen.running,
            peak_running: seen.peak_running,
            queue: seen.queue,
            queued: seen.queued,
            peak_queued: seen.peak_queued,
        }
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
    fn read(threads: &'static Threads) -> Self {
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
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// How many wait for a token.
    pub waiting: u32,
}

impl RateFigures {
    fn read(rate: &'static Rate) -> Self {
        let figures = rate.figures();
        Self {
            name: rate.name(),
            count: figures.count,
            unit: Duration::from_nanos(figures.unit),
            burst: figures.burst,
            waiting: rate.waiting(),
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
    fn read(breaker: &'static Breaker, now: Moment) -> Self {
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
