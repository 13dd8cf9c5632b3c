//! An absent strategy costs nothing: what a function does not declare, its calls neither take, read, ask nor count.
//!
//! How much time and memory the others cost is measured elsewhere; here is what can be seen to be absent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::executor::block_on;
use watertight::{Error, HedgeFate, StopReason, WaitFate, resilient};
use watertight_tests::{AppError, site, yields};

#[resilient(bulkhead = "absent_timeout:1/queue:1", breaker, retry = 2, fallback = || 0)]
async fn absent_timeout() -> Result<u32, AppError> {
    yields(3).await;
    Ok(1)
}

#[test]
fn timeout() {
    // Outside of any runtime a timer could not even be asked for.
    assert_eq!(block_on(absent_timeout()).unwrap(), 1);
    assert_eq!(site("absent_timeout").cut_off.count(), 0);
}

#[resilient(timeout = "1s", bulkhead = "absent_pending:1/queue:1", breaker, retry = 2, fallback = || 0)]
async fn absent_pending() -> Result<u32, AppError> {
    Ok(1)
}

#[test]
fn a_timer_under_a_body_that_is_ready() {
    assert_eq!(block_on(absent_pending()).unwrap(), 1);
}

#[resilient(timeout = "1s", bulkhead = "absent_deadline:1", breaker, retry = 2)]
async fn absent_deadline() -> Result<Option<std::time::Duration>, AppError> {
    Ok(watertight::deadline::remaining())
}

#[tokio::test(start_paused = true)]
async fn deadline() {
    assert_eq!(absent_deadline().await.unwrap(), None, "a timeout opens no scope");
    assert_eq!(site("absent_deadline").deadline_used, [0; 10]);
}

#[resilient(timeout = "1s", deadline = "1s", breaker, retry = 2)]
async fn absent_bulkhead() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn bulkhead() {
    futures::future::join_all((0..1_000).map(|_| absent_bulkhead())).await.into_iter().for_each(Result::unwrap);
    let figures = site("absent_bulkhead");
    assert_eq!((figures.entered_at_once, figures.lent, figures.queued), (0, 0, 0));
    assert!(WaitFate::ALL.into_iter().all(|fate| figures.waits(fate).count() == 0));
    assert!(watertight::snapshot().bulkhead("absent_bulkhead").is_none());
}

#[tokio::test(start_paused = true)]
async fn key() {
    absent_key().await.unwrap();
    assert!(watertight_tests::bulkhead("absent_key").keys.is_none());
}

#[resilient(bulkhead = "absent_key:1")]
async fn absent_key() -> Result<(), AppError> {
    Ok(())
}

#[resilient(timeout = "1s", deadline = "1s", bulkhead = "absent_rate:1", breaker, retry = 2)]
async fn absent_rate() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn rate() {
    for _ in 0..1_000 {
        absent_rate().await.unwrap();
    }
    let figures = site("absent_rate");
    assert!(WaitFate::ALL.into_iter().all(|fate| figures.token_waits(fate).count() == 0));
    assert!(watertight::snapshot().rate("absent_rate").is_none());
}

#[resilient(timeout = "1s", bulkhead = "absent_isolate:1")]
async fn absent_isolate() -> Result<std::thread::ThreadId, AppError> {
    Ok(std::thread::current().id())
}

#[tokio::test(start_paused = true)]
async fn isolate() {
    assert_eq!(absent_isolate().await.unwrap(), std::thread::current().id());
    assert!(watertight::snapshot().isolate("absent_isolate").is_none());
}

#[resilient(timeout = "1s", bulkhead = "absent_breaker:1", retry(1, backoff = "1ms..1ms", budget = off))]
async fn absent_breaker() -> Result<(), AppError> {
    Err(AppError::Broken("always"))
}

#[tokio::test(start_paused = true)]
async fn breaker() {
    for _ in 0..100 {
        assert_eq!(absent_breaker().await.unwrap_err().broken(), Some("always"), "nothing ever refuses");
    }
    assert!(watertight::snapshot().breaker("absent_breaker").is_none());
    assert_eq!(site("absent_breaker").stopped_for(StopReason::Open), 0);
}

/// Not `Clone`, and counts how often it was moved into a body.
struct Unique(Arc<AtomicU32>);

#[resilient(timeout = "1s", deadline = "1s", bulkhead = "absent_retry:1", breaker)]
async fn absent_retry(argument: Unique) -> Result<(), AppError> {
    argument.0.fetch_add(1, Ordering::SeqCst);
    Err(AppError::Broken("once"))
}

#[tokio::test(start_paused = true)]
async fn retry() {
    let runs = Arc::new(AtomicU32::new(0));
    absent_retry(Unique(Arc::clone(&runs))).await.unwrap_err();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let figures = site("absent_retry");
    assert!(StopReason::ALL.into_iter().all(|reason| figures.stopped_for(reason) == 0), "nothing was decided");
    assert_eq!(figures.retries, 0);
}

/// Not `Clone` either: without hedge nobody asks for a second body, however long the first takes.
#[resilient(timeout = "1s", bulkhead = "absent_hedge:2", breaker, idempotent)]
async fn absent_hedge(argument: Unique) -> Result<(), AppError> {
    argument.0.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(watertight_tests::ms(900)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn hedge() {
    let runs = Arc::new(AtomicU32::new(0));
    absent_hedge(Unique(Arc::clone(&runs))).await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let figures = site("absent_hedge");
    assert!(HedgeFate::ALL.into_iter().all(|fate| figures.hedges_by(fate) == 0));
    assert_eq!(watertight::snapshot().bulkhead("absent_hedge").unwrap().peak_running, 1);
}

/// An error that cannot be built from watertight's: nothing here can refuse, so nothing asks for it.
#[derive(Debug)]
struct Closed;

#[resilient(retry(1, backoff = "1ms..1ms"))]
async fn absent_refusal() -> Result<(), Closed> {
    Err(Closed)
}

#[resilient(timeout = "1s", bulkhead = "absent_fallback:1")]
async fn absent_fallback() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn fallback() {
    absent_refusal().await.unwrap_err();
    absent_fallback().await.unwrap_err();
    let figures = site("absent_fallback");
    assert_eq!((figures.timed_out, figures.fallback_used, figures.fallback_failed), (1, 0, 0));
}
