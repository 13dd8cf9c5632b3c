//! The scope in other tasks, and tokens that end work from outside.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use watertight::integrations::tokio_util::{unless_cancelled, within};
use watertight::{Error, ErrorKind, JoinSet, deadline, resilient};
use watertight_tests::{Peak, Stopwatch, assert_free, assert_idle, ms, site};

#[tokio::test(start_paused = true)]
async fn a_set_inherits_and_leaves_nothing_behind_when_its_function_is_cut_off() {
    #[resilient(timeout = "100ms")]
    async fn tasks_set(peak: Arc<Peak>) -> Result<(), Error> {
        let mut set = JoinSet::new();
        for _ in 0..8 {
            let peak = Arc::clone(&peak);
            set.spawn(async move {
                let _inside = peak.enter();
                assert_eq!(watertight::attempt(), 0);
                assert!(watertight::call_id().is_some());
                pending::<()>().await;
            });
        }
        set.join_all().await;
        Ok(())
    }
    let peak = Arc::new(Peak::default());
    assert_eq!(tasks_set(Arc::clone(&peak)).await.unwrap_err().kind(), ErrorKind::TimedOut);
    tokio::task::yield_now().await;
    assert_eq!((peak.most(), peak.now()), (8, 0));
}

#[tokio::test(start_paused = true)]
async fn a_set_is_tokios_in_everything_else() {
    let mut set = JoinSet::new();
    assert!(set.is_empty() && set.join_next().await.is_none());
    let aborted = set.spawn(async { pending::<u32>().await });
    set.spawn(async { 7 });
    assert_eq!(set.len(), 2);
    assert_eq!(set.join_next().await.unwrap().unwrap(), 7);
    aborted.abort();
    assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    set.spawn(pending());
    set.shutdown().await;
    assert!(set.is_empty());
    assert!(set.into_inner().is_empty());
}

#[resilient(
    timeout = "10s",
    bulkhead = "tasks_token:1",
    breaker(name = "tasks_token", failures = "50%", min_calls = 1)
)]
async fn tasks_token() -> Result<(), Error> {
    sleep(ms(5_000)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_token_and_a_deadline_are_told_apart_here_and_in_the_books() {
    let token = CancellationToken::new();
    let caller = token.clone();
    tokio::spawn(async move {
        sleep(ms(50)).await;
        caller.cancel();
    });
    let clock = Stopwatch::start();
    let error = within(Duration::from_secs(1), &token, tasks_token()).await.unwrap_err();
    clock.assert_reads(ms(50));
    assert_eq!((error.kind(), error.is_refusal(), error.strategy()), (ErrorKind::Cancelled, false, "cancellation"));
    assert_eq!(error.to_string(), "cancelled by the caller");
    let figures = site("tasks_token");
    assert_eq!((figures.cancelled, figures.timed_out), (1, 0));
    assert_eq!(watertight_tests::breaker("tasks_token").opened, 0, "who left says nothing about the dependency");

    let clock = Stopwatch::start();
    let error = within(ms(100), &CancellationToken::new(), pending::<()>()).await.unwrap_err();
    clock.assert_reads(ms(100));
    assert_eq!(error.kind(), ErrorKind::Deadline);

    let error = within(Duration::from_secs(1), &token, async { unreachable!("not polled") }).await.unwrap_err();
    assert_eq!((error.kind(), error.is_refusal()), (ErrorKind::Cancelled, true));
    assert_eq!(error.to_string(), "not started, the caller had cancelled it");
    assert_idle("tasks_token");
    assert_free!("tasks_token", 1);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_ready_is_not_reported_as_cancelled() {
    let token = CancellationToken::new();
    let cancels = token.clone();
    let answer = unless_cancelled(&token, async move {
        cancels.cancel();
        7
    });
    assert_eq!(answer.await.unwrap(), 7);

    let token = CancellationToken::new();
    let child = token.child_token();
    let task = deadline::within(ms(500), async { Some(watertight::spawn(unless_cancelled(&child, tasks_token()))) });
    let task = task.await.unwrap().unwrap();
    tokio::task::yield_now().await;
    token.cancel();
    assert_eq!(task.await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled, "a parent's token, in another task");
}
