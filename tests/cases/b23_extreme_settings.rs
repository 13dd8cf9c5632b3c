//! B23. Extremes: a huge timeout panicked in timer arithmetic, slots + a huge queue overflowed, zero hung in silence.
//!
//! What the attribute refuses at compile time (zero, more than thirty years, more than a million) is tested with its
//! messages; these are the settings it lets through, and the lengths that code can hand in at run time.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use tokio::time::{sleep, timeout};
use watertight::metrics::BreakerState;
use watertight::{Error, ErrorKind, deadline, resilient};
use watertight_tests::{AppError, Meeting, Stopwatch, assert_free, assert_idle, assert_quiet, breaker, bulkhead, ms};

const HOUR: Duration = Duration::from_hours(1);

#[resilient(timeout = "262800h", deadline = "262800h", bulkhead = "b23_years:1/queue:1/wait:262800h")]
async fn b23_years(length: Duration) -> Result<(), Error> {
    sleep(length).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn thirty_years_never_fire() {
    let clock = Stopwatch::start();
    let (first, queued) = tokio::join!(b23_years(HOUR), b23_years(HOUR));
    first.unwrap();
    queued.unwrap();
    clock.assert_reads(2 * HOUR);
    assert!(timeout(HOUR, b23_years(Duration::MAX)).await.is_err());
    assert_idle("b23_years");
    assert_free!("b23_years", 1);
}

#[resilient(timeout = "1ns", bulkhead = "b23_nano:1")]
async fn b23_nano(pending: bool) -> Result<u8, Error> {
    if pending {
        std::future::pending::<()>().await;
    }
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_nanosecond_is_enough_for_a_body_that_is_ready_and_for_no_other() {
    assert_eq!(b23_nano(false).await.unwrap(), 1);
    assert_eq!(b23_nano(true).await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert_idle("b23_nano");
    assert_free!("b23_nano", 1);
}

#[resilient(deadline = "1ns", bulkhead = "b23_nano_call:1")]
async fn b23_nano_call(pending: bool) -> Result<u8, Error> {
    if pending {
        std::future::pending::<()>().await;
    }
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_a_nanosecond_ends_and_does_not_panic() {
    assert_eq!(b23_nano_call(true).await.unwrap_err().kind(), ErrorKind::Deadline);
    assert_idle("b23_nano_call");
    assert_free!("b23_nano_call", 1);
}

#[tokio::test(start_paused = true)]
async fn lengths_at_both_ends_open_a_scope() {
    let an_hour_later = (30 * 365 * 24 - 1) * HOUR;
    for length in [Duration::MAX, Duration::from_secs(u64::MAX / 10), Duration::from_nanos(u64::MAX)] {
        let inside = deadline::within(length, async {
            sleep(HOUR).await;
            deadline::remaining()
        });
        assert_eq!(inside.await.unwrap(), Some(an_hour_later), "clamped to thirty years");
        assert_eq!(deadline::clamp(length), length, "outside there is nothing to clamp to");
    }
    let mut polled = false;
    let spent = deadline::within(Duration::ZERO, async { polled = true }).await;
    assert_eq!(spent.unwrap_err().kind(), ErrorKind::Deadline);
    assert!(!polled, "with nothing left the body is not polled at all");
    let ready = deadline::within(Duration::from_nanos(1), async { 1 }).await;
    assert_eq!(ready.unwrap(), 1);
}

#[resilient(bulkhead = "b23_queue:1/queue:999999/wait:262800h")]
async fn b23_queue() -> Result<(), Error> {
    sleep(ms(1)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_longest_queue_holds_and_drains() {
    let answers = join_all((0..2_000).map(|_| b23_queue())).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!((bulkhead("b23_queue").peak_queued, bulkhead("b23_queue").peak_running), (1_999, 1));
    assert_idle("b23_queue");
    assert_free!("b23_queue", 1);
}

#[resilient(bulkhead = "b23_slots:1000000")]
async fn b23_slots(meeting: Arc<Meeting>) -> Result<(), Error> {
    meeting.join().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_million_slots_run_whoever_comes() {
    let meeting = Arc::new(Meeting::of(10_000));
    let answers = join_all((0..10_000).map(|_| b23_slots(Arc::clone(&meeting)))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_quiet("b23_slots", 1_000_000);
    assert_idle("b23_slots");
}

#[resilient(
    breaker(name = "b23_cooldown", window = 1, failures = "0.1%", cooldown = "1ns"),
    bulkhead = "b23_cooldown:1"
)]
async fn b23_cooldown(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(AppError::Broken("down")) }
}

#[tokio::test(start_paused = true)]
async fn a_cooldown_of_a_nanosecond_and_a_window_of_one_work() {
    for opened in 1..=3 {
        b23_cooldown(false).await.unwrap_err();
        assert_eq!((breaker("b23_cooldown").state, breaker("b23_cooldown").opened), (BreakerState::Open, opened));
        tokio::time::advance(Duration::from_nanos(1)).await;
        b23_cooldown(true).await.expect("the cooldown is over");
        assert_eq!(breaker("b23_cooldown").state, BreakerState::Closed);
    }
    assert_idle("b23_cooldown");
    assert_free!("b23_cooldown", 1);
}
