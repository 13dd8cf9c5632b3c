//! Who came first does not matter, and nothing is told twice.

use std::time::Duration;

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::export::{Publisher, publish, publish_every};
use watertight::metrics::names;
use watertight::resilient;
use watertight_tests::{AppError, Gate, ms};

use crate::Exporter;

#[resilient(timeout = "1s")]
async fn recorder_first() -> Result<(), AppError> {
    sleep(ms(50)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_was_there_before_the_first_call_sees_it() {
    let (exporter, mut publisher) = (Exporter::new(), Publisher::new());
    let ok = [("function", "recorder_first"), ("fate", "ok"), ("fallback", "none")];
    exporter.publish(&mut publisher).assert_number(names::CALLS, &ok, 0);
    recorder_first().await.unwrap();
    let scrape = exporter.publish(&mut publisher);
    scrape.assert_number(names::CALLS, &ok, 1);
    scrape.assert_number(names::LATENCY, &[("function", "recorder_first")], 1);
}

#[resilient(timeout = "100ms")]
async fn call_first(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_came_after_the_calls_sees_them_all() {
    for _ in 0..3 {
        call_first(50).await.unwrap();
    }
    call_first(5_000).await.unwrap_err();
    let scrape = Exporter::new().publish(&mut Publisher::new());
    let of = |fate: &'static str| [("function", "call_first"), ("fate", fate), ("fallback", "none")];
    scrape.assert_number(names::CALLS, &of("ok"), 3);
    scrape.assert_number(names::CALLS, &of("timed_out"), 1);
    scrape.assert_number(names::ATTEMPTS, &[("function", "call_first"), ("outcome", "timed_out")], 1);
    scrape.assert_number(names::LATENCY, &[("function", "call_first")], 3);
    scrape.assert_number(names::CUT_OFF, &[("function", "call_first")], 1);
    // A second recorder, with a publisher of its own, is told everything too.
    let other = Exporter::new().publish(&mut Publisher::new());
    other.assert_number(names::LATENCY, &[("function", "call_first")], 3);
}

#[resilient(timeout = "1s", bulkhead = "fed_once:1/queue:1")]
async fn fed_once(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_histogram_is_fed_once_and_in_seconds_and_a_counter_stands_still() {
    let (exporter, mut publisher) = (Exporter::new(), Publisher::new());
    let latency = [("function", "fed_once")];
    let waits = [("function", "fed_once"), ("outcome", "ran")];
    let (first, second) = tokio::join!(fed_once(200), fed_once(200));
    first.unwrap();
    second.unwrap();
    let scrape = exporter.publish(&mut publisher);
    let metrics_util::debugging::DebugValue::Histogram(fed) = &scrape.one(names::LATENCY, &latency).value else {
        panic!("not a histogram")
    };
    assert_eq!(fed.len(), 2);
    assert!(fed.iter().all(|seconds| (0.19..0.22).contains(&seconds.into_inner())), "in seconds: {fed:?}");
    scrape.assert_number(names::QUEUE_WAIT, &waits, 1);
    // Nothing happened: nothing is fed again, and no counter moves.
    let scrape = exporter.publish(&mut publisher);
    scrape.assert_number(names::LATENCY, &latency, 0);
    scrape.assert_number(names::QUEUE_WAIT, &waits, 0);
    let ok = [("function", "fed_once"), ("fate", "ok"), ("fallback", "none")];
    scrape.assert_number(names::CALLS, &ok, 2);
    // One more call is one more value.
    fed_once(10).await.unwrap();
    let scrape = exporter.publish(&mut publisher);
    scrape.assert_number(names::LATENCY, &latency, 1);
    scrape.assert_number(names::CALLS, &ok, 3);
}

#[resilient(bulkhead = "gauges:1/queue:2")]
async fn gauges(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn gauges_go_up_and_come_down_again() {
    let (exporter, mut publisher) = (Exporter::new(), Publisher::new());
    let gate = Gate::shut();
    let mut calls: Vec<_> = (0..3).map(|_| Box::pin(gauges(&gate))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    let of = [("bulkhead", "gauges")];
    let scrape = exporter.publish(&mut publisher);
    scrape.assert_number(names::BULKHEAD_RUNNING, &of, 1);
    scrape.assert_number(names::BULKHEAD_QUEUED, &of, 2);
    scrape.assert_number(names::BULKHEAD_SLOTS, &of, 1);
    scrape.assert_number(names::IN_FLIGHT, &[("function", "gauges")], 3);
    drop(calls);
    let scrape = exporter.publish(&mut publisher);
    scrape.assert_number(names::BULKHEAD_RUNNING, &of, 0);
    scrape.assert_number(names::BULKHEAD_QUEUED, &of, 0);
    scrape.assert_number(names::BULKHEAD_RUNNING_PEAK, &of, 1);
    scrape.assert_number(names::BULKHEAD_QUEUED_PEAK, &of, 2);
    scrape.assert_number(names::IN_FLIGHT, &[("function", "gauges")], 0);
}

#[resilient(timeout = "1s")]
async fn shared_publisher() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_shared_one_publishes_on_request_and_by_the_clock() {
    // Without a recorder it does nothing that anyone could see.
    publish();
    let exporter = Exporter::new();
    let ok = [("function", "shared_publisher"), ("fate", "ok"), ("fallback", "none")];
    exporter.with(publish);
    exporter.scrape().assert_number(names::CALLS, &ok, 0);
    shared_publisher().await.unwrap();
    exporter.with(publish);
    let scrape = exporter.scrape();
    scrape.assert_number(names::CALLS, &ok, 1);
    scrape.assert_number(names::LATENCY, &[("function", "shared_publisher")], 1);
    // By the clock: at once, and then once a period.
    let mut publishing = Box::pin(publish_every(Duration::from_secs(10)));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(exporter.with(|| publishing.as_mut().poll(&mut cx)).is_pending());
    exporter.scrape().assert_number(names::LATENCY, &[("function", "shared_publisher")], 0);
    shared_publisher().await.unwrap();
    advance(Duration::from_secs(9)).await;
    assert!(exporter.with(|| publishing.as_mut().poll(&mut cx)).is_pending());
    exporter.scrape().assert_number(names::LATENCY, &[("function", "shared_publisher")], 0);
    advance(Duration::from_secs(1)).await;
    assert!(exporter.with(|| publishing.as_mut().poll(&mut cx)).is_pending());
    exporter.scrape().assert_number(names::LATENCY, &[("function", "shared_publisher")], 1);
}
