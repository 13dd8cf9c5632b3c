//! `breaker(slow = "200ms", slow_rate = "80%")`: a dependency that answers too late has failed before it fails.

use tokio::time::{advance, sleep};
use watertight::breaker::Cause;
use watertight::metrics::BreakerState;
use watertight::{deadline, resilient};
use watertight_tests::{AppError, breaker, ms};

#[resilient(breaker(window = 10, min_calls = 5, slow = "200ms", slow_rate = "80%", cooldown = "1s"))]
async fn slow_answers(millis: u64) -> Result<(), AppError> {
    sleep(ms(millis)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn answers_that_take_too_long_open_it_at_their_own_share() {
    for millis in [1, 199, 200, 201, 500, 200, 200, 300, 300] {
        slow_answers(millis).await.unwrap();
        assert_eq!(breaker("slow_answers").state, BreakerState::Closed);
    }
    assert_eq!((breaker("slow_answers").slow, breaker("slow_answers").calls), (7, 9));
    slow_answers(200).await.unwrap();
    let open = breaker("slow_answers");
    assert_eq!(open.state, BreakerState::Open, "eight of the last ten");
    let last = open.last_change.expect("it opened");
    assert_eq!((last.cause, last.calls, last.failures, last.slow), (Cause::Slow, 10, 0, 8));
    assert_eq!(last.to_string(), "breaker `slow_answers` went from closed to open: 0 of 10 failed, 8 were slow");
    // A probe that is slow has failed.
    advance(ms(1_000)).await;
    slow_answers(200).await.unwrap();
    assert_eq!(breaker("slow_answers").last_change.map(|last| last.cause), Some(Cause::ProbeSlow));
    advance(ms(1_000)).await;
    slow_answers(199).await.unwrap();
    let closed = breaker("slow_answers");
    assert_eq!((closed.state, closed.opened, closed.closed), (BreakerState::Closed, 2, 1));
    assert_eq!(closed.not_closed_for, ms(2_399));
}

#[resilient(timeout = "200ms", breaker(window = 5, failures = "100%", slow = "200ms"))]
async fn slow_and_cut_off(hang: bool) -> Result<(), AppError> {
    if hang { std::future::pending().await } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn one_that_timed_out_was_slow_and_the_share_is_four_fifths_unless_said() {
    slow_and_cut_off(false).await.unwrap();
    for _ in 0..3 {
        slow_and_cut_off(true).await.unwrap_err();
    }
    assert_eq!(breaker("slow_and_cut_off").state, BreakerState::Closed);
    slow_and_cut_off(true).await.unwrap_err();
    let last = breaker("slow_and_cut_off").last_change.expect("it opened");
    assert_eq!((last.cause, last.calls, last.failures, last.slow), (Cause::Slow, 5, 4, 4));
}

#[resilient(timeout = "200ms", breaker(window = 5, slow = "200ms"))]
async fn slow_overrun() -> Result<(), AppError> {
    advance(ms(300)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_overrun_is_slow_though_it_answered() {
    for _ in 0..5 {
        let _ = slow_overrun().await;
    }
    assert_eq!(breaker("slow_overrun").last_change.map(|last| last.slow), Some(5));
}

#[resilient(timeout = "1s", breaker(window = 4, slow = "200ms"))]
async fn slow_callers() -> Result<(), AppError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn one_cut_off_by_its_caller_counts_only_when_it_was_slow() {
    for _ in 0..8 {
        let _ = deadline::within(ms(199), slow_callers()).await;
    }
    assert_eq!(breaker("slow_callers").calls, 0, "that says something about the caller");
    for _ in 0..4 {
        let _ = deadline::within(ms(200), slow_callers()).await;
    }
    let last = breaker("slow_callers").last_change.expect("it opened");
    assert_eq!((last.cause, last.failures, last.slow), (Cause::Slow, 0, 4));
}
