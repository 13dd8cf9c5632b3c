//! One function's figures since a mark, and waiting for them.
//!
//! Figures only grow, and those of earlier calls are in them. A test wants its own: so it takes a mark, acts, and reads
//! what has come since.
//!
//! Invariant: what is counted here is what production counts; only the subtraction is the test's.

use std::fmt;
use std::time::Duration;

use super::names::{self, NotOne};
use crate::call::Fate;
use crate::call::tally::TallyFigures;
use crate::call::watch;
use crate::call::would::WouldFigures;
use crate::catalogue::Entry;
use crate::metrics::SiteFigures;

/// How long a test waits for something that does not come, by tokio's clock.
const PATIENCE: Duration = Duration::from_secs(60);

/// The figures of a guarded function from this moment on, in the [`World`](super::World) of the caller.
///
/// The name is the function's, or its path as far as it takes to tell it from others of its name: `"recommendations"`,
/// `"recs::recommendations"`.
///
/// # Errors
///
/// When the name stands for no guarded function, or for several; the error says which were meant.
///
/// ```standalone_crate
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use watertight::testing::{World, figures_of};
/// use watertight::{Fate, Refusal, resilient};
///
/// #[resilient(bulkhead = "doc-figures:1", timeout = "1s")]
/// async fn slow() -> Result<(), watertight::Error> {
///     std::future::pending().await
/// }
///
/// let _world = World::open();
/// let figures = figures_of("slow")?;
/// let first = tokio::spawn(slow());
/// figures.until_running(1).await?;
/// assert!(slow().await.is_err(), "the only slot is taken");
/// assert!(first.await?.is_err());
/// assert_eq!(figures.fates(), [(Fate::TimedOut, 1), (Fate::Refused(Refusal::Full), 1)]);
///
/// let misspelt = figures_of("slwo").unwrap_err();
/// assert!(misspelt.to_string().contains("did you mean"), "{misspelt}");
/// # Ok(())
/// # }
/// ```
pub fn figures_of(name: &str) -> Result<Figures, NotOne> {
    let entry = names::find(name)?;
    Ok(Figures { entry, before: entry.tally.read() })
}

/// One function's figures since a mark; made by [`figures_of`].
pub struct Figures {
    entry: Entry,
    before: TallyFigures,
}

impl Figures {
    /// Sets the mark anew: what was counted until now is no longer in it.
    pub fn mark(&mut self) {
        self.before = self.entry.tally.read();
    }

    /// What has been counted since the mark. What goes up and down (in flight, queued, throttled) is as it is now.
    pub fn read(&self) -> SiteFigures {
        let now = self.entry.tally.read();
        let gauges = SiteFigures::of(self.entry.declaration, now.clone());
        let mut figures = SiteFigures::of(self.entry.declaration, since(now, &self.before));
        (figures.in_flight, figures.queued, figures.throttled) = (gauges.in_flight, gauges.queued, gauges.throttled);
        figures
    }

    /// How the calls since the mark have ended: each fate that occurred, with its number, in the order of [`Fate::ALL`].
    ///
    /// Compare it as a whole: a fate that nobody expected is then seen too.
    pub fn fates(&self) -> Vec<(Fate, u64)> {
        let figures = self.read();
        Fate::ALL.into_iter().map(|fate| (fate, figures.fate(fate))).filter(|(_, calls)| *calls > 0).collect()
    }

    /// How many bodies run now: begun and not ended.
    pub fn running(&self) -> u64 {
        let now = self.entry.tally.read();
        now.begun.saturating_sub(now.attempts.iter().sum())
    }

    /// How many calls wait for a slot now.
    pub fn queued(&self) -> u64 {
        self.read().queued
    }

    /// Waits until at least so many bodies run.
    ///
    /// Nothing sleeps: a paused clock moves as far as the calls themselves need it to, and no further.
    ///
    /// # Errors
    ///
    /// After a minute of tokio's clock in which it did not happen.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its timer enabled.
    pub async fn until_running(&self, bodies: u64) -> Result<(), NeverCame> {
        self.until("running", bodies, || self.running() >= bodies).await
    }

    /// Waits until at least so many calls wait for a slot; otherwise as [`until_running`](Self::until_running).
    ///
    /// # Errors
    ///
    /// After a minute of tokio's clock in which it did not happen.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its timer enabled.
    pub async fn until_queued(&self, calls: u64) -> Result<(), NeverCame> {
        self.until("queued", calls, || self.queued() >= calls).await
    }

    /// Waits until no call is under way; otherwise as [`until_running`](Self::until_running).
    ///
    /// # Errors
    ///
    /// After a minute of tokio's clock in which it did not happen.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its timer enabled.
    pub async fn until_idle(&self) -> Result<(), NeverCame> {
        self.until("in flight", 0, || self.read().in_flight == 0).await
    }

    async fn until(&self, what: &'static str, wanted: u64, is_so: impl FnMut() -> bool) -> Result<(), NeverCame> {
        let outcome = tokio::time::timeout(PATIENCE, watch::until(is_so)).await;
        outcome.map_err(|_| {
            let function = self.entry.declaration.identity.name;
            let (running, queued, in_flight) = (self.running(), self.queued(), self.read().in_flight);
            NeverCame { function, what, wanted, running, queued, in_flight }
        })
    }
}

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.read().fmt(f)
    }
}

/// A test waited in vain. Both its Display and its Debug are the sentence.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct NeverCame {
    function: &'static str,
    what: &'static str,
    wanted: u64,
    running: u64,
    queued: u64,
    in_flight: u64,
}

impl fmt::Display for NeverCame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, what, wanted, running, queued, in_flight } = self;
        write!(
            f,
            "waited {PATIENCE:?} for {wanted} {what} in `{function}`, and there are {running} running, {queued} queued, \
             {in_flight} in flight"
        )
    }
}

impl fmt::Debug for NeverCame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NeverCame {}

/// Each figure less what it was. Every field is named, so that a new figure cannot be forgotten.
fn since(now: TallyFigures, then: &TallyFigures) -> TallyFigures {
    TallyFigures {
        started: now.started - then.started,
        fates: less_each(now.fates, &then.fates, |now, then| less_each(now, then, |now, then| now - then)),
        attempts: less_each(now.attempts, &then.attempts, |now, then| now - then),
        retries: now.retries - then.retries,
        rungs: less_each(now.rungs, &then.rungs, |now, then| (now.0 - then.0, now.1 - then.1)),
        stops: less_each(now.stops, &then.stops, |now, then| now - then),
        hedges: less_each(now.hedges, &then.hedges, |now, then| now - then),
        at_once: now.at_once - then.at_once,
        queued: now.queued - then.queued,
        dequeued: now.dequeued - then.dequeued,
        throttled: now.throttled - then.throttled,
        unthrottled: now.unthrottled - then.unthrottled,
        lent: now.lent - then.lent,
        overruns: now.overruns - then.overruns,
        doomed_probes: now.doomed_probes - then.doomed_probes,
        deadline_tenths: less_each(now.deadline_tenths, &then.deadline_tenths, |now, then| now - then),
        would: WouldFigures {
            refuse: less_each(now.would.refuse, &then.would.refuse, |now, then| now - then),
            cut: less_each(now.would.cut, &then.would.cut, |now, then| now - then),
            queue: now.would.queue - then.would.queue,
            retry: now.would.retry - then.would.retry,
        },
        latency: now.latency.since(&then.latency),
        cut_off: now.cut_off.since(&then.cut_off),
        last_good_age: now.last_good_age.since(&then.last_good_age),
        observed: now.observed.map(|now| then.observed.as_ref().map_or(now.clone(), |then| now.since(then))),
        begun: now.begun - then.begun,
        waits: less_each(now.waits, &then.waits, |now, then| now.since(then)),
        token_waits: less_each(now.token_waits, &then.token_waits, |now, then| now.since(then)),
    }
}

fn less_each<T, const N: usize>(now: [T; N], then: &[T; N], less: impl Fn(T, &T) -> T) -> [T; N] {
    let mut then = then.iter();
    now.map(|now| match then.next() {
        Some(then) => less(now, then),
        None => now,
    })
}
