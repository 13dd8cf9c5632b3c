//! Shared fixtures: what the tests of every folder say the same way.
//!
//! Figures are global to a process and the tests of one binary run side by side, so every test has functions, bulkheads
//! and breakers of its own names (the case's id, as a rule), and asks for figures by those names.
//!
//! After every run-time case the same three things must hold of the bulkhead it used: nobody runs, nobody waits, and a
//! burst of as many calls as there are slots all run together. [`assert_free!`] says so. The last of the three is the
//! one that matters: a gauge that reads zero can still belong to a compartment that has lost its slots.
//!
//! Invariants: nothing here sleeps for real or reads the system's clock, but for [`threads`], whose subject it is; a helper that could wait for ever fails within
//! [`PATIENCE`] instead.

mod compartment;
pub mod threads;

pub use compartment::{Compartment, assert_quiet, compartment, occupancy};

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Barrier, watch};
use tokio::time::Instant;
use watertight::metrics::{BreakerFigures, BulkheadFigures, SiteFigures};
use watertight::{Error, ErrorKind};

/// How long anything here waits before it says that it hangs. On a paused clock that costs nothing.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// So many milliseconds.
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The error of a service: watertight's own, or its own.
#[derive(Debug)]
pub enum AppError {
    /// Refused or cut short by watertight.
    Refused(Error),
    /// The service's own.
    Broken(&'static str),
}

impl From<Error> for AppError {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Broken(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for AppError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(error) => Some(error),
            Self::Broken(_) => None,
        }
    }
}

impl AppError {
    /// The kind of watertight's own error, if it is one.
    pub fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Refused(error) => Some(error.kind()),
            Self::Broken(_) => None,
        }
    }

    /// Watertight's own error.
    ///
    /// # Panics
    ///
    /// When it is the service's own.
    #[track_caller]
    pub fn refused(&self) -> &Error {
        match self {
            Self::Refused(error) => error,
            Self::Broken(why) => panic!("the service's own error: {why}"),
        }
    }

    /// What the service itself said.
    pub fn broken(&self) -> Option<&'static str> {
        match self {
            Self::Refused(_) => None,
            Self::Broken(why) => Some(why),
        }
    }
}

/// The figures of a guarded function, by its name.
///
/// # Panics
///
/// When the catalogue does not list it.
#[track_caller]
pub fn site(name: &str) -> SiteFigures {
    let snapshot = watertight::snapshot();
    snapshot.site(name).unwrap_or_else(|| panic!("no function `{name}` in the catalogue")).clone()
}

/// The figures of a bulkhead.
///
/// # Panics
///
/// When there is none of that name.
#[track_caller]
pub fn bulkhead(name: &str) -> BulkheadFigures {
    let snapshot = watertight::snapshot();
    snapshot.bulkhead(name).unwrap_or_else(|| panic!("no bulkhead `{name}`")).clone()
}

/// The figures of a breaker.
///
/// # Panics
///
/// When there is none of that name.
#[track_caller]
pub fn breaker(name: &str) -> BreakerFigures {
    let snapshot = watertight::snapshot();
    snapshot.breaker(name).unwrap_or_else(|| panic!("no breaker `{name}`")).clone()
}

/// Asserts that no call of a function is under way or waits.
///
/// # Panics
///
/// When it is not so.
#[track_caller]
pub fn assert_idle(name: &str) {
    let figures = site(name);
    assert_eq!((figures.in_flight, figures.queued), (0, 0), "in flight, queued of `{name}`");
}

/// Asserts that `slots` calls all run together: each of them waits inside its body for all the others.
///
/// # Panics
///
/// When one of them is refused, or when they never meet.
pub async fn assert_run_together<'a, F, Run>(name: &str, slots: u32, meeting: &'a Meeting, run: Run)
where
    F: Future<Output = Result<(), Error>> + 'a,
    Run: Fn(&'a Meeting) -> F,
{
    let calls = futures::future::join_all((0..slots).map(|_| run(meeting)));
    let answers = tokio::time::timeout(PATIENCE, calls).await;
    let answers = answers.unwrap_or_else(|_| panic!("{slots} calls on `{name}` never ran together"));
    for answer in answers {
        answer.unwrap_or_else(|error| panic!("a burst of {slots} on `{name}`: {error}"));
    }
}

/// After a run-time case: the bulkhead has so many slots, nobody runs or waits, and a burst of that size runs together.
///
/// `assert_free!("b01", 8)`; to be used in async code.
#[macro_export]
macro_rules! assert_free {
    ($bulkhead:tt, $slots:expr) => {{
        #[::watertight::resilient(bulkhead = $bulkhead)]
        async fn burst(meeting: &$crate::Meeting) -> ::std::result::Result<(), ::watertight::Error> {
            meeting.join().await;
            ::std::result::Result::Ok(())
        }
        $crate::assert_quiet($bulkhead, $slots);
        let meeting = $crate::Meeting::of($slots);
        $crate::assert_run_together($bulkhead, $slots, &meeting, burst).await;
        $crate::assert_quiet($bulkhead, $slots);
    }};
}

/// A place where so many have to come together before any may go on.
#[derive(Debug)]
pub struct Meeting(Barrier);

impl Meeting {
    /// For so many.
    pub fn of(people: u32) -> Self {
        Self(Barrier::new(people as usize))
    }

    /// Waits for all the others.
    pub async fn join(&self) {
        self.0.wait().await;
    }
}

/// A gate that is shut until it is opened for everyone.
#[derive(Debug)]
pub struct Gate(watch::Sender<bool>);

impl Default for Gate {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Gate {
    /// A shut one.
    pub fn shut() -> Self {
        Self::default()
    }

    /// Opens it for good.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    /// Waits until it is open.
    pub async fn opened(&self) {
        // Fails only when the sender is gone, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

/// How many are inside at once, and how many were at most.
#[derive(Debug, Default)]
pub struct Peak {
    now: AtomicUsize,
    most: AtomicUsize,
    ever: AtomicUsize,
}

impl Peak {
    /// One more is inside until the guard is dropped.
    #[must_use]
    pub fn enter(&self) -> Inside<'_> {
        self.ever.fetch_add(1, Ordering::SeqCst);
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        Inside(self)
    }

    /// How many are inside.
    pub fn now(&self) -> usize {
        self.now.load(Ordering::SeqCst)
    }

    /// How many have been inside at once at most.
    pub fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    /// How many have ever been inside.
    pub fn ever(&self) -> usize {
        self.ever.load(Ordering::SeqCst)
    }
}

/// Somebody inside a [`Peak`].
#[derive(Debug)]
pub struct Inside<'a>(&'a Peak);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Panics like a body would, but without a message on the terminal.
///
/// # Panics
///
/// Always.
pub fn panic_quietly() -> ! {
    std::panic::resume_unwind(Box::new("the body's own panic"))
}

/// Runs a future to its end; `Err` when it panicked.
///
/// # Errors
///
/// When the future panicked.
pub async fn caught<F: Future>(future: F) -> Result<F::Output, ()> {
    std::panic::AssertUnwindSafe(future).catch_unwind().await.map_err(|_| ())
}

/// Pending so many times, asking to be polled again each time.
pub fn yields(times: u32) -> Yields {
    Yields(times)
}

/// The future of [`yields`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Yields(u32);

impl Future for Yields {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Measures time by tokio's clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since it began.
    pub fn read(self) -> Duration {
        self.0.elapsed()
    }

    /// Asserts that so much time has passed, and at most the three milliseconds more that timers may be late.
    ///
    /// # Panics
    ///
    /// When it is not so.
    #[track_caller]
    pub fn assert_reads(self, expected: Duration) {
        let read = self.read();
        assert!(read >= expected && read <= expected + ms(3), "{read:?} have passed instead of {expected:?}");
    }
}
