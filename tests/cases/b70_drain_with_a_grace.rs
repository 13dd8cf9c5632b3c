//! B70 (c). At shutdown work in flight and in queues vanished, or was waited for without an end, and nobody said what was
//! left.

use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use watertight::testing::World;
use watertight::{Error, ErrorKind, Refusal, resilient, shutdown};
use watertight_tests::{Stopwatch, assert_quiet, ms, occupancy, site};

#[resilient(bulkhead = "b70_drain:8/queue:16/wait:20s", timeout = "20s")]
async fn b70_drain() -> Result<(), Error> {
    sleep(ms(2_000)).await;
    Ok(())
}

/// Eight that run for two seconds and sixteen that wait.
async fn full() -> JoinSet<Result<(), ErrorKind>> {
    let mut calls = JoinSet::new();
    for _ in 0..24 {
        calls.spawn(async { b70_drain().await.map_err(|error| error.kind()) });
    }
    sleep(ms(1)).await;
    assert_eq!(occupancy("b70_drain"), (8, 16));
    calls
}

#[tokio::test(start_paused = true)]
async fn a_drain_refuses_what_is_new_and_sends_away_who_waits_at_its_end() {
    let _world = World::open();
    let mut calls = full().await;
    let clock = Stopwatch::start();
    let drained = tokio::spawn(shutdown::drain(ms(1_000)));
    sleep(ms(1)).await;
    let new = b70_drain().await.expect_err("refused");
    assert_eq!((new.kind(), new.is_refusal()), (ErrorKind::ShuttingDown, true), "{new}");
    for _ in 0..16 {
        let sent_away = calls.join_next().await.expect("a call").expect("no panic");
        assert_eq!(sent_away, Err(ErrorKind::ShuttingDown));
        clock.assert_reads(ms(1_000));
    }
    let drained = drained.await.expect("no panic");
    assert!(clock.read() <= ms(1_200), "{:?}", clock.read());
    assert!(!drained.is_clean());
    let left: Vec<_> = drained.left.iter().map(|left| (left.name, left.calls)).collect();
    assert_eq!((left, drained.requests), (vec![("b70_drain", 8)], 0), "{drained}");
    assert!(drained.to_string().ends_with("8 calls and 0 requests were left (b70_drain: 8)"), "{drained}");
    assert_eq!(site("b70_drain").refused_for(Refusal::Shutdown), 17);
    assert!(calls.join_all().await.into_iter().all(|answer| answer.is_ok()), "what ran was not touched");
    assert_quiet("b70_drain", 8);
}

#[tokio::test(start_paused = true)]
async fn a_drain_with_time_lets_the_queue_run_and_is_over_as_soon_as_all_is() {
    let _world = World::open();
    let calls = full().await;
    let clock = Stopwatch::start();
    let drained = shutdown::drain(ms(60_000)).await;
    assert!(drained.is_clean(), "{drained}");
    assert!(drained.to_string().starts_with("everything had ended after "), "{drained}");
    // Three turns of two seconds, looked at every five milliseconds.
    assert!(clock.read() >= ms(5_990) && clock.read() <= ms(6_020), "{:?}", clock.read());
    assert!(calls.join_all().await.into_iter().all(|answer| answer.is_ok()));
    assert_eq!(b70_drain().await.expect_err("refused").kind(), ErrorKind::ShuttingDown);
    assert_quiet("b70_drain", 8);
}

#[resilient(retry(3, backoff(constant, first = "500ms", jitter = none), on = any), idempotent, timeout = "20s")]
async fn b70_outer(fails: u32) -> Result<(), Error> {
    sleep(ms(500)).await;
    if watertight::attempt() < fails {
        return Err(b70_inner(ms(0)).await.expect_err("its error"));
    }
    b70_inner(ms(500)).await
}

#[resilient(timeout = "10ms")]
async fn b70_times_out() -> Result<(), Error> {
    std::future::pending().await
}

#[resilient(timeout = "20s")]
async fn b70_inner(length: std::time::Duration) -> Result<(), Error> {
    if length.is_zero() {
        return b70_times_out().await;
    }
    sleep(length).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_was_begun_goes_on_with_its_retries_and_with_everything_it_calls() {
    let _world = World::open();
    let begun = tokio::spawn(b70_outer(1));
    sleep(ms(1)).await;
    let drained = shutdown::drain(ms(60_000)).await;
    assert!(drained.is_clean(), "{drained}");
    begun.await.expect("no panic").expect("its second attempt, and the call in it");

    let world = World::open();
    let begun = tokio::spawn(b70_outer(9));
    let inherits = tokio::spawn(async {
        #[resilient(timeout = "20s")]
        async fn b70_spawns() -> Result<(), Error> {
            watertight::spawn(async {
                sleep(ms(100)).await;
                b70_inner(ms(100)).await
            })
            .await
            .expect("no panic")
        }
        b70_spawns().await
    });
    sleep(ms(1)).await;
    let drained = shutdown::drain(ms(700)).await;
    assert_eq!(drained.left.iter().map(|left| left.calls).sum::<u64>(), 1, "it pauses: {drained}");
    let error = timeout(ms(5_000), begun).await.expect("its pause ends").expect("no panic").expect_err("no retry");
    assert_eq!(error.kind(), ErrorKind::ShuttingDown, "{error}");
    inherits.await.expect("no panic").expect("a task that inherits is not from outside");
    drop(world);
}

#[resilient(rate = "1/h/burst:1/wait:2h")]
async fn b70_rate() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "b70_keyed:1/queue:4/wait:1h", key = key)]
async fn b70_keyed(key: u64) -> Result<(), Error> {
    let _ = key;
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_a_token_or_for_a_key_is_sent_away_too() {
    let _world = World::open();
    b70_rate().await.expect("the first token");
    let mut calls = JoinSet::new();
    calls.spawn(b70_rate());
    for key in [1, 1, 1, 2, 2] {
        calls.spawn(b70_keyed(key));
    }
    sleep(ms(1)).await;
    let clock = Stopwatch::start();
    let drained = shutdown::drain(ms(100)).await;
    assert_eq!(drained.left.iter().map(|left| left.calls).sum::<u64>(), 2, "one for each key: {drained}");
    for _ in 0..4 {
        let error = calls.join_next().await.expect("a call").expect("no panic").expect_err("sent away");
        assert_eq!(error.kind(), ErrorKind::ShuttingDown, "{error}");
    }
    assert!(clock.read() < ms(300));
    assert_eq!(calls.len(), 2);
}

#[resilient(retry = 1)]
async fn b70_no_place_for_a_refusal() -> Result<u32, std::io::Error> {
    if watertight::attempt() == 0 { Err(std::io::Error::other("once")) } else { Ok(2) }
}

#[tokio::test(start_paused = true)]
async fn a_function_without_a_place_for_refusals_runs_to_the_end() {
    let _world = World::open();
    assert!(shutdown::drain(ms(10)).await.is_clean());
    assert_eq!(b70_no_place_for_a_refusal().await.expect("the body's own answer"), 2);
    assert_eq!(site("b70_no_place_for_a_refusal").ok, 1);
}
