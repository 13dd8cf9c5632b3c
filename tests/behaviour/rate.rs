//! `rate`: so many bodies in so long, by tokens that are given back when nothing has run.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use futures::poll;
use tokio::time::{Instant, advance};
use watertight::{ErrorKind, Refusal, StopReason, WaitFate, resilient};
use watertight_tests::{AppError, Gate, assert_idle, ms, site};

#[resilient(rate = "50/m")]
async fn rate_per_minute() -> Result<u32, AppError> {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn exactly_the_burst_runs_at_once_and_one_more_for_each_interval() {
    let answers = join_all((0..100).map(|_| rate_per_minute())).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 50);
    let figures = site("rate_per_minute");
    assert_eq!((figures.ok, figures.refused_for(Refusal::Rate)), (50, 50));
    assert_eq!(figures.attempts(), 50, "a refused body never runs");
    for _ in 0..10 {
        advance(ms(1_200)).await;
        rate_per_minute().await.expect("one each 1.2 s");
        rate_per_minute().await.expect_err("and no other");
    }
}

#[resilient(rate = "50/m", fallback = || 7)]
async fn rate_with_fallback() -> Result<u32, AppError> {
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_fallback_answers_for_those_that_come_too_often() {
    let answers = join_all((0..100).map(|_| rate_with_fallback())).await;
    let values: Vec<u32> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(values.iter().filter(|&&value| value == 1).count(), 50);
    assert_eq!(values.iter().filter(|&&value| value == 7).count(), 50);
}

#[resilient(rate = "rate_smooth:10/s/burst:1")]
async fn rate_smooth() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_error_says_exactly_when_to_come_back() {
    rate_smooth().await.unwrap();
    advance(ms(30)).await;
    let error = rate_smooth().await.unwrap_err();
    let error = error.refused();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
    assert_eq!((error.strategy(), error.name()), ("rate", Some("rate_smooth")));
    assert!(error.is_refusal());
    assert_eq!(error.retry_after(), Some(ms(70)));
    assert_eq!(error.to_string(), "rate_smooth: rate `rate_smooth` allows 10 in 1s, next one in 70ms");
    advance(ms(69)).await;
    rate_smooth().await.expect_err("a millisecond too early");
    advance(ms(1)).await;
    rate_smooth().await.expect("there");
}

#[resilient(rate = "1000/10s/burst:2/wait:1s")]
async fn rate_waits() -> Result<Instant, AppError> {
    Ok(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn who_may_wait_is_served_in_order_at_an_even_pace() {
    let start = Instant::now();
    let started: Vec<_> = join_all((0..6).map(|_| rate_waits())).await.into_iter().map(Result::unwrap).collect();
    let after: Vec<_> = started.iter().map(|at| (*at - start).as_millis()).collect();
    assert_eq!(after, [0, 0, 10, 20, 30, 40]);
    let figures = site("rate_waits");
    assert_eq!(figures.token_waits(WaitFate::Ran).count(), 4);
    assert_eq!((figures.throttled, figures.in_flight), (0, 0));
    assert_eq!(figures.waits(WaitFate::Ran).count(), 0, "nobody waited for a slot");
}

#[resilient(rate = "rate_too_long:10/s/burst:1/wait:250ms")]
async fn rate_too_long() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_cannot_end_in_time_is_refused_at_once() {
    let start = Instant::now();
    let answers = join_all((0..5).map(|_| rate_too_long())).await;
    let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
    let after: Vec<_> = refused.iter().map(|error| error.refused().retry_after().unwrap()).collect();
    assert_eq!(after, [ms(300), ms(300)], "both would have been the fourth");
    assert_eq!(start.elapsed(), ms(200), "two waited, nobody in vain");
    assert_eq!(site("rate_too_long").token_waits(WaitFate::Expired).count(), 0);
}

#[resilient(rate = "rate_deadline:10/s/burst:1/wait:10s", deadline = "150ms")]
async fn rate_deadline() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn no_wait_outlives_the_deadline() {
    let start = Instant::now();
    let answers = join_all((0..3).map(|_| rate_deadline())).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 2, "at once, and after 100 ms");
    let error = answers[2].as_ref().unwrap_err().refused();
    assert_eq!((error.kind(), error.retry_after()), (ErrorKind::RateLimited, Some(ms(200))));
    assert_eq!(start.elapsed(), ms(100));
}

#[resilient(rate = "rate_shared:2/s")]
async fn rate_shared_one() -> Result<(), AppError> {
    Ok(())
}

#[resilient(rate = "rate_shared")]
async fn rate_shared_other() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_name_shares_its_tokens_and_a_rate_without_one_is_its_functions_own() {
    rate_shared_one().await.unwrap();
    rate_shared_other().await.unwrap();
    rate_shared_one().await.unwrap_err();
    rate_shared_other().await.unwrap_err();
    let snapshot = watertight::snapshot();
    let shared = snapshot.rate("rate_shared").expect("listed");
    assert_eq!((shared.count, shared.unit, shared.burst, shared.waiting), (2, ms(1_000), 2, 0));
    assert!(snapshot.rate("rate_with_fallback").is_some(), "an own one has the function's name");
    assert_eq!(snapshot.rates.iter().filter(|rate| rate.name == "rate_shared").count(), 1);
}

#[resilient(rate = "rate_full:3/h", bulkhead = "rate_full:1/queue:1/wait:50ms")]
async fn rate_full(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_token_comes_back_when_there_is_no_slot_or_the_call_is_dropped_before_its_body() {
    let gate = Gate::shut();
    let mut holder = Box::pin(rate_full(&gate));
    assert!(poll!(&mut holder).is_pending());
    for _ in 0..10 {
        // Waits in vain, and another that finds the queue full.
        let mut waits = Box::pin(rate_full(&gate));
        assert!(poll!(&mut waits).is_pending());
        assert_eq!(rate_full(&gate).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
        assert_eq!(waits.await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
        let mut dropped = Box::pin(rate_full(&gate));
        assert!(poll!(&mut dropped).is_pending());
        drop(dropped);
    }
    gate.open();
    holder.await.unwrap();
    rate_full(&gate).await.expect("the second of three");
    rate_full(&gate).await.expect("the third");
    assert_eq!(rate_full(&gate).await.unwrap_err().kind(), Some(ErrorKind::RateLimited));
    assert_idle("rate_full");
}

#[resilient(rate = "rate_left:1/s/wait:10s")]
async fn rate_left() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn who_leaves_the_line_brings_those_behind_forward() {
    rate_left().await.unwrap();
    let start = Instant::now();
    let mut first = Box::pin(rate_left());
    let mut second = Box::pin(rate_left());
    assert!(poll!(&mut first).is_pending());
    assert!(poll!(&mut second).is_pending());
    assert_eq!(site("rate_left").throttled, 2);
    advance(ms(300)).await;
    drop(first);
    second.await.unwrap();
    assert_eq!(start.elapsed(), ms(1_000));
    let figures = site("rate_left");
    assert_eq!((figures.cancelled, figures.throttled), (1, 0));
    assert_eq!(figures.token_waits(WaitFate::Cancelled).count(), 1);
}

#[resilient(rate = "rate_retried:10/s/burst:1", retry(2, on = [rate], backoff = "1ms..1ms", budget = off))]
async fn rate_retried() -> Result<u32, AppError> {
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_names_the_rate_pauses_exactly_until_the_token_is_there() {
    assert_eq!(rate_retried().await.unwrap(), 0);
    let start = Instant::now();
    assert_eq!(rate_retried().await.unwrap(), 1);
    assert_eq!(start.elapsed(), ms(100));
}

#[resilient(rate = "rate_unnamed:10/s/burst:1", retry(2, budget = off))]
async fn rate_not_retried() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn it_is_not_retried_unless_named() {
    rate_not_retried().await.unwrap();
    rate_not_retried().await.unwrap_err();
    assert_eq!(site("rate_not_retried").stopped_for(StopReason::NotRetryable), 1);
}

#[resilient(rate = "3/h", retry(5, backoff = "1ms..1ms", budget = off))]
async fn rate_per_attempt(runs: &AtomicU32) -> Result<(), AppError> {
    runs.fetch_add(1, Ordering::Relaxed);
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn every_attempt_takes_a_token_and_a_lack_of_one_ends_the_call_with_the_bodys_error_as_source() {
    let runs = AtomicU32::new(0);
    let error = rate_per_attempt(&runs).await.unwrap_err();
    assert_eq!(runs.load(Ordering::Relaxed), 3);
    assert_eq!(error.kind(), Some(ErrorKind::RateLimited));
    assert!(std::error::Error::source(error.refused()).expect("kept").to_string().contains("down"));
}

#[resilient(rate = "1/h", breaker(name = "rate_blameless", window = 2, min_calls = 2, failures = "50%"))]
async fn rate_blameless() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn it_says_nothing_about_the_dependency_and_an_open_breaker_takes_no_token() {
    watertight::breaker::isolate("rate_blameless");
    for _ in 0..10 {
        assert_eq!(rate_blameless().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    }
    watertight::breaker::reset("rate_blameless");
    rate_blameless().await.expect("the token is still there");
    for _ in 0..10 {
        assert_eq!(rate_blameless().await.unwrap_err().kind(), Some(ErrorKind::RateLimited));
    }
    let breaker = watertight_tests::breaker("rate_blameless");
    assert_eq!((breaker.calls, breaker.failures), (1, 0));
}

#[resilient(rate = "rate_spent:1/h", deadline = "1s")]
async fn rate_spent() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_spent_deadline_takes_no_token() {
    let spent = watertight::deadline::within(ms(10), async {
        advance(ms(10)).await;
        rate_spent().await
    });
    assert_eq!(spent.await.expect("the call says so").unwrap_err().kind(), Some(ErrorKind::Deadline));
    rate_spent().await.expect("it is still there");
}

#[resilient(rate = "rate_unpolled:1/h")]
async fn rate_unpolled() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_polled_takes_none() {
    for _ in 0..10 {
        drop(rate_unpolled());
    }
    rate_unpolled().await.unwrap();
}

#[resilient(rate = "rate_conflict:10/s")]
async fn rate_conflict_loose() -> Result<(), AppError> {
    Ok(())
}

#[resilient(rate = "rate_conflict:300/m/burst:2")]
async fn rate_conflict_strict() -> Result<(), AppError> {
    Ok(())
}

#[resilient(rate = "rate_nowhere")]
async fn rate_nowhere() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn two_declarations_of_one_name_are_reported_and_the_stricter_holds() {
    rate_conflict_loose().await.unwrap();
    rate_conflict_strict().await.unwrap();
    let error = rate_conflict_loose().await.unwrap_err();
    assert_eq!(error.refused().retry_after(), Some(ms(200)));
    let report = watertight::check();
    let finding = report.findings.iter().find(|finding| finding.name == "rate_conflict").expect("found");
    assert_eq!((finding.strategy, finding.sites.len()), ("rate", 2));
    assert!(finding.remedy.contains("300 in 60s, burst of 2"), "{}", finding.remedy);
    let joined = report.findings.iter().find(|finding| finding.name == "rate_nowhere").expect("found");
    assert_eq!(joined.problem, watertight::check::Problem::Undeclared);
    rate_nowhere().await.expect("works all the same");
}
