//! B18. 'Give up after T' was checked only between tries, so the total ran past T; and a long retry-after from the
//! server silently switched all retries off.

use std::error::Error as _;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::sleep;
use watertight::{Class, Classify, Error, ErrorKind, StopReason, resilient};
use watertight_tests::{AppError, Stopwatch, assert_free, assert_idle, ms, site};

/// A server's error that says when to come back.
#[derive(Debug)]
enum Busy {
    ComeBackIn(Duration),
    Refused(Error),
}

impl From<Error> for Busy {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Busy {
    fn hint(&self) -> Option<Duration> {
        match self {
            Self::ComeBackIn(after) => Some(*after),
            Self::Refused(_) => None,
        }
    }
}

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ComeBackIn(after) => write!(f, "busy, come back in {after:?}"),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Busy {}

impl Classify for Busy {
    fn class(&self) -> Class {
        Class::Retryable
    }

    fn retry_after(&self) -> Option<Duration> {
        self.hint()
    }
}

type Times = Arc<Mutex<Vec<Duration>>>;

#[resilient(deadline = "300ms", bulkhead = "b18:2", retry(5, budget = off))]
async fn b18(clock: Stopwatch, times: &Times, again: Duration) -> Result<(), Busy> {
    times.lock().unwrap().push(clock.read());
    sleep(ms(90)).await;
    Err(Busy::ComeBackIn(again))
}

fn millis(times: &Times) -> Vec<u128> {
    times.lock().unwrap().iter().map(Duration::as_millis).collect()
}

#[tokio::test(start_paused = true)]
async fn no_pause_is_begun_that_cannot_end_before_the_deadline() {
    let (clock, times) = (Stopwatch::start(), Times::default());
    let error = b18(clock, &times, ms(60)).await.unwrap_err();
    assert!(error.hint().is_some(), "the last real error: {error}");
    clock.assert_reads(ms(240));
    assert!(matches!(millis(&times)[..], [0, 150..=153]), "{times:?}");
    // A hint of half an hour: back at once, with that error, and with a reason of its own.
    let before = site("b18").stopped_for(StopReason::Hint);
    let (clock, times) = (Stopwatch::start(), Times::default());
    let error = b18(clock, &times, Duration::from_mins(30)).await.unwrap_err();
    assert_eq!(error.hint(), Some(Duration::from_mins(30)));
    clock.assert_reads(ms(90));
    let figures = site("b18");
    assert_eq!(figures.stopped_for(StopReason::Hint), before + 1);
    assert_eq!(figures.stopped_for(StopReason::NotRetryable), 0);
    assert_idle("b18");
    assert_free!("b18", 2);
}

#[resilient(bulkhead = "b18_undated:2", retry(5, budget = off))]
async fn b18_undated(again: Duration) -> Result<(), Busy> {
    Err(Busy::ComeBackIn(again))
}

#[tokio::test(start_paused = true)]
async fn without_a_deadline_too_a_hint_of_half_an_hour_ends_the_call() {
    let clock = Stopwatch::start();
    b18_undated(Duration::from_mins(30)).await.unwrap_err();
    clock.assert_reads(ms(0));
    assert_eq!(site("b18_undated").stopped_for(StopReason::Hint), 1);
    b18_undated(ms(100)).await.unwrap_err();
    clock.assert_reads(ms(500));
    assert_eq!(site("b18_undated").stopped_for(StopReason::Exhausted), 1);
    assert_idle("b18_undated");
    assert_free!("b18_undated", 2);
}

#[resilient(deadline = "300ms", bulkhead = "b18_jitter:2", retry(5, backoff = "60ms..60ms", budget = off))]
async fn b18_jitter() -> Result<(), AppError> {
    sleep(ms(90)).await;
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn whatever_the_jitter_it_is_back_in_time_and_keeps_the_real_error() {
    for _ in 0..200 {
        let clock = Stopwatch::start();
        let error = b18_jitter().await.unwrap_err();
        assert!(clock.read() <= ms(302), "back after {:?}", clock.read());
        if let AppError::Refused(cut) = &error {
            // Once it is known how long the body takes, an attempt without that much time left is not begun at all.
            assert!(matches!(cut.kind(), ErrorKind::Deadline | ErrorKind::Doomed), "{cut}");
            let source = cut.source().and_then(|source| source.downcast_ref::<AppError>());
            assert_eq!(source.and_then(AppError::broken), Some("down"), "the last real error is the source");
        }
    }
    let figures = site("b18_jitter");
    assert!(figures.timed_out > 0 && figures.error > 0, "both endings were seen: {figures:?}");
    assert_eq!(figures.stopped_for(StopReason::Exhausted), 0);
    assert_idle("b18_jitter");
    assert_free!("b18_jitter", 2);
}
