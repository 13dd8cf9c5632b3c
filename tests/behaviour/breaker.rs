//! `breaker`: refuse calls while the last ones failed.

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{Class, Classify, Error, ErrorKind, Refusal, deadline, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, breaker, ms, site};

const DOWN: AppError = AppError::Broken("down");

#[resilient(breaker)]
async fn breaker_default(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn the_bare_word_opens_at_half_of_at_least_twenty_for_five_seconds() {
    for _ in 0..10 {
        breaker_default(true).await.unwrap();
    }
    for _ in 0..9 {
        breaker_default(false).await.unwrap_err();
    }
    let now = breaker("breaker_default");
    assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 9, 19));
    breaker_default(false).await.unwrap_err();
    assert_eq!(breaker("breaker_default").state, BreakerState::Open);
    let error = breaker_default(true).await.unwrap_err();
    let refused = error.refused();
    assert_eq!(
        (refused.kind(), refused.strategy(), refused.name()),
        (ErrorKind::BreakerOpen, "breaker", Some("breaker_default"))
    );
    let after = refused.retry_after().expect("known");
    assert!(after > ms(4_500) && after <= ms(5_000), "shortened by up to a tenth: {after:?}");
    let expected = format!("breaker_default: breaker `breaker_default` is open, next probe in {after:?}");
    assert_eq!(error.to_string(), expected);
    advance(ms(4_499)).await;
    breaker_default(true).await.expect_err("never shortened by more than a tenth");
    advance(ms(501)).await;
    breaker_default(true).await.expect("the probe");
    let end = breaker("breaker_default");
    assert_eq!((end.state, end.failures, end.calls), (BreakerState::Closed, 0, 0));
    assert_eq!((end.opened, end.half_opened, end.closed), (1, 1, 1));
    assert_eq!(site("breaker_default").refused_for(Refusal::Open), 2);
}

#[resilient(breaker(window = 4, min_calls = 4, failures = "75%", cooldown = "1s"))]
async fn breaker_window(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn the_window_is_the_last_so_many_results_judged_after_each() {
    for well in [false, false, true, true, true, false, false] {
        let _ = breaker_window(well).await;
        assert_eq!(breaker("breaker_window").state, BreakerState::Closed);
    }
    // The last four: true, false, false, false. A success between does not clear it.
    let _ = breaker_window(false).await;
    assert_eq!(breaker("breaker_window").state, BreakerState::Open);
}

#[resilient(breaker(window = 10, min_calls = 4, failures = "50%"))]
async fn breaker_late_success(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn a_success_that_makes_the_rate_countable_is_judged_too() {
    for well in [false, false, true] {
        let _ = breaker_late_success(well).await;
    }
    assert_eq!(breaker("breaker_late_success").state, BreakerState::Closed, "three are an anecdote");
    breaker_late_success(true).await.unwrap();
    assert_eq!(breaker("breaker_late_success").state, BreakerState::Open, "two of four are half");
}

#[resilient(bulkhead = "breaker_probes:9", breaker(window = 1, failures = "100%", cooldown = "1s", probes = 3))]
async fn breaker_probes(gate: Option<&Gate>) -> Result<(), AppError> {
    match gate {
        Some(gate) => {
            gate.opened().await;
            Ok(())
        }
        None => Err(DOWN),
    }
}

#[tokio::test(start_paused = true)]
async fn exactly_the_set_number_of_probes_is_out_at_once_and_all_must_succeed() {
    breaker_probes(None).await.unwrap_err();
    advance(ms(1_000)).await;
    let gate = Gate::shut();
    let mut calls: Vec<_> = (0..5).map(|_| Box::pin(breaker_probes(Some(&gate)))).collect();
    let mut refused = 0;
    for call in &mut calls {
        refused += u32::from(poll!(call).is_ready());
    }
    assert_eq!(refused, 2, "three of five are let through");
    assert_eq!(breaker("breaker_probes").state, BreakerState::HalfOpen);
    gate.open();
    calls.truncate(3);
    let last = calls.pop().unwrap();
    for call in calls {
        call.await.unwrap();
        assert_eq!(breaker("breaker_probes").state, BreakerState::HalfOpen);
    }
    last.await.unwrap();
    assert_eq!(breaker("breaker_probes").state, BreakerState::Closed);
    // And one failure among them opens it again.
    breaker_probes(None).await.unwrap_err();
    advance(ms(1_000)).await;
    breaker_probes(Some(&gate)).await.unwrap();
    breaker_probes(None).await.unwrap_err();
    assert_eq!((breaker("breaker_probes").state, breaker("breaker_probes").opened), (BreakerState::Open, 3));
    assert_idle("breaker_probes");
    assert_free!("breaker_probes", 9);
}

#[resilient(breaker(name = "breaker_shared", window = 2, failures = "100%"))]
async fn breaker_shared_a() -> Result<(), AppError> {
    Err(DOWN)
}

#[resilient(breaker = "breaker_shared")]
async fn breaker_shared_b() -> Result<(), AppError> {
    Ok(())
}

#[resilient(breaker)]
async fn breaker_apart() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_named_one_is_shared_and_a_bare_one_is_the_functions_own() {
    for _ in 0..2 {
        breaker_shared_a().await.unwrap_err();
    }
    assert_eq!(breaker_shared_b().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    breaker_apart().await.unwrap();
    assert_eq!(breaker("breaker_apart").state, BreakerState::Closed);
}

#[resilient(breaker(window = 2, failures = "100%", on = |error| error.broken() != Some("no such row")))]
async fn breaker_on(why: &'static str) -> Result<(), AppError> {
    Err(AppError::Broken(why))
}

#[derive(Debug)]
enum Lookup {
    NoSuchRow,
    Refused,
}

impl From<Error> for Lookup {
    fn from(_: Error) -> Self {
        Self::Refused
    }
}

impl Classify for Lookup {
    fn class(&self) -> Class {
        match self {
            Self::NoSuchRow => Class::Success,
            Self::Refused => Class::Permanent,
        }
    }
}

#[resilient(breaker(window = 2, failures = "100%"))]
async fn breaker_class(refused: bool) -> Result<(), Lookup> {
    Err(if refused { Lookup::Refused } else { Lookup::NoSuchRow })
}

#[tokio::test(start_paused = true)]
async fn predicate_and_class_say_which_errors_are_failures() {
    for _ in 0..5 {
        breaker_on("no such row").await.unwrap_err();
        breaker_class(false).await.unwrap_err();
    }
    assert_eq!((breaker("breaker_on").failures, breaker("breaker_on").state), (0, BreakerState::Closed));
    assert_eq!((breaker("breaker_class").failures, breaker("breaker_class").state), (0, BreakerState::Closed));
    for _ in 0..2 {
        breaker_on("down").await.unwrap_err();
        breaker_class(true).await.unwrap_err();
    }
    assert_eq!(breaker("breaker_on").state, BreakerState::Open);
    assert_eq!(breaker("breaker_class").state, BreakerState::Open);
}

#[resilient(timeout = "100ms", breaker(window = 3, failures = "100%"))]
async fn breaker_timeouts(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn its_own_timeout_is_a_failure_and_a_callers_shorter_deadline_is_not() {
    for _ in 0..5 {
        let cut = deadline::within(ms(50), breaker_timeouts(10_000)).await.unwrap().unwrap_err();
        assert_eq!(cut.kind(), Some(ErrorKind::Deadline));
    }
    assert_eq!((breaker("breaker_timeouts").calls, breaker("breaker_timeouts").failures), (0, 0));
    join_all((0..3).map(|_| breaker_timeouts(10_000))).await;
    assert_eq!(breaker("breaker_timeouts").state, BreakerState::Open);
}

#[resilient(breaker)]
async fn breaker_by_hand() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn it_can_be_held_open_and_reset_by_hand() {
    assert_eq!(watertight::breaker::isolate("nobodys_breaker"), 0, "there is none of that name");
    assert_eq!(watertight::breaker::isolate("breaker_by_hand"), 1, "before its first call too");
    advance(ms(3_600_000)).await;
    let error = breaker_by_hand().await.unwrap_err();
    assert_eq!(error.to_string(), "breaker_by_hand: breaker `breaker_by_hand` is held open by hand");
    assert_eq!(error.refused().retry_after(), None, "nobody knows when");
    assert_eq!(breaker("breaker_by_hand").state, BreakerState::Isolated);
    assert_eq!(watertight::breaker::reset("breaker_by_hand"), 1);
    breaker_by_hand().await.unwrap();
    assert_eq!(breaker("breaker_by_hand").state, BreakerState::Closed);
}
