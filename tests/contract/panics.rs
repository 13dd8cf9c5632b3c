//! A panic in the body gives back, is counted as what it is, and surfaces: it is not retried and not answered for.

use futures::poll;
use watertight::guard::Bulkhead;
use watertight::{AttemptFate, resilient};
use watertight_tests::{AppError, assert_free, assert_quiet, caught, ms, panic_quietly, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn gives_back(cell: &Cell) {
    for length in [0, 10] {
        let stage = Stage::new(Ends::Panic, length);
        caught(cell.call(&stage)).await.map(|_| ()).expect_err("it surfaces");
        assert_eq!((stage.entered(), stage.peak.now()), (1, 0), "once");
        assert_quiet(cell.name, 1);
        // In a task of its own, as a service would have it.
        let stage = Stage::new(Ends::Panic, length);
        assert!(tokio::spawn(cell.call(&stage)).await.map(|_| ()).unwrap_err().is_panic());
        assert_quiet(cell.name, 1);
    }
    let figures = site(cell.name);
    assert_eq!((figures.calls, figures.panicked, figures.in_flight), (4, 4, 0));
    assert_eq!((figures.attempts_by(AttemptFate::Panicked), figures.attempts()), (4, 4));
    assert_eq!((figures.fallback_used, figures.fallback_failed, figures.retries), (0, 0, 0));
    let now = watertight::snapshot();
    assert!(now.breaker(cell.name).is_none_or(|it| (it.calls, it.failures) == (4, 4)), "a panic is a failure");
    cell.assert_works().await;
    assert_quiet(cell.name, 1);
}

cells! {
    gives_back;
    timeout "panics.timeout" [timeout = "1s", bulkhead = "panics.timeout:1"];
    deadline "panics.deadline" [deadline = "1s", bulkhead = "panics.deadline:1"];
    bulkhead "panics.bulkhead" [bulkhead = "panics.bulkhead:1"];
    key "panics.key" [bulkhead = "panics.key:1"] of: 7;
    rate "panics.rate" [rate = "1000000/s", bulkhead = "panics.rate:1"];
    breaker "panics.breaker" [breaker(name = "panics.breaker"), bulkhead = "panics.breaker:1"];
    retry "panics.retry" [retry = 2, bulkhead = "panics.retry:1"];
    hedge "panics.hedge" [hedge = "5ms", idempotent, bulkhead = "panics.hedge:1"];
    fallback "panics.fallback" [fallback = stand_in, bulkhead = "panics.fallback:1"];
}

isolate_cell! { gives_back; "panics.isolate" [timeout = "1s", isolate = "panics.isolate:1"] }

guard_cell! { gives_back; "panics.guard", |it| it.timeout(ms(1_000)).bulkhead(Bulkhead::new("panics.guard", 1)) }

#[resilient(retry(1, on = |_error| panic_quietly()), bulkhead = "panics_predicate:1")]
async fn panics_predicate() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_predicate_gives_back_and_is_no_callers_leaving() {
    caught(panics_predicate()).await.map(|_| ()).expect_err("it surfaces");
    assert_quiet("panics_predicate", 1);
    let figures = site("panics_predicate");
    assert_eq!((figures.calls, figures.in_flight), (1, 0));
    assert_eq!((figures.panicked, figures.cancelled), (1, 0), "nobody has dropped it");
    assert_free!("panics_predicate", 1);
}

#[resilient(bulkhead = "panics_beside:1", timeout = "1s")]
async fn panics_beside() -> Result<(), AppError> {
    tokio::time::sleep(ms(10)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_panic_beside_a_call_has_cancelled_it() {
    let together = async {
        let mut call = Box::pin(panics_beside());
        assert!(poll!(&mut call).is_pending());
        panic_quietly()
    };
    caught::<_>(async {
        let () = together.await;
    })
    .await
    .expect_err("it surfaces");
    assert_quiet("panics_beside", 1);
    let figures = site("panics_beside");
    assert_eq!((figures.cancelled, figures.panicked, figures.in_flight), (1, 0, 0), "the body did not panic");
    assert_free!("panics_beside", 1);
}
