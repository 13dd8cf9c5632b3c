//! `hedge`: a second attempt beside a slow one.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, Class, Classify, ErrorKind, Fate, HedgeFate, StopReason, resilient};
use watertight_tests::{
    AppError, Gate, Peak, Stopwatch, assert_free, assert_idle, breaker, caught, ms, occupancy, panic_quietly, site,
    yields,
};

mod beside;
mod ends;
mod functions;

const DOWN: AppError = AppError::Broken("down");

/// What each attempt of a call does, by its number: how long it takes, and whether it answers.
type Script<'a> = &'a [(u64, Result<u32, &'static str>)];

async fn act(script: Script<'_>) -> Result<u32, AppError> {
    let (length, answer) = script[watertight::attempt() as usize];
    sleep(ms(length)).await;
    answer.map_err(AppError::Broken)
}

fn fates(name: &str) -> Vec<(HedgeFate, u64)> {
    let figures = site(name);
    HedgeFate::ALL.into_iter().map(|fate| (fate, figures.hedges_by(fate))).filter(|(_, count)| *count > 0).collect()
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_wins(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_slow_attempt_gets_a_second_one_beside_it_and_the_first_good_answer_wins() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(10, Ok(0))]).await.unwrap(), 0);
    clock.assert_reads(ms(10));
    assert_eq!(site("hedge_wins").attempts(), 1, "a quick one is left alone");
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(1_000, Ok(0)), (10, Ok(1))]).await.unwrap(), 1, "the second one, number 1");
    clock.assert_reads(ms(60));
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(80, Ok(0)), (1_000, Ok(1))]).await.unwrap(), 0, "the first one after all");
    clock.assert_reads(ms(80));
    assert_eq!(fates("hedge_wins"), [(HedgeFate::Won, 1), (HedgeFate::Lost, 1)]);
    let figures = site("hedge_wins");
    assert_eq!((figures.calls, figures.ok, figures.hedges(), figures.retries), (3, 3, 2, 0));
    assert_eq!((figures.attempts_by(AttemptFate::Ok), figures.attempts_by(AttemptFate::Lost)), (3, 2));
    assert_eq!(
        (figures.latency.count(), figures.cut_off.count()),
        (3, 2),
        "the losers are kept as longer than they ran"
    );
    assert_idle("hedge_wins");
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_ids(seen: &Mutex<Vec<(u32, String)>>) -> Result<(), AppError> {
    let id = watertight::call_id().expect("in a call").to_string();
    seen.lock().unwrap().push((watertight::attempt(), id));
    sleep(ms(100)).await;
    assert_eq!(watertight::attempt(), seen.lock().unwrap()[0].0, "the first keeps its own number");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn both_attempts_have_one_call_id_and_a_number_each() {
    let seen = Mutex::default();
    hedge_ids(&seen).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(seen[0].1, seen[1].1);
}

#[resilient(hedge = "50ms", retry(2, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_errors(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn an_error_of_one_waits_for_the_other() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_errors(&[(60, Err("first")), (30, Ok(1))]).await.unwrap(), 1);
    clock.assert_reads(ms(80));
    let clock = Stopwatch::start();
    assert_eq!(hedge_errors(&[(90, Ok(0)), (10, Err("second"))]).await.unwrap(), 0);
    clock.assert_reads(ms(90));
    let figures = site("hedge_errors");
    assert_eq!((figures.ok, figures.retries, figures.attempts_by(AttemptFate::Error)), (2, 0, 2));
    assert_eq!(fates("hedge_errors"), [(HedgeFate::Won, 1), (HedgeFate::Lost, 1)]);
}

#[resilient(hedge = "50ms", retry(2, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_both_fail(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn retry_decides_once_for_both_and_the_numbers_go_on() {
    let script = [(60, Err("a")), (30, Err("b")), (1, Err("c")), (70, Err("d")), (20, Err("e"))];
    assert_eq!(
        hedge_both_fail(&script).await.unwrap_err().broken(),
        Some("d"),
        "of the last two the one that came first"
    );
    let figures = site("hedge_both_fail");
    assert_eq!((figures.attempts_by(AttemptFate::Error), figures.retries), (5, 2));
    assert_eq!((figures.error, figures.stopped_for(StopReason::Exhausted)), (1, 1));
    assert_eq!(fates("hedge_both_fail"), [(HedgeFate::Failed, 2)]);
}

#[derive(Debug, PartialEq)]
enum Classed {
    Missing,
    Forbidden,
}

impl Classify for Classed {
    fn class(&self) -> Class {
        match self {
            Self::Missing => Class::Success,
            Self::Forbidden => Class::Permanent,
        }
    }
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_final(missing: bool) -> Result<(), Classed> {
    sleep(ms(60 - 50 * u64::from(watertight::attempt()))).await;
    Err(if missing { Classed::Missing } else { Classed::Forbidden })
}

#[tokio::test(start_paused = true)]
async fn an_error_that_asking_again_would_not_change_is_an_answer() {
    for (missing, expected) in [(true, Classed::Missing), (false, Classed::Forbidden)] {
        let clock = Stopwatch::start();
        assert_eq!(hedge_final(missing).await.unwrap_err(), expected);
        clock.assert_reads(ms(60));
    }
    assert_eq!(site("hedge_final").attempts_by(AttemptFate::Lost), 2);
}

#[resilient(hedge = "50ms", timeout = "100ms", idempotent)]
async fn hedge_timeouts(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_timeout_and_an_error_says_more_than_a_limit() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_timeouts(&[(9_999, Ok(0)), (90, Ok(1))]).await.unwrap(), 1, "after the first was cut off");
    clock.assert_reads(ms(140));
    assert_eq!(hedge_timeouts(&[(9_999, Ok(0)), (80, Err("second"))]).await.unwrap_err().broken(), Some("second"));
    assert_eq!(hedge_timeouts(&[(70, Err("first")), (9_999, Ok(1))]).await.unwrap_err().broken(), Some("first"));
    let clock = Stopwatch::start();
    let both = hedge_timeouts(&[(9_999, Ok(0)), (9_999, Ok(1))]).await.unwrap_err();
    clock.assert_reads(ms(150));
    assert_eq!(both.kind(), Some(ErrorKind::TimedOut));
    let figures = site("hedge_timeouts");
    assert_eq!((figures.ok, figures.error, figures.timed_out), (1, 2, 1));
    assert_eq!(figures.attempts_by(AttemptFate::TimedOut), 5);
}

#[resilient(hedge = "50ms", timeout = "100ms", retry(1, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_retries_timeouts(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn two_that_timed_out_are_tried_again_as_one() {
    assert_eq!(hedge_retries_timeouts(&[(9_999, Ok(0)), (9_999, Ok(1)), (1, Ok(2))]).await.unwrap(), 2);
    assert_eq!(site("hedge_retries_timeouts").retries, 1);
}

#[resilient(hedge = "50ms", deadline = "80ms", idempotent)]
async fn hedge_deadline() -> Result<u32, AppError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_both() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_deadline().await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    clock.assert_reads(ms(80));
    assert_eq!(site("hedge_deadline").attempts_by(AttemptFate::TimedOut), 2);
}
