//! B31. A fallback on an inner policy turned failures into successes, so the outer breaker never opened and retry never
//! ran; and what the fallback itself raised was lost or misjudged.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::poll;
use watertight::metrics::BreakerState;
use watertight::{Failure, FallbackUse, Fate, Refusal, StopReason, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, breaker, caught, panic_quietly, site};

static ASKED: AtomicU32 = AtomicU32::new(0);

fn empty_vec() -> Vec<u8> {
    ASKED.fetch_add(1, Ordering::SeqCst);
    Vec::new()
}

#[resilient(
    retry(2, budget = off),
    breaker(name = "b31", window = 5, min_calls = 5, failures = "100%"),
    bulkhead = "b31:2/queue:0",
    fallback = empty_vec
)]
async fn b31() -> Result<Vec<u8>, AppError> {
    Err(AppError::Broken("always"))
}

#[resilient(bulkhead = "b31")]
async fn b31_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_breaker_counts_what_the_fallback_answers_for() {
    assert_eq!(b31().await.unwrap(), [0_u8; 0]);
    assert_eq!(site("b31").attempts(), 3, "retries come first");
    assert_eq!(ASKED.load(Ordering::SeqCst), 1, "and the fallback once, after them");
    for asked in 2..=5 {
        assert_eq!(b31().await.unwrap(), [0_u8; 0]);
        assert_eq!(ASKED.load(Ordering::SeqCst), asked);
    }
    assert_eq!(breaker("b31").state, BreakerState::Open);
    let figures = site("b31");
    assert_eq!(figures.attempts(), 5, "the fifth failure opened it, in the middle of the second call's retries");
    assert_eq!(figures.stopped_for(StopReason::Open), 4, "which ended that call's loop and the three after it");
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Used), 2);
    assert_eq!(figures.fate_with(Fate::Refused(Refusal::Open), FallbackUse::Used), 3);
    // A full bulkhead reaches the fallback too, and says nothing about the dependency.
    assert_eq!(watertight::breaker::reset("b31"), 1);
    let gate = Gate::shut();
    let mut holders = [Box::pin(b31_hold(&gate)), Box::pin(b31_hold(&gate))];
    for holder in &mut holders {
        assert!(poll!(holder).is_pending());
    }
    for _ in 0..3 {
        assert_eq!(b31().await.unwrap(), [0_u8; 0]);
    }
    assert_eq!(site("b31").fate_with(Fate::Refused(Refusal::Full), FallbackUse::Used), 3);
    assert_eq!((breaker("b31").failures, breaker("b31").calls), (0, 0));
    assert_eq!(ASKED.load(Ordering::SeqCst), 8);
    drop(holders);
    assert_idle("b31");
    assert_free!("b31", 2);
}

#[resilient(retry(2, budget = off), bulkhead = "b31_fails:2", fallback = fails_too)]
async fn b31_fails() -> Result<u8, AppError> {
    Err(AppError::Broken("first"))
}

#[allow(clippy::needless_pass_by_value)] // a fallback's form
fn fails_too(why: Failure<AppError>) -> Result<u8, AppError> {
    assert_eq!(why.error().and_then(AppError::broken), Some("first"), "it is told what it answers for");
    Err(AppError::Broken("the fallback's own"))
}

#[resilient(retry(2, budget = off), bulkhead = "b31_panics:2", fallback = panics_too)]
async fn b31_panics() -> Result<u8, AppError> {
    Err(AppError::Broken("first"))
}

fn panics_too() -> u8 {
    panic_quietly()
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_fails_surfaces_its_own_error_and_is_not_run_again() {
    assert_eq!(b31_fails().await.unwrap_err().broken(), Some("the fallback's own"));
    let figures = site("b31_fails");
    assert_eq!((figures.attempts(), figures.fate_with(Fate::Error, FallbackUse::Failed)), (3, 1));
    assert_idle("b31_fails");
    assert_free!("b31_fails", 2);
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_panics_surfaces_its_panic() {
    caught(b31_panics()).await.expect_err("panics are bugs and surface");
    let figures = site("b31_panics");
    assert_eq!((figures.attempts(), figures.fate_with(Fate::Error, FallbackUse::Failed)), (3, 1));
    assert_idle("b31_panics");
    assert_free!("b31_panics", 2);
}
