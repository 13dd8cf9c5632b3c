//! B21. Task-locals do not pass into spawned tasks, so ambient context such as a deadline is silently lost.

use std::future::pending;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::time::sleep;
use watertight::{Error, ErrorKind, JoinSet, deadline, resilient};
use watertight_tests::{Stopwatch, assert_idle, ms};

#[resilient(timeout = "2s")]
async fn b21_inner() -> Result<(), Error> {
    pending().await
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    PlainSpawn,
    Spawn,
    JoinSet,
}

/// How long the inner one took in a task of its own, why it ended, and how much was left there.
async fn inner(by: By) -> (Duration, ErrorKind, Option<Duration>) {
    let task = async {
        let (clock, left) = (Stopwatch::start(), deadline::remaining());
        let error = b21_inner().await.expect_err("it hangs");
        (clock.read(), error.kind(), left)
    };
    let mut set = JoinSet::new();
    let mut handle = None;
    let spawned = deadline::within(ms(300), async {
        match by {
            By::PlainSpawn => handle = Some(tokio::spawn(task)),
            By::Spawn => handle = Some(watertight::spawn(task)),
            By::JoinSet => drop(set.spawn(task)),
        }
    });
    spawned.await.expect("spawning takes no time");
    match handle {
        Some(handle) => handle.await.expect("no panic"),
        None => set.join_next().await.expect("a task").expect("no panic"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_plain_spawn_reads_nothing_and_ours_ends_with_the_scope() {
    let (took, kind, left) = inner(By::PlainSpawn).await;
    assert_eq!((kind, left), (ErrorKind::TimedOut, None));
    assert!(took >= ms(2_000) && took <= ms(2_002), "{took:?}");
    for by in [By::Spawn, By::JoinSet] {
        let (took, kind, left) = inner(by).await;
        assert_eq!((kind, left), (ErrorKind::Deadline, Some(ms(300))), "{by:?}");
        assert!(took >= ms(300) && took <= ms(302), "{by:?}: {took:?}");
    }
    assert_idle("b21_inner");
}

#[tokio::test(start_paused = true)]
async fn what_is_polled_in_the_same_task_inherits_and_a_sibling_outside_does_not() {
    let read = || async {
        sleep(ms(10)).await;
        deadline::remaining()
    };
    let inside = deadline::within(ms(300), async {
        let (a, b) = tokio::join!(read(), read());
        let c = tokio::select! { c = read() => c };
        let d = [read()].into_iter().collect::<FuturesUnordered<_>>().next().await.expect("one");
        [a, b, c, d]
    });
    let (inside, outside) = tokio::join!(inside, read());
    let inside = inside.expect("in time");
    assert!(inside.iter().all(Option::is_some), "{inside:?}");
    assert_eq!(outside, None);
}
