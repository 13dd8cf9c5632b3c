//! How pauses grow.
//!
//! The peer draws from a backoff; here a call that always fails on a paused clock shows the pauses between its attempts. A
//! timer fires up to a millisecond late, and so may each pause be longer by that.
//!
//! Invariants: where there is no jitter every pause is exact but for the timer's millisecond.

use std::sync::Mutex;

use tokio::time::Instant;
use watertight::guard::{Backoff, Retry};
use watertight::{Class, Classify, Guard, StopReason, resilient};
use watertight_tests::{AppError, ms, site};

use crate::harness::{Entry, left_out, row};
use crate::invalid::refused;
use crate::support::TEST;

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("BO-01", "a jitter on both sides; there is none that is fixed", a_constant_pause_stays_within_its_jitter),
        row!("BO-02", "a delay of 1 ms for none", jitter_never_makes_a_pause_negative),
        row!("BO-03", "in milliseconds", exponential_pauses_double),
        row!("BO-04", "a jitter of half for one that is fixed", jitter_does_not_feed_the_next_pause),
        row!("BO-05", "a guard, which is refused when it is built; see also `ui/fail`", a_curve_that_makes_no_sense),
        row!("BO-06", "in milliseconds", fibonacci_pauses_add_up),
        row!("BO-07", "a hundred retries for no limit", exponential_pauses_within_a_duration),
        row!("BO-08", "a hundred retries for no limit", fibonacci_pauses_within_a_duration),
        row!("BO-09", "the error's own hint for a custom backoff", an_error_may_say_how_long_to_pause),
        refused("BO-10", "does not compile", "pause_beyond_duration", "the longest pause could not end before this"),
        left_out("BO-11", "a backoff is written inside of its retry, so it cannot stand elsewhere or twice"),
        left_out("BO-12", "a first pause of nothing is refused, since it would stay nothing for ever"),
    ]
}

type Times = Mutex<Vec<Instant>>;

macro_rules! failing {
    ($($function:ident [$($retry:tt)*])*) => {
        $(#[resilient(retry($($retry)*, budget = off))]
        async fn $function(times: &Times) -> Result<(), AppError> {
            times.lock().unwrap().push(Instant::now());
            Err(TEST)
        })*
    };
}

failing! {
    bo_01 [100, backoff(constant, first = "100ms", jitter = none)]
    bo_01_spread [100, backoff(constant, first = "100ms", jitter = "50ms")]
    bo_02 [100, backoff(constant, first = "1ms", jitter = "50ms")]
    bo_03 [11, backoff(exponential, first = "1ms", cap = "1h", jitter = none)]
    bo_04 [8, backoff(exponential, first = "100ms", cap = "1h", jitter = equal)]
    bo_06 [8, backoff(fibonacci, first = "1ms", cap = "1h", jitter = none)]
    bo_07 [100, backoff(exponential, first = "100ms", cap = "900ms", jitter = none), max_duration = "1s"]
    bo_08 [100, backoff(fibonacci, first = "100ms", cap = "700ms", jitter = none), max_duration = "800ms"]
}

/// The pauses of one call that failed, in milliseconds.
async fn pauses(call: impl AsyncFn(&Times) -> Result<(), AppError>) -> Vec<u128> {
    let times = Times::default();
    assert_eq!(call(&times).await.unwrap_err().broken(), Some("test"));
    let times = times.into_inner().unwrap();
    times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[track_caller]
fn are(pauses: &[u128], expected: &[u128]) {
    let exact = pauses.iter().zip(expected).all(|(pause, expected)| (*expected..=expected + 1).contains(pause));
    assert!(pauses.len() == expected.len() && exact, "{pauses:?} instead of {expected:?}");
}

async fn a_constant_pause_stays_within_its_jitter() {
    are(&pauses(bo_01).await, &[100; 100]);
    let spread = pauses(bo_01_spread).await;
    assert!(spread.len() == 100 && spread.iter().all(|pause| (50..=151).contains(pause)), "{spread:?}");
    assert!(spread.iter().any(|pause| *pause < 90) && spread.iter().any(|pause| *pause > 110), "{spread:?}");
}

async fn jitter_never_makes_a_pause_negative() {
    let pauses = pauses(bo_02).await;
    assert!(pauses.len() == 100 && pauses.iter().all(|pause| *pause <= 52), "{pauses:?}");
}

async fn exponential_pauses_double() {
    are(&pauses(bo_03).await, &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
}

async fn jitter_does_not_feed_the_next_pause() {
    let pauses = pauses(bo_04).await;
    assert_eq!(pauses.len(), 8);
    for (step, pause) in pauses.iter().enumerate() {
        let bound = 100_u128 << step;
        assert!((bound / 2..=bound + 1).contains(pause), "pause {step} of {pauses:?}");
    }
}

async fn a_curve_that_makes_no_sense() {
    for (name, backoff) in [
        ("factor-of-nothing", Backoff::exponential().factor(0.0)),
        ("factor-below-nothing", Backoff::exponential().factor(-1.0)),
        ("longest-below-first", Backoff::exponential().first(ms(20)).cap(ms(10))),
        ("first-of-nothing", Backoff::exponential().first(ms(0))),
    ] {
        let built = Guard::named(format!("bo-05-{name}")).retry(Retry::new(3).backoff(backoff)).build();
        let error = built.err().unwrap_or_else(|| panic!("{name} was built"));
        assert_eq!(error.mistakes().len(), 1, "{error}");
    }
}

async fn fibonacci_pauses_add_up() {
    are(&pauses(bo_06).await, &[1, 2, 3, 5, 8, 13, 21, 34]);
}

async fn exponential_pauses_within_a_duration() {
    are(&pauses(bo_07).await, &[100, 200, 400]);
    assert_eq!(site("bo_07").stopped_for(StopReason::MaxDuration), 1, "800 more would not have fitted");
}

async fn fibonacci_pauses_within_a_duration() {
    are(&pauses(bo_08).await, &[100, 200, 300]);
    assert_eq!(site("bo_08").stopped_for(StopReason::MaxDuration), 1, "500 more would not have fitted");
}

/// An error that says when to come back, and which attempt it is of.
#[derive(Debug, PartialEq)]
struct Later(u32);

impl Classify for Later {
    fn class(&self) -> Class {
        Class::Retryable
    }

    fn retry_after(&self) -> Option<std::time::Duration> {
        Some(ms(250))
    }
}

#[resilient(retry(10, backoff(constant, first = "100ms", jitter = none), max_duration = "600ms", budget = off))]
async fn bo_09(times: &Times) -> Result<(), Later> {
    times.lock().unwrap().push(Instant::now());
    Err(Later(watertight::attempt() + 1))
}

async fn an_error_may_say_how_long_to_pause() {
    let times = Times::default();
    assert_eq!(bo_09(&times).await, Err(Later(3)), "the error of the third attempt");
    let times = times.into_inner().unwrap();
    let pauses: Vec<_> = times.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    are(&pauses, &[250, 250]);
}
