//! Guards on threads: the attribute's `isolate` for closures, with the same threads behind the same names.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use watertight::guard::{Bulkhead, Hedge, Isolate};
use watertight::{ErrorKind, Failure, Guard, resilient};
use watertight_tests::threads::{Jam, isolate, taken, until};
use watertight_tests::{AppError, assert_idle, ms, site};

#[resilient(isolate = "guard-threads:1", timeout = "10s")]
async fn guard_threads_attribute(jam: Arc<Jam>) -> Result<(), AppError> {
    jam.block();
    Ok(())
}

#[tokio::test]
async fn a_guard_and_an_attribute_share_the_threads_of_a_name() {
    let guard = Guard::named("guard-threads").timeout(ms(10_000)).build_isolated(Isolate::join("guard-threads"));
    let guard = guard.expect("a guard");
    let jam = Arc::<Jam>::default();
    let other = tokio::spawn(guard_threads_attribute(Arc::clone(&jam)));
    while taken("guard-threads").0 == 0 {
        tokio::task::yield_now().await;
    }
    match guard.run(|| async { Ok::<_, AppError>(()) }).await {
        Err(Failure::Refused(error)) => assert_eq!(error.kind(), ErrorKind::IsolateFull),
        other => panic!("{other:?}"),
    }
    jam.clear();
    other.await.expect("no panic").expect("ran");
    until(|| taken("guard-threads") == (0, 0, 0));
    let name = guard.run(|| async { Ok::<_, AppError>(std::thread::current().name().map(str::to_owned)) }).await;
    assert_eq!(name.expect("free again").as_deref(), Some("guard-threads-1"));
    assert_eq!(isolate("guard-threads").started, 1, "one thread for both");
}

#[tokio::test]
async fn code_that_blocks_is_cut_off_and_keeps_its_thread_until_it_comes_back() {
    let guard = Guard::named("guard-blocks").timeout(ms(50)).build_isolated(Isolate::new("guard-blocks", 1));
    let guard = guard.expect("a guard");
    let jam = Arc::<Jam>::default();
    let blocks = || {
        let jam = Arc::clone(&jam);
        async move {
            jam.block();
            Ok::<_, AppError>(())
        }
    };
    match guard.run(blocks).await {
        Err(Failure::Refused(error)) => assert_eq!(error.kind(), ErrorKind::TimedOut),
        other => panic!("{other:?}"),
    }
    assert_eq!(taken("guard-blocks"), (1, 1, 0));
    jam.clear();
    until(|| taken("guard-blocks") == (0, 0, 0));
    assert_eq!((site("guard-blocks").timed_out, isolate("guard-blocks").abandoned), (1, 1));
    assert_idle("guard-blocks");
}

#[tokio::test]
async fn the_closure_is_called_once_for_each_attempt() {
    let guard = Guard::named("guard-again").retry(2).build_isolated(Isolate::new("guard-again", 2)).expect("a guard");
    let called = AtomicU32::new(0);
    let third = || {
        let attempt = called.fetch_add(1, Ordering::SeqCst);
        async move { if attempt < 2 { Err(AppError::Broken("down")) } else { Ok(watertight::attempt()) } }
    };
    assert_eq!(guard.run(third).await.expect("the third"), 2, "the thread knows which attempt it runs");
    assert_eq!((called.into_inner(), site("guard-again").retries), (3, 2));
}

#[test]
fn what_cannot_stand_beside_threads_is_said_all_at_once() {
    let guard = Guard::named("guard-wrong")
        .bulkhead(Bulkhead::new("guard-wrong", 1))
        .hedge(Hedge::after(Duration::from_millis(5)))
        .idempotent()
        .observe();
    let error = guard.build_isolated(Isolate::new("guard-wrong", 0).wait(ms(1))).expect_err("wrong");
    let said = error.to_string();
    for part in ["slots already", "neither hedges", "cannot only observe", "`threads` is 0", "have no queue"] {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}
