//! Timeout over work that goes on when its future is dropped: a thread that blocks, a task that was spawned.
//!
//! In the peer such work keeps its slot until it really ends. Here a future that is dropped ends, and its slot is free at
//! once; what was spawned is nobody's any more, unless it is guarded itself. A guarded call that was begun in the slot of
//! the call around it has that slot for as long as it runs, wherever it is moved: that is how work that outlives its
//! caller keeps its slot, and how these rows are adapted.
//!
//! Code that blocks its thread ignores everything. Where it has threads of its own (`isolate`) its caller is free at the
//! timeout, and the thread stays taken until the code comes back; those halves of rows run in real time.
//!
//! Invariants: nothing that was refused or cut off in the queue ever starts.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, poll};
use tokio::time::{advance, sleep};
use watertight::{ErrorKind, deadline, resilient};
use watertight_tests::threads::{Jam, taken, until};
use watertight_tests::{AppError, Gate, Peak, Stopwatch, ms, occupancy, site};

use crate::harness::{Entry, row};
use crate::support::{Runs, on_threads, settle};

const LENT: &str = "a guarded call, begun in the slot and spawned, keeps it; a wait in vain is an error of its own";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!(
            "TU-01",
            "differs on the caller's thread: what it answered holds, and is counted as an overrun; `isolate` cuts it off",
            a_body_that_blocks_has_answered
        ),
        row!(
            "TU-02",
            "a spawned task for a body that ignores its end; and `isolate`",
            a_timeout_does_not_wait_for_what_goes_on
        ),
        row!("TU-03", "no deadline for no interrupt flag", nothing_of_a_timeout_is_left_for_what_comes_after),
        row!("TU-04", LENT, a_call_whose_work_goes_on_times_out),
        row!(
            "TU-05",
            "a guarded call, begun in the slot and spawned, keeps it; and `isolate`",
            who_queues_behind_it_waits_in_vain
        ),
        row!("TU-06", LENT, the_place_of_who_left_is_free_for_one),
        row!("TU-07", LENT, who_left_the_queue_never_starts),
        row!(
            "TU-08",
            "`deadline`, which counts the queue; `timeout` runs from the grant",
            queueing_counts_for_a_deadline
        ),
        row!("TU-09", "spawned tasks, `idempotent`", the_next_attempt_starts_while_the_last_ones_work_goes_on),
        row!("TU-10", "a spawned task for a body that ignores its end", a_fallback_does_not_wait_for_what_was_spawned),
    ]
}

#[resilient(timeout = "500ms")]
async fn tu_01() -> Result<&'static str, AppError> {
    // The clock moves on and nobody else is polled meanwhile: that is what blocking looks like on a paused clock.
    assert!(advance(ms(1_000)).now_or_never().is_none());
    Ok("written")
}

async fn a_body_that_blocks_has_answered() {
    let clock = Stopwatch::start();
    assert_eq!(tu_01().await.unwrap(), "written", "what has happened is not called a timeout");
    clock.assert_reads(ms(1_000));
    let figures = site("tu_01");
    assert_eq!((figures.overruns, figures.ok, figures.timed_out), (1, 1, 0));
    assert_eq!(deadline::remaining(), None);
    on_threads(async {
        let (jam, ended) = Default::default();
        assert_eq!(tu_01_threads(Arc::clone(&jam), ended).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
        assert_eq!(deadline::remaining(), None);
        jam.clear();
        until(|| taken("tu-01") == (0, 0, 0));
    });
    let figures = site("tu_01_threads");
    assert_eq!((figures.timed_out, figures.ok), (1, 0), "what it answers late is dropped");
}

/// Blocks a thread of a compartment's own, and says when it has come to its end.
macro_rules! blocking {
    ($($function:ident $declared:literal)*) => {
        $(#[resilient(timeout = "50ms", isolate = $declared)]
        async fn $function(jam: Arc<Jam>, ended: Arc<Runs>) -> Result<(), AppError> {
            jam.block();
            ended.next();
            Ok(())
        })*
    };
}

blocking! {
    tu_01_threads "tu-01:1"
    tu_02_threads "tu-02:1"
    tu_05_threads "tu-05-threads:1/queue:1/wait:100ms"
}

/// Work on a task of its own, which nobody's timeout ends.
async fn spawned(work: &Arc<Peak>, gate: &Arc<Gate>) {
    let (work, gate) = (Arc::clone(work), Arc::clone(gate));
    let task = tokio::spawn(async move {
        let _inside = work.enter();
        gate.opened().await;
    });
    task.await.expect("no panic");
}

#[resilient(timeout = "500ms")]
async fn tu_02(work: &Arc<Peak>, gate: &Arc<Gate>) -> Result<(), AppError> {
    spawned(work, gate).await;
    Ok(())
}

async fn a_timeout_does_not_wait_for_what_goes_on() {
    let (work, gate, clock) = (Arc::default(), Arc::default(), Stopwatch::start());
    assert_eq!(tu_02(&work, &gate).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(500));
    assert_eq!(work.now(), 1, "it still runs");
    gate.open();
    settle().await;
    assert_eq!((work.now(), work.ever()), (0, 1), "and runs to its end");
    on_threads(async {
        let (jam, ended): (Arc<Jam>, Arc<Runs>) = Default::default();
        let answer = tu_02_threads(Arc::clone(&jam), Arc::clone(&ended)).await;
        assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::TimedOut));
        assert_eq!((taken("tu-02"), ended.count()), ((1, 1, 0), 0), "it still has its thread");
        jam.clear();
        until(|| taken("tu-02") == (0, 0, 0));
        assert_eq!(ended.count(), 1);
    });
}

#[resilient(timeout = "500ms")]
async fn tu_03() -> Result<(), AppError> {
    tokio::spawn(sleep(ms(4_000))).await.expect("no panic");
    Ok(())
}

async fn nothing_of_a_timeout_is_left_for_what_comes_after() {
    let clock = Stopwatch::start();
    let after = async {
        let error = tu_03().await.unwrap_err();
        clock.assert_reads(ms(500));
        assert_eq!(deadline::remaining(), None, "no limit of the call that ended holds here");
        assert_eq!((watertight::attempt(), watertight::call_id()), (0, None));
        sleep(ms(5_000)).await;
        error
    };
    assert_eq!(after.await.kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(5_500));
}

/// A call with a timeout, whose work goes on in its slot until the gate is opened.
macro_rules! goes_on {
    ($($outer:ident $inner:ident $name:literal $declared:literal)*) => {
        $(#[resilient(timeout = "500ms", bulkhead = $declared)]
        async fn $outer(runs: Arc<Runs>, gate: Arc<Gate>) -> Result<(), AppError> {
            runs.next();
            let mut work = Box::pin($inner(gate));
            assert!(poll!(&mut work).is_pending());
            tokio::spawn(work).await.expect("no panic")
        }

        #[resilient(bulkhead = $name)]
        async fn $inner(gate: Arc<Gate>) -> Result<(), AppError> {
            gate.opened().await;
            Ok(())
        })*
    };
}

goes_on! {
    tu_04 tu_04_work "tu-04" "tu-04:1/queue:1"
    tu_05 tu_05_work "tu-05" "tu-05:1/queue:1"
    tu_06 tu_06_work "tu-06" "tu-06:1/queue:1"
    tu_07 tu_07_work "tu-07" "tu-07:1/queue:1"
}

type Call = fn(Arc<Runs>, Arc<Gate>) -> BoxFuture<'static, Result<(), AppError>>;

/// The first so many of four steps: A times out, B waits in vain, C and D follow, A's work ends.
async fn steps(call: Call, bulkhead: &str, upto: u32) {
    let (runs, gate): (Arc<Runs>, Arc<Gate>) = Default::default();
    let begin = || call(Arc::clone(&runs), Arc::clone(&gate));
    let clock = Stopwatch::start();
    assert_eq!(begin().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(500));
    assert_eq!((runs.count(), occupancy(bulkhead)), (1, (1, 0)), "A's work still has the slot");
    if upto >= 2 {
        let clock = Stopwatch::start();
        assert_eq!(begin().await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
        clock.assert_reads(ms(500));
        assert_eq!((runs.count(), occupancy(bulkhead)), (1, (1, 0)), "B never started, and left");
    }
    if upto >= 3 {
        let clock = Stopwatch::start();
        let mut c = begin();
        assert!(poll!(&mut c).is_pending());
        advance(ms(100)).await;
        assert_eq!(begin().await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull), "D finds C in B's place");
        assert_eq!(c.await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
        clock.assert_reads(ms(500));
        assert_eq!(runs.count(), 1);
    }
    gate.open();
    sleep(ms(300)).await;
    assert_eq!((runs.count(), occupancy(bulkhead)), (1, (0, 0)), "nobody starts late");
}

async fn a_call_whose_work_goes_on_times_out() {
    steps(|runs, gate| Box::pin(tu_04(runs, gate)), "tu-04", 1).await;
}

async fn who_queues_behind_it_waits_in_vain() {
    steps(|runs, gate| Box::pin(tu_05(runs, gate)), "tu-05", 2).await;
    on_threads(async {
        let (jam, ended): (Arc<Jam>, Arc<Runs>) = Default::default();
        let begin = || tu_05_threads(Arc::clone(&jam), Arc::clone(&ended));
        assert_eq!(begin().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
        assert_eq!(begin().await.unwrap_err().kind(), Some(ErrorKind::IsolateWait));
        jam.clear();
        until(|| taken("tu-05-threads") == (0, 0, 0));
        assert_eq!(ended.count(), 1, "B never started");
    });
}

async fn the_place_of_who_left_is_free_for_one() {
    steps(|runs, gate| Box::pin(tu_06(runs, gate)), "tu-06", 3).await;
}

async fn who_left_the_queue_never_starts() {
    steps(|runs, gate| Box::pin(tu_07(runs, gate)), "tu-07", 4).await;
}

#[resilient(deadline = "500ms", bulkhead = "tu-08:1/queue:1/wait:10s")]
async fn tu_08(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

async fn queueing_counts_for_a_deadline() {
    let (opens, never) = (Gate::shut(), Gate::shut());
    let mut a = Box::pin(tu_08(&opens));
    assert!(poll!(&mut a).is_pending());
    advance(ms(100)).await;
    let (mut b, clock) = (Box::pin(tu_08(&never)), Stopwatch::start());
    assert!(poll!(&mut b).is_pending());
    assert_eq!(occupancy("tu-08"), (1, 1));
    advance(ms(300)).await;
    opens.open();
    a.await.unwrap();
    assert!(poll!(&mut b).is_pending());
    assert_eq!(occupancy("tu-08"), (1, 0), "B runs");
    assert_eq!(b.await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    clock.assert_reads(ms(500));
}

#[resilient(
    timeout = "500ms",
    idempotent,
    retry(2, on = [timeout], backoff(constant, first = "1ms", jitter = none))
)]
async fn tu_09(work: &Arc<Peak>, gate: &Arc<Gate>) -> Result<(), AppError> {
    spawned(work, gate).await;
    Ok(())
}

async fn the_next_attempt_starts_while_the_last_ones_work_goes_on() {
    let (work, gate, clock) = (Arc::default(), Arc::default(), Stopwatch::start());
    assert_eq!(tu_09(&work, &gate).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert!((ms(1_500)..ms(1_510)).contains(&clock.read()), "{:?}", clock.read());
    assert_eq!((work.ever(), work.now()), (3, 3), "three executions, and all of their work still runs");
    gate.open();
    settle().await;
    assert_eq!(work.now(), 0);
}

#[resilient(timeout = "500ms", fallback = || "FALLBACK")]
async fn tu_10(work: &Arc<Peak>, gate: &Arc<Gate>) -> Result<&'static str, AppError> {
    spawned(work, gate).await;
    Ok("answer")
}

async fn a_fallback_does_not_wait_for_what_was_spawned() {
    let (work, gate, clock) = (Arc::default(), Arc::default(), Stopwatch::start());
    assert_eq!(tu_10(&work, &gate).await.unwrap(), "FALLBACK");
    clock.assert_reads(ms(500));
    assert_eq!(work.now(), 1, "it still runs");
    gate.open();
    settle().await;
    assert_eq!(work.now(), 0);
}
