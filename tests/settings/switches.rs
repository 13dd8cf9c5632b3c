//! Strategies switched off, told to observe, and the switch for all of them.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::sleep;
use watertight::settings::Override;
use watertight::testing::World;
use watertight::{Error, ErrorKind, breaker, resilient};
use watertight_tests::{AppError, breaker as breaker_figures, bulkhead, ms, site};

use crate::load;

#[resilient(
    timeout = "50ms",
    deadline = "150ms",
    retry(1, backoff(constant, first = "1ms", jitter = none), on = any, budget = off),
    idempotent,
    breaker(window = 1),
    bulkhead = "switch_all:1"
)]
async fn switch_all(runs: &AtomicU32, length: u64) -> Result<(), AppError> {
    runs.fetch_add(1, Ordering::SeqCst);
    sleep(ms(length)).await;
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn what_is_switched_off_is_passed_by_and_each_comes_back() {
    let _world = World::open();
    let off = |strategy: &str| format!("[site.switch_all.{strategy}]\nenabled = false\n");
    let runs = AtomicU32::new(0);
    let everything = ["timeout", "deadline", "retry", "breaker", "bulkhead"].map(off).concat();
    load("off", &everything).unwrap();
    // Longer than any limit, several at once in one slot, twice in spite of the breaker, once each in spite of the retry.
    for _ in 0..2 {
        let (one, two) = tokio::join!(switch_all(&runs, 500), switch_all(&runs, 500));
        assert!(one.unwrap_err().broken().is_some() && two.unwrap_err().broken().is_some());
    }
    assert_eq!(runs.swap(0, Ordering::SeqCst), 4);
    load("off", "").unwrap();
    let error = switch_all(&runs, 500).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::TimedOut), "{error}");
    assert_eq!(
        switch_all(&runs, 1).await.unwrap_err().kind(),
        Some(ErrorKind::BreakerOpen),
        "its one result has failed"
    );
    assert_eq!(site("switch_all").calls, 6, "counts go on");
}

#[resilient(timeout = "50ms", bulkhead = "switch_kill:1", fallback = zero)]
async fn switch_kill(length: u64) -> Result<u32, AppError> {
    sleep(ms(length)).await;
    Err(AppError::Broken("down"))
}

fn zero() -> u32 {
    0
}

#[resilient(timeout = "50ms")]
async fn switch_kept() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_kill_switch_leaves_fallbacks_and_what_is_switched_on_by_name() {
    let _world = World::open();
    load("kill", "kill_switch = true\n[site.switch_kept.timeout]\nenabled = true\n").unwrap();
    let (one, two) = tokio::join!(switch_kill(500), switch_kill(500));
    assert_eq!((one.unwrap(), two.unwrap()), (0, 0), "both ran to their error, and the fallback answered");
    assert_eq!(site("switch_kill").error, 2);
    assert_eq!(switch_kept().await.unwrap_err().kind(), ErrorKind::TimedOut);
    load("kill", "kill_switch = false\n").unwrap();
    assert_eq!(switch_kill(500).await.unwrap(), 0);
    assert_eq!(site("switch_kill").timed_out, 1);
}

#[resilient(timeout = "50ms", bulkhead = "switch_observed:1", breaker(name = "switch_observed", window = 1))]
async fn switch_observed(length: u64) -> Result<(), Error> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn told_to_observe_it_counts_and_does_nothing_until_told_otherwise() {
    let _world = World::open();
    Override::of("site.switch_observed.mode", "observe").apply().unwrap();
    let (one, two) = tokio::join!(switch_observed(100), switch_observed(100));
    one.unwrap();
    two.unwrap();
    let figures = site("switch_observed");
    assert_eq!((figures.ok, figures.timed_out), (2, 0));
    let would: u64 = figures.would_cut + figures.would_refuse;
    assert_eq!(would, 2, "one would have been cut off, the other refused: {figures:?}");
    watertight::settings::revert_all("test");
    assert_eq!(switch_observed(100).await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(bulkhead("switch_observed").running, 0);
}

#[resilient(breaker = "switch_forced")]
async fn switch_forced() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[resilient(breaker(name = "switch_forced", window = 2))]
async fn switch_forced_too() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_breaker_is_held_open_or_closed_for_all_who_name_it() {
    let _world = World::open();
    Override::of("breaker.switch_forced.force", "open").apply().unwrap();
    assert_eq!(switch_forced().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    assert_eq!(switch_forced_too().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    Override::of("breaker.switch_forced.force", "closed").apply().unwrap();
    for _ in 0..20 {
        assert!(switch_forced().await.unwrap_err().broken().is_some());
    }
    watertight::settings::revert_all("test");
    assert_eq!(breaker_figures("switch_forced").state, breaker::State::Closed);
    for _ in 0..2 {
        switch_forced().await.unwrap_err();
    }
    assert_eq!(switch_forced().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen), "and works again");
}
