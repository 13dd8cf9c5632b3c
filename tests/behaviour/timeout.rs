//! `timeout`: how long one attempt may take.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{AttemptFate, Error, ErrorKind, deadline, resilient};
use watertight_tests::{Stopwatch, assert_idle, ms, occupancy, site};

/// Says when it is dropped.
struct Flag<'a>(&'a AtomicBool);

impl Drop for Flag<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[resilient(timeout = "300ms", bulkhead = "timeout_cut:1")]
async fn timeout_cut(dropped: &AtomicBool) -> Result<(), Error> {
    let _flag = Flag(dropped);
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn at_the_limit_the_body_is_dropped_where_it_stands() {
    let dropped = AtomicBool::new(false);
    let mut call = Box::pin(timeout_cut(&dropped));
    assert!(poll!(&mut call).is_pending());
    advance(ms(299)).await;
    assert!(poll!(&mut call).is_pending(), "never early");
    assert!(!dropped.load(Ordering::SeqCst));
    advance(ms(2)).await;
    let error = match poll!(&mut call) {
        std::task::Poll::Ready(answer) => answer.unwrap_err(),
        std::task::Poll::Pending => panic!("more than a millisecond late"),
    };
    assert!(dropped.load(Ordering::SeqCst), "cancelled, not abandoned");
    assert_eq!(occupancy("timeout_cut"), (0, 0));
    assert_eq!((error.kind(), error.strategy(), error.is_refusal()), (ErrorKind::TimedOut, "timeout", false));
    assert_eq!(error.to_string(), "timeout_cut: timed out after 300ms (timeout)");
    let figures = site("timeout_cut");
    assert_eq!((figures.timed_out, figures.attempts_by(AttemptFate::TimedOut)), (1, 1));
    assert_eq!((figures.cut_off.count(), figures.latency.count()), (1, 0), "it did not take 300 ms, it was cut there");
    assert_idle("timeout_cut");
}

#[resilient(timeout = "300ms")]
async fn timeout_photo_finish() -> Result<u8, Error> {
    sleep(ms(300)).await;
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_ready_in_the_tick_of_its_limit_has_answered() {
    assert_eq!(timeout_photo_finish().await.unwrap(), 1);
    assert_eq!((site("timeout_photo_finish").ok, site("timeout_photo_finish").timed_out), (1, 0));
}

#[resilient(timeout = "1.5s", bulkhead = "timeout_from_grant:1/queue:1/wait:10s")]
async fn timeout_from_grant(length: u64) -> Result<(), Error> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn it_runs_from_the_grant_of_the_slot() {
    let clock = Stopwatch::start();
    let (first, second) = tokio::join!(timeout_from_grant(1_400), timeout_from_grant(10_000));
    first.unwrap();
    assert_eq!(second.unwrap_err().kind(), ErrorKind::TimedOut);
    clock.assert_reads(ms(2_900));
}

#[resilient(timeout = "300ms")]
async fn timeout_or_deadline() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_smaller_of_timeout_and_remaining_deadline_holds_and_is_named() {
    let clock = Stopwatch::start();
    let error = deadline::within(ms(1_000), timeout_or_deadline()).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    clock.assert_reads(ms(300));
    let clock = Stopwatch::start();
    let error = deadline::within(ms(200), timeout_or_deadline()).await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.strategy()), (ErrorKind::Deadline, "deadline"));
    assert_eq!(error.to_string(), "timeout_or_deadline: cut off by the deadline after 200ms");
    clock.assert_reads(ms(200));
}

static POLLED: AtomicU32 = AtomicU32::new(0);

#[resilient(timeout = "300ms")]
async fn timeout_nothing_left() -> Result<(), Error> {
    POLLED.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn with_nothing_left_the_body_is_not_polled_at_all() {
    let error = deadline::within(ms(100), async {
        advance(ms(100)).await;
        timeout_nothing_left().await
    });
    let error = error.await.unwrap().unwrap_err();
    assert_eq!((error.kind(), error.is_refusal()), (ErrorKind::Deadline, true));
    assert_eq!(POLLED.load(Ordering::SeqCst), 0);
}

#[resilient(timeout = "300ms", retry(2, backoff = "1ms..1ms", budget = off), idempotent)]
async fn timeout_each_attempt(clock: Stopwatch) -> Result<(), Error> {
    sleep(ms(250)).await;
    if clock.read() < ms(750) {
        sleep(ms(100)).await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_a_whole_one() {
    let clock = Stopwatch::start();
    timeout_each_attempt(clock).await.expect("the third attempt ends within its own 300 ms");
    assert!(clock.read() >= ms(850) && clock.read() <= ms(860), "{:?}", clock.read());
    assert_eq!(site("timeout_each_attempt").attempts_by(AttemptFate::TimedOut), 2);
}
