//! Bulkhead inside of retry: a slot is given up between attempts, and a further attempt asks like anyone else.
//!
//! By default neither side tries a refusal again that is not named here (`on = [full]`), so rows that rest on the peer's
//! default name it. A hundred retries are the most that can be written; where the peer writes 99 999 it is the longest
//! duration that ends them, after thirty.
//!
//! Invariants: pauses have no jitter, so that every time is exact.

use std::sync::{Arc, Mutex};

use tokio::time::sleep;
use watertight::{ErrorKind, StopReason, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, ms, occupancy, site};

use crate::harness::{Entry, row};
use crate::held::{Held, Post, Start, assert_full, assert_retried_until_there_is_room, assert_slots_and_queue};
use crate::support::{TEST, is_test, settle};

const HUNDRED: &str = "a hundred retries, no budget";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("BR-01", "`on = any`, `idempotent`", retries_of_a_block_do_not_hide_that_it_is_full),
        row!("BR-02", "`on = [full]`", retries_do_not_hide_that_it_is_full),
        row!("BR-03", HUNDRED, a_refusal_is_tried_again_until_there_is_room),
        row!("BR-04", "an `impl` block for the type, a hundred retries", a_blocks_refusal_is_tried_again),
        row!("BR-05", "as it stands", a_pause_gives_up_the_slot_and_may_find_it_taken),
        row!("BR-06", "a delay of 1 ms for none", a_further_attempt_joins_the_back_of_the_queue),
        row!("BR-07", "as it stands", a_refusal_that_is_not_named_is_final),
        row!("BR-08", "`abort` takes only errors of the body, so `on = [error]`", a_refusal_can_be_made_final),
        row!("BR-09", HUNDRED, without_a_queue_retries_wait_for_the_slot),
        row!("BR-10", "an `impl` block for the type, a hundred retries", without_a_queue_a_blocks_retries_wait),
        row!("BR-11", "an `impl` block for the type", a_blocks_pause_gives_up_the_slot_to_whoever_comes),
        row!("BR-12", "as it stands", a_pause_gives_up_the_slot_to_whoever_comes),
        row!("BR-13", "as it stands", without_a_queue_a_refusal_that_is_not_named_is_final),
        row!(
            "BR-14",
            "`abort` takes only errors of the body, so `on = [error]`",
            without_a_queue_a_refusal_can_be_made_final
        ),
        row!("BR-15", "`retry = off` in a block for a retry of none", no_retry_is_no_retry),
    ]
}

macro_rules! sites {
    ($($function:ident $declared:literal [$($retry:tt)*])*) => {
        $(#[resilient(idempotent, bulkhead = $declared, retry($($retry)*))]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

macro_rules! blocks {
    ($($block:ident $declared:literal [$($retry:tt)*])*) => {
        $(struct $block;

        #[resilient(idempotent, bulkhead = $declared, retry($($retry)*), name = "br-block")]
        impl $block {
            async fn stay(&self, post: Arc<Post>) -> Result<(), AppError> {
                post.stay().await
            }
        })*
    };
}

sites! {
    br_02 "br-02:5/queue:5/wait:1m" [10, on = [full], backoff(constant, first = "1us", jitter = none), budget = off]
    br_03 "br-03:3/queue:3/wait:1m" [
        100, on = [full], backoff(constant, first = "100ms", jitter = none), max_duration = "3s", budget = off
    ]
    br_05 "br-05:1/queue:1/wait:1m" [1, on = is_test, backoff(constant, first = "1s", jitter = none)]
    br_07 "br-07:1/queue:1/wait:1m" [1, on = is_test, backoff(constant, first = "1s", jitter = none)]
    br_08 "br-08:1/queue:1/wait:1m" [1, on = [error], backoff(constant, first = "1s", jitter = none)]
    br_09 "br-09:1" [
        100, on = [full], backoff(constant, first = "100ms", jitter = none), max_duration = "3s", budget = off
    ]
    br_12 "br-12:1" [1, on = is_test, backoff(constant, first = "1s", jitter = none)]
    br_13 "br-13:1" [1, on = is_test, backoff(constant, first = "1s", jitter = none)]
    br_14 "br-14:1" [1, on = [error], backoff(constant, first = "1s", jitter = none)]
}

blocks! {
    Br01 "br-01:5/queue:5/wait:1m" [
        10, on = any, backoff(constant, first = "1us", jitter = none), max_duration = "999999ms", budget = off
    ]
    Br04 "br-04:3/queue:3/wait:1m" [
        100, on = [full], backoff(constant, first = "100ms", jitter = none), max_duration = "3s", budget = off
    ]
    Br10 "br-10:1" [
        100, on = [full], backoff(constant, first = "100ms", jitter = none), max_duration = "3s", budget = off
    ]
    Br11 "br-11:1" [1, on = is_test, backoff(constant, first = "1s", jitter = none)]
}

async fn retries_of_a_block_do_not_hide_that_it_is_full() {
    assert_slots_and_queue(|post| Box::pin(Br01.stay(post)), 5, 5).await;
}

async fn retries_do_not_hide_that_it_is_full() {
    assert_slots_and_queue(|post| Box::pin(br_02(post)), 5, 5).await;
    let figures = site("br_02");
    assert_eq!(
        (figures.retries, figures.stopped_for(StopReason::Exhausted)),
        (20, 2),
        "ten for each of the two refused"
    );
}

async fn a_refusal_is_tried_again_until_there_is_room() {
    assert_retried_until_there_is_room(|post| Box::pin(br_03(post)), 3, 3).await;
}

async fn a_blocks_refusal_is_tried_again() {
    assert_retried_until_there_is_room(|post| Box::pin(Br04.stay(post)), 3, 3).await;
}

async fn a_pause_gives_up_the_slot_and_may_find_it_taken() {
    let start: Start = |post| Box::pin(br_05(post));
    let a = Held::begin_failing(start).await;
    let b = Held::begin(start).await;
    assert!(a.is_inside() && !b.is_inside());
    let clock = Stopwatch::start();
    a.open().await;
    assert!(b.is_inside(), "A pauses without its slot");
    let c = Held::begin(start).await;
    assert_eq!((c.is_inside(), occupancy("br-05")), (false, (1, 1)), "C waits");
    assert!(!a.is_done());
    let runs = a.entered();
    assert_eq!(a.answer().await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull), "and is not tried again");
    clock.assert_reads(ms(1_000));
    assert_eq!(runs, 1);
    b.release().await.unwrap();
    assert!(c.is_inside());
    c.release().await.unwrap();
}

#[resilient(
    bulkhead = "br-06:1/queue:5/wait:1m",
    retry(1, on = is_test, backoff(constant, first = "1ms", jitter = none))
)]
async fn br_06(name: char, order: Arc<Mutex<String>>, gate: Arc<Gate>) -> Result<(), AppError> {
    order.lock().unwrap().push(name);
    gate.opened().await;
    // Longer than A's pause, so that A is back in the queue before the next one starts.
    sleep(ms(10)).await;
    if name == 'A' { Err(TEST) } else { Ok(()) }
}

async fn a_further_attempt_joins_the_back_of_the_queue() {
    let (order, gate): (Arc<Mutex<String>>, Arc<Gate>) = Default::default();
    let mut calls = Vec::new();
    for name in ['A', 'B', 'C'] {
        calls.push(tokio::spawn(br_06(name, Arc::clone(&order), Arc::clone(&gate))));
        settle().await;
    }
    assert_eq!((order.lock().unwrap().as_str(), occupancy("br-06")), ("A", (1, 2)));
    gate.open();
    let answers = futures::future::join_all(calls).await;
    let answers: Vec<_> =
        answers.into_iter().map(|answer| answer.expect("no panic").map_err(|it| it.broken())).collect();
    assert_eq!(answers, [Err(Some("test")), Ok(()), Ok(())]);
    assert_eq!(*order.lock().unwrap(), "ABCA");
}

/// A runs, as many wait as may, and one more is refused without a pause.
async fn refused_for_good(start: Start, queue: usize) {
    let a = Held::begin(start).await;
    assert!(a.is_inside());
    let mut waiting = Vec::new();
    for _ in 0..queue {
        waiting.push(Held::begin(start).await);
    }
    assert_full(start).await;
    a.release().await.unwrap();
    for call in waiting {
        call.release().await.unwrap();
    }
}

async fn a_refusal_that_is_not_named_is_final() {
    refused_for_good(|post| Box::pin(br_07(post)), 1).await;
    assert_eq!((site("br_07").retries, site("br_07").stopped_for(StopReason::NotRetryable)), (0, 1));
}

async fn a_refusal_can_be_made_final() {
    refused_for_good(|post| Box::pin(br_08(post)), 1).await;
    assert_eq!((site("br_08").retries, site("br_08").stopped_for(StopReason::NotRetryable)), (0, 1));
}

/// B is refused while A runs, and tried again until A is done.
async fn waits_by_retrying(start: Start) {
    let a = Held::begin(start).await;
    let b = Held::begin(start).await;
    sleep(ms(250)).await;
    assert!(a.is_inside() && !b.is_inside() && !b.is_done());
    let clock = Stopwatch::start();
    a.release().await.unwrap();
    b.release().await.unwrap();
    assert!(clock.read() <= ms(101), "at its next attempt: {:?}", clock.read());
}

async fn without_a_queue_retries_wait_for_the_slot() {
    waits_by_retrying(|post| Box::pin(br_09(post))).await;
}

async fn without_a_queue_a_blocks_retries_wait() {
    waits_by_retrying(|post| Box::pin(Br10.stay(post))).await;
}

/// A fails and pauses; B takes its slot; A's further attempt is refused.
async fn gives_up_its_slot(start: Start) {
    let a = Held::begin_failing(start).await;
    let clock = Stopwatch::start();
    a.open().await;
    sleep(ms(100)).await;
    let b = Held::begin(start).await;
    assert!(b.is_inside() && !a.is_done());
    assert_eq!(a.entered(), 1);
    assert_eq!(a.answer().await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    clock.assert_reads(ms(1_000));
    b.release().await.unwrap();
}

async fn a_blocks_pause_gives_up_the_slot_to_whoever_comes() {
    gives_up_its_slot(|post| Box::pin(Br11.stay(post))).await;
}

async fn a_pause_gives_up_the_slot_to_whoever_comes() {
    gives_up_its_slot(|post| Box::pin(br_12(post))).await;
}

async fn without_a_queue_a_refusal_that_is_not_named_is_final() {
    refused_for_good(|post| Box::pin(br_13(post)), 0).await;
    assert_eq!((site("br_13").retries, site("br_13").stopped_for(StopReason::NotRetryable)), (0, 1));
}

async fn without_a_queue_a_refusal_can_be_made_final() {
    refused_for_good(|post| Box::pin(br_14(post)), 0).await;
    assert_eq!((site("br_14").retries, site("br_14").stopped_for(StopReason::NotRetryable)), (0, 1));
}

struct Br15;

#[resilient(bulkhead = "br-15:1", retry(3, on = [full], backoff(constant, first = "1s", jitter = none)), name = "br-15")]
impl Br15 {
    #[resilient(retry = off)]
    async fn once(&self, post: Arc<Post>) -> Result<(), AppError> {
        post.stay().await
    }
}

async fn no_retry_is_no_retry() {
    refused_for_good(|post| Box::pin(Br15.once(post)), 0).await;
    assert_eq!(site("br-15.once").retries, 0);
}
