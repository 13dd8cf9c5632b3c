//! B19. Users could not tell whether a timeout bounds each try or the whole call.
//!
//! The one meaning: `timeout` bounds one attempt from the grant of its slot, `deadline` bounds the call; both may be set.

use tokio::time::sleep;
use watertight::{AttemptFate, ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, assert_free, assert_idle, ms, site};

/// The first attempt hangs, the others take ten milliseconds.
async fn hang_once() -> Result<u32, AppError> {
    match watertight::attempt() {
        0 => std::future::pending().await,
        attempt => {
            sleep(ms(10)).await;
            Ok(attempt)
        }
    }
}

#[resilient(timeout = "300ms", bulkhead = "b19:2", retry = 2)]
async fn b19() -> Result<u32, AppError> {
    hang_once().await
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_not_retried_unless_running_twice_does_no_harm() {
    let clock = Stopwatch::start();
    assert_eq!(b19().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(300));
    assert_eq!((site("b19").attempts(), site("b19").retries), (1, 0));
    assert_idle("b19");
    assert_free!("b19", 2);
}

#[resilient(timeout = "300ms", bulkhead = "b19_idempotent:2", retry(2, backoff = "1ms..2ms"), idempotent)]
async fn b19_idempotent() -> Result<u32, AppError> {
    hang_once().await
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_call_gets_a_whole_timeout_for_each_attempt() {
    let clock = Stopwatch::start();
    assert_eq!(b19_idempotent().await.unwrap(), 1);
    let took = clock.read();
    assert!(took >= ms(310) && took <= ms(316), "{took:?}");
    let figures = site("b19_idempotent");
    assert_eq!((figures.attempts_by(AttemptFate::TimedOut), figures.attempts_by(AttemptFate::Ok)), (1, 1));
    assert_idle("b19_idempotent");
    assert_free!("b19_idempotent", 2);
}

#[resilient(timeout = "300ms", deadline = "305ms", bulkhead = "b19_both:2", retry(2, backoff = "1ms..1ms"), idempotent)]
async fn b19_both() -> Result<u32, AppError> {
    hang_once().await
}

#[tokio::test(start_paused = true)]
async fn the_deadline_bounds_the_whole_call_and_says_so() {
    let clock = Stopwatch::start();
    let error = b19_both().await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::Deadline), "{error}");
    clock.assert_reads(ms(305));
    assert_eq!(site("b19_both").attempts_by(AttemptFate::TimedOut), 2);
    assert_idle("b19_both");
    assert_free!("b19_both", 2);
}

#[resilient(timeout = "300ms", bulkhead = "b19_queued:1/queue:1/wait:1s")]
async fn b19_queued(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_time_in_the_queue_is_not_the_attempts() {
    let (clock, holder) = (Stopwatch::start(), tokio::spawn(b19_queued(250)));
    tokio::task::yield_now().await;
    b19_queued(290).await.expect("290 ms from the grant of its slot");
    clock.assert_reads(ms(540));
    holder.await.unwrap().unwrap();
    assert_idle("b19_queued");
    assert_free!("b19_queued", 1);
}
