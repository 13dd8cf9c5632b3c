//! A call as its caller sees it, and every way of making one and of leaving it.
//!
//! Invariant: a call that was polled once is booked here exactly once, with what its caller got, so that the library's
//! figures can be held against it cell by cell.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use fastrand::Rng;
use tokio::time::{sleep, timeout};
use watertight::{ErrorKind, Fate, Refusal};

use crate::body::{Fault, Plan, polled};
use crate::gauge::KEYS;
use crate::sites::{self, Entry, STALE};
use crate::verdict;

/// What callers got of one function.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub(crate) begun: AtomicU64,
    pub(crate) values: AtomicU64,
    pub(crate) own: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) panicked: AtomicU64,
    /// Cut off or too late, which a caller cannot tell apart.
    pub(crate) late: AtomicU64,
    /// In the order of [`Refusal::ALL`].
    pub(crate) refused: [AtomicU64; Refusal::ALL.len()],
}

impl Books {
    fn refuse(&self, kind: ErrorKind) {
        let reason = match kind {
            ErrorKind::TimedOut | ErrorKind::Deadline => return add(&self.late),
            ErrorKind::Doomed => Refusal::Doomed,
            ErrorKind::BulkheadFull | ErrorKind::IsolateFull => Refusal::Full,
            ErrorKind::BulkheadWait | ErrorKind::IsolateWait => Refusal::Waited,
            ErrorKind::BreakerOpen => Refusal::Open,
            ErrorKind::RateLimited => Refusal::Rate,
            ErrorKind::ShuttingDown => Refusal::Shutdown,
            other => {
                return verdict::holds(false, || format!("an error of the kind {other:?}, which nothing here makes"));
            }
        };
        if let Some(place) = Refusal::ALL.iter().position(|other| *other == reason) {
            add(&self.refused[place]);
        }
    }

    /// What was booked, all cells together.
    pub(crate) fn ended(&self) -> u64 {
        let cells = [&self.values, &self.own, &self.dropped, &self.panicked, &self.late];
        cells.into_iter().chain(&self.refused).map(|cell| cell.load(Ordering::SeqCst)).sum()
    }

    /// Callers' word for the sum of a fate over the calls that no fallback answered.
    pub(crate) fn refused_for(&self, fate: Fate) -> u64 {
        let Fate::Refused(reason) = fate else { return 0 };
        let place = Refusal::ALL.iter().position(|other| *other == reason);
        place.map_or(0, |place| self.refused[place].load(Ordering::SeqCst))
    }
}

fn add(cell: &AtomicU64) {
    cell.fetch_add(1, Ordering::SeqCst);
}

/// A call whose end is booked, whichever it is.
pub(crate) struct Counted {
    entry: &'static Entry,
    expected: u64,
    begun: bool,
    call: Option<sites::Call>,
}

/// Calls that were polled and have not ended.
pub(crate) static UNDER_WAY: AtomicU64 = AtomicU64::new(0);

impl Counted {
    /// A call of random content.
    pub(crate) fn new(entry: &'static Entry, rng: &mut Rng, depth: u8) -> Self {
        // Half of all calls share few tenants, the others come once.
        let key = if rng.bool() { rng.u32(0..8) } else { rng.u32(0..KEYS) };
        let plan = Plan { seed: rng.u64(..STALE), key, depth, compartment: entry.compartment, answers: false };
        Self::of(entry, plan)
    }

    /// A call that wants nothing but an answer.
    pub(crate) fn asking(entry: &'static Entry) -> Self {
        Self::of(entry, Plan { seed: 1, key: 1, depth: 9, compartment: entry.compartment, answers: true })
    }

    fn of(entry: &'static Entry, plan: Plan) -> Self {
        Self { entry, expected: plan.seed, begun: false, call: Some((entry.call)(plan)) }
    }

    fn book(&self, whole: Result<u64, Fault>) -> bool {
        let books = &self.entry.books;
        match whole {
            Ok(value) => {
                let own = value == self.expected;
                let known = own || self.entry.keeps_answers || (value == STALE && self.entry.falls_back);
                verdict::holds(known, || format!("{} answered a call with the value of another", self.entry.id));
                add(&books.values);
                own
            }
            Err(Fault::Own(_)) => {
                add(&books.own);
                false
            }
            Err(Fault::Refused(error)) => {
                books.refuse(error.kind());
                false
            }
        }
    }
}

impl Future for Counted {
    /// Whether its own body answered.
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        if !self.begun {
            self.begun = true;
            UNDER_WAY.fetch_add(1, Ordering::SeqCst);
            add(&self.entry.books.begun);
        }
        let Some(call) = &mut self.call else { return Poll::Ready(false) };
        let polled = catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(cx)));
        let booked = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(whole)) => Ok(self.book(whole)),
            Err(payload) => {
                add(&self.entry.books.panicked);
                Err(payload)
            }
        };
        self.call = None;
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        match booked {
            Ok(own) => Poll::Ready(own),
            Err(payload) => resume_unwind(payload),
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.call.take().is_some() && self.begun {
            add(&self.entry.books.dropped);
            UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// No caller waits longer than this: some functions here have no limit of their own.
const PATIENCE: Duration = Duration::from_millis(400);

/// Makes one call in one of many ways, to its end or not.
pub(crate) async fn one(rng: &mut Rng) {
    let call = Counted::new(sites::any(rng), rng, 0);
    let moment = Duration::from_micros(rng.u64(1..60_000));
    match rng.u32(0..20) {
        // Dropped at the nth time it is pending, which is at every await there is, sooner or later.
        0..5 => drop(polled(patient(call), rng.u32(0..12)).await),
        5..8 => drop(timeout(moment, patient(call)).await),
        // Dropped by another task.
        8 => {
            let task = tokio::spawn(patient(call));
            sleep(moment).await;
            task.abort();
            let _ = task.await;
        }
        9 => drop(watertight::deadline::within(moment, patient(call)).await),
        // Begun here and finished by another task, on another thread at times.
        10..12 => {
            let mut moving = patient(call);
            if polled(&mut moving, rng.u32(1..6)).await.is_none() {
                let _ = tokio::spawn(moving).await;
            }
        }
        12 => {
            let mut together = watertight::JoinSet::new();
            together.spawn(patient(call));
            together.spawn(patient(Counted::new(sites::any(rng), rng, 1)));
            sleep(moment).await;
        }
        _ => patient(call).await,
    }
}

/// The call with its panic caught, as a server does, and with a last bound.
pub(crate) fn patient(call: Counted) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let caught = futures::FutureExt::catch_unwind(AssertUnwindSafe(timeout(PATIENCE, call)));
        let _ = caught.await;
    })
}
