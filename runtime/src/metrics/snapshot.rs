//! All figures at one moment, as plain data.

use super::named::{BreakerFigures, BulkheadFigures, IsolateFigures, RateFigures};
use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::call::tally::{AttemptFate, LATE_RUNGS, StopReason, TallyFigures, WaitFate};
use crate::call::would::{Cut, WouldFigures};
use crate::call::{FallbackUse, Fate, HedgeFate, Identity, ObservedFigures, Refusal};
use crate::catalogue::{self, Entry};
use crate::declaration::Declaration;
use crate::registry;

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
    /// Calls that a fallback answered, with the most recent success or otherwise.
    pub fallback_used: u64,
    /// Calls whose fallback failed too.
    pub fallback_failed: u64,
    /// Calls whose fallback was not asked, since it answered for as many as its `limit` allows.
    pub fallback_full: u64,
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
    /// Attempts that ran, and that an observing breaker, rate, bulkhead or deadline would have refused.
    pub would_refuse: u64,
    /// Attempts that an observing timeout or deadline would have cut off.
    pub would_cut: u64,
    /// Attempts that would have waited for a token of an observing rate, or for a slot of an observing bulkhead.
    pub would_queue: u64,
    /// Calls that an observing retry would have tried again.
    pub would_retry: u64,
    /// How much of its deadline was used when a call came in, in tenths.
    pub deadline_used: [u64; 10],
    /// How long completed attempts took.
    pub latency: Bands,
    /// How long attempts had run when they were cut off.
    pub cut_off: Bands,
    /// How old the successes were that were served again.
    pub last_good_age: Bands,
    /// What was seen of attempts that ran on beyond their limit, under the key `observe`; `None` before the first of them.
    pub observed: Option<ObservedFigures>,
    /// Which waits there can be: for a slot, for a token; whether old successes are kept; whether attempts run on.
    pub(super) declares: [bool; 4],
    pub(super) fates: [[u64; FallbackUse::ALL.len()]; Fate::ALL.len()],
    pub(super) attempts: [u64; AttemptFate::ALL.len()],
    pub(super) rungs: [(u64, u64); LATE_RUNGS],
    pub(super) stops: [u64; StopReason::ALL.len()],
    pub(super) hedges: [u64; HedgeFate::ALL.len()],
    pub(super) waits: [Bands; WaitFate::ALL.len()],
    pub(super) token_waits: [Bands; WaitFate::ALL.len()],
    pub(super) would: WouldFigures,
}

/// The attempts of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rung {
    /// How many attempts there were, refused ones included.
    pub begun: u64,
    /// How many of them had their value from it.
    pub answered: u64,
}

impl Rung {
    /// The words used in metric labels, rung by rung.
    pub const NAMES: [&str; LATE_RUNGS + 1] = ["1", "2", "3", "later"];
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
            fallback_used: fallback(FallbackUse::Used) + fallback(FallbackUse::LastGood),
            fallback_failed: fallback(FallbackUse::Failed),
            fallback_full: fallback(FallbackUse::Full),
            retries: all.retries,
            queued: all.queued.saturating_sub(all.dequeued),
            throttled: all.throttled.saturating_sub(all.unthrottled),
            entered_at_once: all.at_once,
            lent: all.lent,
            overruns: all.overruns,
            doomed_probes: all.doomed_probes,
            would_refuse: all.would.refuse.iter().sum(),
            would_cut: all.would.cut.iter().sum(),
            would_queue: all.would.queue,
            would_retry: all.would.retry,
            deadline_used: all.deadline_tenths,
            latency: all.latency,
            cut_off: all.cut_off,
            last_good_age: all.last_good_age,
            observed: all.observed,
            declares: [
                declaration.bulkhead.is_some() || declaration.isolate.is_some(),
                declaration.rate.is_some(),
                declaration.fallback.is_some_and(|it| it.last_good.is_some()),
                declaration.tail.is_some(),
            ],
            fates: all.fates,
            attempts: all.attempts,
            rungs: all.rungs,
            stops: all.stops,
            hedges: all.hedges,
            waits: all.waits,
            token_waits: all.token_waits,
            would: all.would,
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

    /// Attempts that ran, and that an observing strategy would have refused for one reason.
    pub fn would_refuse_for(&self, reason: Refusal) -> u64 {
        self.would.refuse[reason as usize]
    }

    /// Attempts that an observing timeout or deadline would have cut off.
    pub fn would_cut_by(&self, cause: Cut) -> u64 {
        self.would.cut[cause as usize]
    }

    /// All runs of the body that have ended.
    pub fn attempts(&self) -> u64 {
        self.attempts.iter().sum()
    }

    /// Runs of the body that ended one way.
    pub fn attempts_by(&self, fate: AttemptFate) -> u64 {
        self.attempts[fate as usize]
    }

    /// The success ladder, a rung for each attempt of a call: the first, the second, the third, and all later ones together.
    /// The bodies of one rung's attempts that neither answered nor climbed on are those that stopped there.
    pub fn ladder(&self) -> [Rung; LATE_RUNGS + 1] {
        let late = |(begun, answered)| Rung { begun, answered };
        let [second, third, later] = self.rungs.map(late);
        let answered = self.ok.saturating_sub(second.answered + third.answered + later.answered);
        [Rung { begun: self.calls, answered }, second, third, later]
    }

    /// Failed attempts that were not followed by another, for one reason.
    pub fn stopped_for(&self, reason: StopReason) -> u64 {
        self.stops[reason as usize]
    }

    /// Hedges that were due, by what became of them.
    pub fn hedges_by(&self, fate: HedgeFate) -> u64 {
        self.hedges[fate as usize]
    }

    /// Second attempts that were started beside a slow one and have ended.
    pub fn hedges(&self) -> u64 {
        HedgeFate::ALL.into_iter().filter(|fate| fate.was_started()).map(|fate| self.hedges_by(fate)).sum()
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
