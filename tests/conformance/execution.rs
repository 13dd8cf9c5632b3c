//! Execution, ambient context and cancellation.
//!
//! A future runs while it is polled and is cancelled by being dropped, so rows about handing work to a thread have no
//! meaning; those about what a caller sees do, with a task that the caller spawns in place of the peer's handle.
//!
//! Invariants: what was cancelled says so by its own drop, not by our figures alone.

use std::sync::{Arc, Mutex};

use futures::poll;
use tokio::sync::oneshot;
use tokio::time::sleep;
use watertight::{Failure, resilient};
use watertight_tests::threads::{Jam, taken, until};
use watertight_tests::{AppError, Gate, Peak, ms, occupancy, site};

use crate::harness::{Entry, left_out, row};
use crate::held::{Held, Post, Start};
use crate::support::{Runs, TEST, on_threads, settle};

const LAZY: &str = "a future runs when it is polled, and has no handle of its own";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        left_out("AS-01", LAZY),
        left_out("AS-02", LAZY),
        left_out("AS-03", LAZY),
        left_out("AS-04", LAZY),
        row!(
            "AS-05",
            "a task-local for the request's context",
            the_callers_context_is_there_in_every_attempt_and_after
        ),
        row!("AS-06", "a task-local, read after an await", the_callers_context_is_there_after_an_await),
        left_out("AS-07", LAZY),
        left_out("AS-08", LAZY),
        left_out("AS-09", LAZY),
        left_out("AS-10", LAZY),
        row!("AS-11", "code after an await for callbacks", what_the_body_does_comes_before_what_its_caller_does),
        row!("AS-12", "an error before the first await", an_early_error_is_the_bodys_own),
        row!("AS-13", "an error after an await", a_late_error_is_the_bodys_own),
        row!("AS-14", "the caller's task is aborted", a_call_that_is_cancelled_drops_its_body),
        row!(
            "AS-15",
            "`isolate`: code that blocks a thread cannot be interrupted; its caller goes all the same",
            a_call_that_is_cancelled_does_not_interrupt_what_blocks
        ),
        row!(
            "AS-16",
            "a guarded call, begun in the slot and spawned, keeps it; and `isolate`",
            work_that_outlives_its_caller_keeps_the_slot
        ),
        row!("AS-17", "as it stands", who_is_cancelled_in_the_queue_never_starts),
        row!("AS-18", "the caller's task is aborted", a_cancelled_call_is_not_tried_again),
    ]
}

tokio::task_local! {
    static REQUEST: u32;
}

#[resilient(timeout = "500ms", retry(1, backoff = "1ms..1ms"), fallback = |_failure: Failure<AppError>| REQUEST.get())]
async fn as_05(seen: &Mutex<Vec<u32>>) -> Result<u32, AppError> {
    seen.lock().unwrap().push(REQUEST.get());
    Err(TEST)
}

async fn the_callers_context_is_there_in_every_attempt_and_after() {
    let seen = Mutex::default();
    let call = REQUEST.scope(7, async { (as_05(&seen).await.unwrap(), REQUEST.get()) });
    assert_eq!(call.await, (7, 7), "in the fallback, and after the call");
    assert_eq!(*seen.lock().unwrap(), [7, 7], "in both attempts");
}

#[resilient(timeout = "500ms", bulkhead = "as-06:1")]
async fn as_06() -> Result<(u32, u32), AppError> {
    let before = REQUEST.get();
    sleep(ms(100)).await;
    Ok((before, REQUEST.get()))
}

async fn the_callers_context_is_there_after_an_await() {
    assert_eq!(REQUEST.scope(9, as_06()).await.unwrap(), (9, 9));
}

#[resilient(timeout = "10s")]
async fn as_11(inner: oneshot::Receiver<()>, order: Arc<Mutex<String>>) -> Result<(), AppError> {
    inner.await.expect("it is sent");
    order.lock().unwrap().push('1');
    Ok(())
}

async fn what_the_body_does_comes_before_what_its_caller_does() {
    let (complete, inner) = oneshot::channel();
    let order: Arc<Mutex<String>> = Arc::default();
    let call = as_11(inner, Arc::clone(&order));
    let after = Arc::clone(&order);
    let caller = tokio::spawn(async move {
        call.await.unwrap();
        after.lock().unwrap().push('2');
        after.lock().unwrap().push('3');
    });
    sleep(ms(500)).await;
    assert!(!caller.is_finished() && order.lock().unwrap().is_empty(), "the inner future is pending");
    complete.send(()).expect("the body listens");
    settle().await;
    assert!(caller.is_finished(), "without a step of the clock");
    assert_eq!(*order.lock().unwrap(), "123");
}

#[resilient(timeout = "500ms", bulkhead = "as-12:1")]
async fn as_12(fails: bool) -> Result<(), AppError> {
    if fails {
        return Err(TEST);
    }
    sleep(ms(10)).await;
    Ok(())
}

async fn an_early_error_is_the_bodys_own() {
    assert_eq!(as_12(true).await.unwrap_err().broken(), Some("test"));
    assert_eq!((site("as_12").error, site("as_12").cancelled), (1, 0), "not as a cancelled call");
}

#[resilient(timeout = "500ms", bulkhead = "as-13:1")]
async fn as_13() -> Result<(), AppError> {
    sleep(ms(10)).await;
    Err(TEST)
}

async fn a_late_error_is_the_bodys_own() {
    assert_eq!(as_13().await.unwrap_err().broken(), Some("test"));
    assert_eq!((site("as_13").error, site("as_13").cancelled), (1, 0), "not as a cancelled call");
}

#[resilient(timeout = "10s", bulkhead = "as-14:1")]
async fn as_14(peak: Arc<Peak>) -> Result<(), AppError> {
    let _inside = peak.enter();
    std::future::pending().await
}

async fn a_call_that_is_cancelled_drops_its_body() {
    let peak = Arc::new(Peak::default());
    let mut call = tokio::spawn(as_14(Arc::clone(&peak)));
    settle().await;
    assert_eq!(peak.now(), 1);
    call.abort();
    settle().await;
    assert!(call.is_finished());
    assert_eq!((peak.now(), occupancy("as-14")), (0, (0, 0)), "its body is dropped and its slot free");
    assert!((&mut call).await.is_err_and(|error| error.is_cancelled()));
    assert_eq!((site("as_14").cancelled, site("as_14").in_flight), (1, 0));
}

macro_rules! blocking {
    ($($function:ident $declared:literal)*) => {
        $(#[resilient(isolate = $declared)]
        async fn $function(jam: Arc<Jam>, runs: Arc<Runs>) -> Result<(), AppError> {
            runs.next();
            jam.block();
            runs.next();
            Ok(())
        })*
    };
}

blocking! {
    as_15 "as-15:1"
    as_16_threads "as-16-threads:1/queue:1/wait:1m"
}

async fn a_call_that_is_cancelled_does_not_interrupt_what_blocks() {
    on_threads(async {
        let (jam, runs): (Arc<Jam>, Arc<Runs>) = Default::default();
        let call = tokio::spawn(as_15(Arc::clone(&jam), Arc::clone(&runs)));
        until(|| runs.count() == 1);
        call.abort();
        assert!(call.await.is_err_and(|error| error.is_cancelled()));
        assert_eq!((taken("as-15"), runs.count()), ((1, 1, 0), 1), "the caller is gone, the code is not");
        jam.clear();
        until(|| taken("as-15") == (0, 0, 0));
        assert_eq!(runs.count(), 2, "it came to its end");
    });
    assert_eq!((site("as_15").cancelled, site("as_15").ok), (1, 0), "and stays cancelled");
}

#[resilient(bulkhead = "as-16:1/queue:1/wait:1m")]
async fn as_16(post: Arc<Post>) -> Result<(), AppError> {
    // Begun in this call's slot, so it has that slot wherever it goes.
    let mut work = Box::pin(as_16_work(post));
    assert!(poll!(&mut work).is_pending());
    tokio::spawn(work).await.expect("no panic")
}

#[resilient(bulkhead = "as-16")]
async fn as_16_work(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

async fn work_that_outlives_its_caller_keeps_the_slot() {
    let start: Start = |post| Box::pin(as_16(post));
    let a = Held::begin(start).await;
    let b = Held::begin(start).await;
    assert!(a.is_inside() && !b.is_inside());
    let post = a.cancel().await;
    sleep(ms(500)).await;
    assert_eq!((b.is_inside(), occupancy("as-16")), (false, (1, 1)), "A is gone, its work is not");
    post.open().await;
    assert!(b.is_inside());
    b.release().await.unwrap();
    assert_eq!(occupancy("as-16"), (0, 0));
    on_threads(async {
        let (jam, runs): (Arc<Jam>, Arc<Runs>) = Default::default();
        let a = tokio::spawn(as_16_threads(Arc::clone(&jam), Arc::clone(&runs)));
        until(|| runs.count() == 1);
        let b = tokio::spawn(as_16_threads(Arc::clone(&jam), Arc::clone(&runs)));
        until(|| taken("as-16-threads") == (1, 0, 1));
        a.abort();
        assert!(a.await.is_err_and(|error| error.is_cancelled()));
        sleep(ms(50)).await;
        assert_eq!((taken("as-16-threads"), runs.count()), ((1, 1, 1), 1), "B waits for the thread");
        jam.clear();
        b.await.expect("no panic").expect("it got the thread");
        assert_eq!(runs.count(), 4, "both came to their ends");
    });
}

#[resilient(bulkhead = "as-17:1/queue:1/wait:1m")]
async fn as_17(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

async fn who_is_cancelled_in_the_queue_never_starts() {
    let start: Start = |post| Box::pin(as_17(post));
    let a = Held::begin(start).await;
    let b = Held::begin(start).await;
    let post = b.cancel().await;
    assert_eq!(occupancy("as-17"), (1, 0), "its place is free at once");
    a.release().await.unwrap();
    sleep(ms(500)).await;
    assert_eq!((post.entered(), occupancy("as-17")), (0, (0, 0)));
}

#[resilient(retry(5, backoff(constant, first = "1ms", jitter = none)))]
async fn as_18(runs: Arc<Runs>, gate: Arc<Gate>) -> Result<(), AppError> {
    runs.next();
    gate.opened().await;
    Err(TEST)
}

async fn a_cancelled_call_is_not_tried_again() {
    let (runs, gate): (Arc<Runs>, Arc<Gate>) = Default::default();
    let call = tokio::spawn(as_18(Arc::clone(&runs), Arc::clone(&gate)));
    settle().await;
    call.abort();
    assert!(call.await.is_err_and(|error| error.is_cancelled()));
    gate.open();
    sleep(ms(500)).await;
    assert_eq!((runs.count(), site("as_18").retries, site("as_18").cancelled), (1, 0, 1));
}
