//! Bulkhead on its own: how many run, how many wait.
//!
//! The peer has ten slots and a queue of ten unless told otherwise, and a queue only for what it calls asynchronous. Here
//! every function is asynchronous, slots are always written, and nobody waits unless a queue is; a wait of a minute
//! stands for the peer's, which has no end.
//!
//! Invariants: whether a call runs is what its body says, never a gauge of ours.

use std::sync::Arc;

use futures::future::join_all;
use tokio::sync::Barrier;
use tokio::time::sleep;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, PATIENCE, Peak, ms};

use crate::harness::{Entry, left_out, row};
use crate::held::{Held, Post, assert_full, assert_slots, assert_slots_and_queue};

const BLOCK: &str = "an `impl` block for the type";
const BLOCK_DEFAULTS: &str = "an `impl` block for the type, the peer's defaults written out";
const JOINED: &str = "a name that nobody declares has ten slots, and `check()` reports it";
const POLLED: &str = "a future runs when it is polled; whoever wants it to run by itself spawns it";
const NAMED: &str = "the figures of the name, which the slots belong to";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("BH-01", BLOCK, a_block_of_three_slots),
        row!("BH-02", "as it stands", three_slots),
        row!("BH-03", BLOCK, a_block_of_ten_slots),
        row!("BH-04", "as it stands", ten_slots),
        row!("BH-05", JOINED, a_block_of_a_name_declared_nowhere),
        row!("BH-06", JOINED, a_name_declared_nowhere),
        left_out("BH-07", "every function here is async, so a queue that is written is a queue"),
        row!("BH-08", BLOCK_DEFAULTS, a_block_of_ten_slots_and_a_queue_of_ten),
        row!("BH-09", "the peer's default queue written out", ten_slots_and_a_queue_of_ten),
        row!("BH-10", BLOCK_DEFAULTS, a_block_of_three_slots_and_a_queue_of_ten),
        row!("BH-11", "the peer's default queue written out", three_slots_and_a_queue_of_ten),
        row!("BH-12", BLOCK_DEFAULTS, a_block_of_the_peers_defaults),
        row!("BH-13", "the peer's defaults written out", the_peers_defaults),
        row!("BH-14", BLOCK, a_block_of_five_slots_and_a_queue_of_five),
        row!("BH-15", "as it stands", five_slots_and_a_queue_of_five),
        row!("BH-16", "an await for a pending stage", a_slot_is_held_until_the_answer),
        row!("BH-17", "the caller spawns it, for a handle", a_spawned_call_is_done_when_it_has_answered),
        left_out("BH-18", POLLED),
        row!("BH-19", "an `impl` block; the caller spawns it", a_blocks_spawned_call_is_done_when_it_has_answered),
        left_out("BH-20", POLLED),
        row!("BH-21", "as it stands, and again five times as fast, so that the limit bites", pressure_without_a_queue),
        row!("BH-22", "as BH-21; the concurrency is counted in the body", pressure_with_a_queue),
        row!("BH-23", NAMED, outside::five_slots),
        row!("BH-24", NAMED, outside::one_slot),
        row!("BH-25", NAMED, outside::a_queue_of_one),
    ]
}

/// Sites with a bulkhead, and with a body that stays.
macro_rules! compartments {
    ($($function:ident $declared:literal)*) => {
        $(#[resilient(bulkhead = $declared)]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

/// The same as a method of a block with a bulkhead.
macro_rules! blocks {
    ($($block:ident $declared:literal)*) => {
        $(struct $block;

        #[resilient(bulkhead = $declared, name = "bh-block")]
        impl $block {
            async fn stay(&self, post: Arc<Post>) -> Result<(), AppError> {
                post.stay().await
            }
        })*
    };
}

compartments! {
    bh_02 "bh-02:3"
    bh_04 "bh-04:10"
    bh_06 "bh-06"
    bh_09 "bh-09:10/queue:10/wait:1m"
    bh_11 "bh-11:3/queue:10/wait:1m"
    bh_13 "bh-13:10/queue:10/wait:1m"
    bh_15 "bh-15:5/queue:5/wait:1m"
    bh_16 "bh-16:2/queue:2/wait:1m"
}

blocks! {
    Bh01 "bh-01:3"
    Bh03 "bh-03:10"
    Bh05 "bh-05"
    Bh08 "bh-08:10/queue:10/wait:1m"
    Bh10 "bh-10:3/queue:10/wait:1m"
    Bh12 "bh-12:10/queue:10/wait:1m"
    Bh14 "bh-14:5/queue:5/wait:1m"
}

async fn a_block_of_three_slots() {
    assert_slots(|post| Box::pin(Bh01.stay(post)), 3).await;
}

async fn three_slots() {
    assert_slots(|post| Box::pin(bh_02(post)), 3).await;
}

async fn a_block_of_ten_slots() {
    assert_slots(|post| Box::pin(Bh03.stay(post)), 10).await;
}

async fn ten_slots() {
    assert_slots(|post| Box::pin(bh_04(post)), 10).await;
}

async fn a_block_of_a_name_declared_nowhere() {
    assert_slots(|post| Box::pin(Bh05.stay(post)), 10).await;
}

async fn a_name_declared_nowhere() {
    assert_slots(|post| Box::pin(bh_06(post)), 10).await;
    let report = watertight::check();
    let finding = report.findings.iter().find(|finding| finding.name == "bh-06").expect("reported");
    assert_eq!(finding.problem, watertight::check::Problem::Undeclared);
}

async fn a_block_of_ten_slots_and_a_queue_of_ten() {
    assert_slots_and_queue(|post| Box::pin(Bh08.stay(post)), 10, 10).await;
}

async fn ten_slots_and_a_queue_of_ten() {
    assert_slots_and_queue(|post| Box::pin(bh_09(post)), 10, 10).await;
}

async fn a_block_of_three_slots_and_a_queue_of_ten() {
    assert_slots_and_queue(|post| Box::pin(Bh10.stay(post)), 3, 10).await;
}

async fn three_slots_and_a_queue_of_ten() {
    assert_slots_and_queue(|post| Box::pin(bh_11(post)), 3, 10).await;
}

async fn a_block_of_the_peers_defaults() {
    assert_slots_and_queue(|post| Box::pin(Bh12.stay(post)), 10, 10).await;
}

async fn the_peers_defaults() {
    assert_slots_and_queue(|post| Box::pin(bh_13(post)), 10, 10).await;
}

async fn a_block_of_five_slots_and_a_queue_of_five() {
    assert_slots_and_queue(|post| Box::pin(Bh14.stay(post)), 5, 5).await;
}

async fn five_slots_and_a_queue_of_five() {
    assert_slots_and_queue(|post| Box::pin(bh_15(post)), 5, 5).await;
}

async fn a_slot_is_held_until_the_answer() {
    let mut calls = Vec::new();
    for _ in 0..2 {
        calls.push(Held::begin(|post| Box::pin(bh_16(post))).await);
        calls.push(Held::begin(|post| Box::pin(bh_16(post))).await);
        sleep(ms(200)).await;
    }
    assert_eq!(calls.iter().map(Held::entered).collect::<Vec<_>>(), [1, 1, 0, 0]);
    assert!(!calls.iter().any(Held::is_done), "begun, and not done");
    assert_full(|post| Box::pin(bh_16(post))).await;
    for call in &calls {
        call.open().await;
    }
    assert!(calls.iter().all(Held::is_done), "all four, without a step of the clock");
    for call in calls {
        assert_eq!(call.entered(), 1);
        call.answer().await.unwrap();
    }
}

#[resilient(bulkhead = "bh-17:1")]
async fn bh_17(barrier: Arc<Barrier>) -> Result<&'static str, AppError> {
    barrier.wait().await;
    Ok("RESULT")
}

struct Bh19;

#[resilient(bulkhead = "bh-19:1", name = "bh-block")]
impl Bh19 {
    async fn meet(&self, barrier: Arc<Barrier>) -> Result<&'static str, AppError> {
        barrier.wait().await;
        Ok("RESULT")
    }
}

/// A call that is spawned while nobody else is at its barrier.
macro_rules! done_when_it_has_answered {
    ($call:expr) => {{
        let barrier = Arc::new(Barrier::new(2));
        let mut call = tokio::spawn($call(Arc::clone(&barrier)));
        assert!(tokio::time::timeout(ms(100), &mut call).await.is_err(), "it waits at the barrier");
        assert!(!call.is_finished());
        barrier.wait().await;
        sleep(ms(1)).await;
        assert!(call.is_finished(), "done, though nobody has asked yet");
        let answer = tokio::time::timeout(PATIENCE, &mut call).await;
        assert_eq!(answer.expect("in time").expect("no panic").unwrap(), "RESULT");
    }};
}

async fn a_spawned_call_is_done_when_it_has_answered() {
    done_when_it_has_answered!(bh_17);
}

async fn a_blocks_spawned_call_is_done_when_it_has_answered() {
    done_when_it_has_answered!(|barrier| Bh19.meet(barrier));
}

#[resilient(bulkhead = "bh-21:5")]
async fn bh_21(peak: Arc<Peak>) -> Result<(), AppError> {
    let _inside = peak.enter();
    sleep(ms(50)).await;
    Ok(())
}

#[resilient(bulkhead = "bh-22:5/queue:5/wait:1m")]
async fn bh_22(peak: Arc<Peak>) -> Result<(), AppError> {
    let _inside = peak.enter();
    sleep(ms(50)).await;
    Ok(())
}

/// A hundred calls, one every so often; how many answered, how many were refused, and how many ran at once at most.
macro_rules! hundred_calls {
    ($function:ident, $every:literal) => {{
        let peak = Arc::new(Peak::default());
        let mut calls = Vec::new();
        for _ in 0..100 {
            calls.push(tokio::spawn($function(Arc::clone(&peak))));
            sleep(ms($every)).await;
        }
        let mut refused = 0;
        for answer in join_all(calls).await {
            if let Err(error) = answer.expect("no panic") {
                assert_eq!(error.kind(), Some(ErrorKind::BulkheadFull), "an answer, or this");
                refused += 1;
            }
        }
        (100 - refused, refused, peak.most())
    }};
}

async fn pressure_without_a_queue() {
    let (answered, refused, most) = hundred_calls!(bh_21, 25);
    assert_eq!((answered, refused), (100, 0), "two or three at once fit");
    assert!(most <= 5, "{most}");
    let (answered, refused, most) = hundred_calls!(bh_21, 5);
    assert!(answered >= 5 && refused >= 5, "{answered} answered, {refused} refused");
    assert_eq!(most, 5);
}

async fn pressure_with_a_queue() {
    let (answered, refused, most) = hundred_calls!(bh_22, 25);
    assert_eq!((answered, refused), (100, 0), "two or three at once fit");
    assert!(most <= 5, "{most}");
    let (answered, refused, most) = hundred_calls!(bh_22, 5);
    assert!(answered >= 10 && refused >= 5, "{answered} answered, {refused} refused");
    assert_eq!(most, 5);
}
