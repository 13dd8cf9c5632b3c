//! What the peer's kit leaves unverified: tests that never run, that test something else than they say, or that are missing.
//!
//! Invariants: a gap that rows of other sections close names each of them.

use std::sync::{Arc, Mutex};

use futures::poll;
use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::{Refusal, StopReason, WaitFate, resilient};
use watertight_tests::{AppError, assert_quiet, breaker, caught, ms, occupancy, panic_quietly, site};

use crate::harness::{Entry, row, shown_by};
use crate::held::{Held, Post, Start};
use crate::invalid::assert_refused;
use crate::letters::letters;
use crate::support::{TEST, settle};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        shown_by(
            "GP-01",
            "tests that never run; BH-07 needs a queue on what is not async",
            &["BR-09", "BR-10", "CX-12", "CX-13"],
        ),
        shown_by(
            "GP-02",
            "tests that cannot fail, or test something else",
            &["BH-22", "AS-12", "EH-09", "IV-08", "IV-09", "IV-15"],
        ),
        row!("GP-03", "bounds of every figure, at the compiler; a queue of 0 is no queue", every_figure_has_its_bounds),
        row!("GP-04", "with C7 and C8; how long it was not closed", time_that_was_not_closed_is_added_up),
        shown_by("GP-05", "for every kind of body", &["TU-04", "TU-05", "TU-06", "TU-07", "AS-16", "AS-17"]),
        row!("GP-06", "as it stands", first_come_first_served),
        row!("GP-07", "dropped, panicked, shut down", whatever_ends_a_call_gives_its_slot_back),
        shown_by("GP-08", "fallbacks outside of all else", &["B6", "B7", "F1", "F3"]),
        row!(
            "GP-09",
            "waits that expire, refusals that are tried again, functions never called",
            figures_in_combination
        ),
        row!("GP-10", "as it stands", outside::whatever_is_wrong_is_told_and_changes_nothing),
        row!("GP-11", "the peer's faults are not repeated", openings_times_and_retries_are_what_happened),
    ]
}

#[resilient(bulkhead = "gp-03:1/queue:0")]
async fn gp_03(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

async fn every_figure_has_its_bounds() {
    assert_refused("no_slots", "no call could ever run in 0 slots");
    assert_refused("zero_duration", "nothing can finish in no time");
    assert_refused("negative_cooldown", "a duration cannot be negative");
    assert_refused("negative_probes", "it has to be a whole number from 1");
    assert_refused("retry_of_zero", "`retry = 0` tries nothing again");
    assert_refused("negative_retries", "it has to be a whole number from 1 to 100");
    assert_refused("share_beyond_all", "it has to be from 0.1% to 100%");
    let start: Start = |post| Box::pin(gp_03(post));
    let call = Held::begin(start).await;
    assert_eq!(letters(1, async || start(Arc::default()).await).await, "F", "nobody waits");
    call.release().await.unwrap();
}

#[resilient(breaker(window = 2, cooldown = "1s"))]
async fn gp_04(answer: Result<(), AppError>) -> Result<(), AppError> {
    answer
}

async fn time_that_was_not_closed_is_added_up() {
    sleep(ms(500)).await;
    assert_eq!(letters(2, async || gp_04(Err(TEST)).await).await, "TT");
    sleep(ms(1_500)).await;
    assert_eq!(breaker("gp_04").not_closed_for, ms(1_500), "while it is open");
    assert_eq!(letters(1, async || gp_04(Err(TEST)).await).await, "T", "a probe that fails");
    sleep(ms(1_500)).await;
    assert_eq!(letters(1, async || gp_04(Ok(())).await).await, "k");
    sleep(ms(700)).await;
    let seen = breaker("gp_04");
    let spent = seen.not_closed_for;
    assert!((ms(3_000)..ms(3_005)).contains(&spent), "half-open is not closed, and closed is not: {spent:?}");
    assert_eq!((seen.state, seen.opened, seen.half_opened, seen.closed), (BreakerState::Closed, 2, 2, 1));
}

#[resilient(bulkhead = "gp-06:1/queue:9/wait:1m")]
async fn gp_06(number: u32, order: Arc<Mutex<Vec<u32>>>) -> Result<(), AppError> {
    order.lock().unwrap().push(number);
    sleep(ms(10)).await;
    Ok(())
}

async fn first_come_first_served() {
    let order = Arc::default();
    let mut calls = Vec::new();
    for number in 0..10 {
        calls.push(tokio::spawn(gp_06(number, Arc::clone(&order))));
        settle().await;
    }
    calls.remove(4).abort();
    settle().await;
    assert_eq!(occupancy("gp-06"), (1, 8));
    calls.push(tokio::spawn(gp_06(10, Arc::clone(&order))));
    for call in calls {
        call.await.expect("no panic").unwrap();
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 5, 6, 7, 8, 9, 10], "without the one that went away");
}

#[resilient(bulkhead = "gp-07:2/queue:2/wait:1m", timeout = "1m")]
async fn gp_07(panics: bool) -> Result<(), AppError> {
    if panics {
        panic_quietly();
    }
    std::future::pending().await
}

async fn whatever_ends_a_call_gives_its_slot_back() {
    let mut dropped: Vec<_> = (0..4).map(|_| Box::pin(gp_07(false))).collect();
    for call in &mut dropped {
        assert!(poll!(call).is_pending());
    }
    assert_eq!(occupancy("gp-07"), (2, 2));
    drop(dropped);
    assert_quiet("gp-07", 2);
    caught(gp_07(true)).await.expect_err("a panic surfaces");
    assert_quiet("gp-07", 2);
    let shut_down = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build();
        let runtime = runtime.expect("a runtime");
        let calls: Vec<_> = (0..4).map(|_| runtime.spawn(gp_07(false))).collect();
        while occupancy("gp-07") != (2, 2) {
            std::thread::yield_now();
        }
        drop(runtime);
        calls.iter().filter(|call| call.is_finished()).count()
    });
    assert_eq!(shut_down.join().expect("no panic"), 4);
    assert_quiet("gp-07", 2);
    let figures = site("gp_07");
    assert_eq!((figures.cancelled, figures.panicked, figures.in_flight, figures.queued), (8, 1, 0, 0));
}

#[resilient(
    bulkhead = "gp-09:1/queue:1/wait:100ms",
    retry(2, on = [full], backoff(constant, first = "40ms", jitter = none))
)]
async fn gp_09(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

#[allow(dead_code)] // never called is what it is about
#[resilient(timeout = "1s", bulkhead = "gp-09", retry = 1)]
async fn gp_09_never_called() -> Result<(), AppError> {
    Ok(())
}

async fn figures_in_combination() {
    let start: Start = |post| Box::pin(gp_09(post));
    let inside = Held::begin(start).await;
    let waiting = Held::begin(start).await;
    let refused = Held::begin(start).await;
    assert_eq!(refused.answer().await.unwrap_err().kind(), Some(watertight::ErrorKind::BulkheadFull));
    assert!(waiting.answer().await.is_err(), "it waited in vain");
    inside.release().await.unwrap();
    let figures = site("gp_09");
    assert_eq!((figures.ok, figures.refused_for(Refusal::Full), figures.refused_for(Refusal::Waited)), (1, 1, 1));
    assert_eq!((figures.retries, figures.attempts()), (2, 1), "two further attempts never reached the body");
    assert_eq!((figures.stopped_for(StopReason::Exhausted), figures.stopped_for(StopReason::NotRetryable)), (1, 1));
    assert_eq!((figures.waits(WaitFate::Expired).count(), figures.waits(WaitFate::Ran).count()), (1, 0));
    assert_eq!((figures.in_flight, figures.queued, occupancy("gp-09")), (0, 0, (0, 0)));
    let never = site("gp_09_never_called");
    assert_eq!((never.calls, never.retries, never.attempts()), (0, 0, 0), "there before its first call, at zero");
}

#[resilient(retry(3, backoff(constant, first = "600ms", jitter = none), max_duration = "1s", budget = off))]
async fn gp_11_retry() -> Result<(), AppError> {
    Err(TEST)
}

#[resilient(breaker(window = 2, cooldown = "1s"))]
async fn gp_11(answer: Result<(), AppError>) -> Result<(), AppError> {
    answer
}

async fn openings_times_and_retries_are_what_happened() {
    assert_eq!(letters(1, gp_11_retry).await, "T");
    assert_eq!(site("gp_11_retry").retries, 1, "a retry whose pause would not end in time is not counted");
    assert_eq!(letters(2, async || gp_11(Err(TEST)).await).await, "TT");
    sleep(ms(1_000)).await;
    assert_eq!(letters(2, async || gp_11(Err(TEST)).await).await, "TO");
    let seen = breaker("gp_11");
    let last = seen.last_change.expect("it has opened twice");
    assert_eq!((seen.opened, seen.half_opened, seen.closed), (2, 1, 0), "an opening after half-open is one too");
    assert_eq!((last.from, last.to), (BreakerState::HalfOpen, BreakerState::Open), "and told apart from the first");
    assert!((ms(1_000)..ms(1_003)).contains(&seen.not_closed_for), "{:?}", seen.not_closed_for);
}
