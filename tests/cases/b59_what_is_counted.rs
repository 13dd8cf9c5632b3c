//! B59. Nobody could say what was counted: a call saved by its fallback showed as a success, attempts and calls mixed,
//! and a breaker counting attempts opened inside one call's own retry loop unseen.
//!
//! The documented meaning: a call has one fate, and what its fallback did is a second axis; the breaker counts attempts;
//! a call whose loop is ended by the breaker it opened itself says so by its stop reason.

use futures::poll;
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, FallbackUse, Fate, Refusal, StopReason, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, breaker, site};

#[resilient(
    retry = 2,
    bulkhead = "b59:1",
    breaker(name = "b59", window = 10, min_calls = 10, failures = "50%"),
    fallback = || 0
)]
async fn b59(well_at: u32) -> Result<u32, AppError> {
    if watertight::attempt() == well_at { Ok(1) } else { Err(AppError::Broken("not yet")) }
}

#[resilient(bulkhead = "b59")]
async fn b59_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn three_calls_are_six_attempts_four_retries_and_two_fallbacks() {
    assert_eq!(b59(2).await.unwrap(), 1, "ok on the third attempt");
    assert_eq!(b59(9).await.unwrap(), 0, "all fail, the fallback answers");
    let gate = Gate::shut();
    let mut holder = Box::pin(b59_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(b59(0).await.unwrap(), 0, "refused, the fallback answers");
    drop(holder);
    let end = site("b59");
    assert_eq!((end.calls, end.attempts(), end.retries), (3, 6, 4));
    assert_eq!((end.ok, end.error, end.refused), (1, 1, 1), "an answer from the fallback is no success");
    assert_eq!(end.fate_with(Fate::Ok, FallbackUse::None), 1);
    assert_eq!(end.fate_with(Fate::Error, FallbackUse::Used), 1);
    assert_eq!(end.fate_with(Fate::Refused(Refusal::Full), FallbackUse::Used), 1);
    assert_eq!(end.fallback_used, 2);
    assert_eq!((end.attempts_by(AttemptFate::Ok), end.attempts_by(AttemptFate::Error)), (1, 5));
    assert_eq!((end.stopped_for(StopReason::Exhausted), end.stopped_for(StopReason::NotRetryable)), (1, 1));
    assert_eq!((breaker("b59").calls, breaker("b59").failures), (6, 5), "the breaker counts attempts");
    assert_idle("b59");
    assert_free!("b59", 1);
}

#[resilient(
    retry(7, budget = off),
    bulkhead = "b59_loop:1",
    breaker(name = "b59_loop", window = 5, min_calls = 5, failures = "100%")
)]
async fn b59_loop() -> Result<(), AppError> {
    Err(AppError::Broken("real"))
}

#[tokio::test(start_paused = true)]
async fn a_call_that_opens_the_breaker_in_its_own_loop_ends_with_the_real_error_and_says_why() {
    assert_eq!(b59_loop().await.unwrap_err().broken(), Some("real"), "not the breaker's refusal");
    let end = site("b59_loop");
    assert_eq!((end.calls, end.attempts(), end.retries, end.error), (1, 5, 4, 1));
    assert_eq!(end.stopped_for(StopReason::Open), 1);
    assert_eq!(breaker("b59_loop").state, BreakerState::Open);
    assert_idle("b59_loop");
    assert_free!("b59_loop", 1);
}
