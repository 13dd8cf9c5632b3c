//! Dropped while running gives back: the body is dropped, the slot is free, the breaker learns nothing.

use futures::poll;
use tokio::time::advance;
use watertight::guard::Bulkhead;
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, resilient};
use watertight_tests::threads::until;
use watertight_tests::{AppError, assert_free, assert_quiet, breaker, ms, occupancy, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn gives_back(cell: &Cell) {
    let stage = Stage::new(Ends::Value, 10);
    for round in 1..=10 {
        let mut running = cell.call(&stage);
        assert!(poll!(&mut running).is_pending());
        until(|| stage.peak.now() == 1);
        assert_eq!(occupancy(cell.name), (1, 0));
        drop(running);
        cell.settle();
        assert_eq!((occupancy(cell.name), stage.peak.now()), ((0, 0), 0), "the body was dropped too");
        let figures = site(cell.name);
        assert_eq!((figures.calls, figures.cancelled, figures.in_flight), (round, round, 0));
        assert_eq!(figures.attempts_by(AttemptFate::Cancelled), round);
    }
    let now = watertight::snapshot();
    assert!(now.breaker(cell.name).is_none_or(|it| (it.calls, it.failures) == (0, 0)));
    let figures = site(cell.name);
    assert_eq!((figures.fallback_used, figures.retries, figures.latency.count()), (0, 0, 0));
    cell.assert_works().await;
    assert_quiet(cell.name, 1);
}

cells! {
    gives_back;
    timeout "running.timeout" [timeout = "1s", bulkhead = "running.timeout:1"];
    deadline "running.deadline" [deadline = "1s", bulkhead = "running.deadline:1"];
    bulkhead "running.bulkhead" [bulkhead = "running.bulkhead:1"];
    key "running.key" [bulkhead = "running.key:1"] of: 7;
    rate "running.rate" [rate = "1000000/s", bulkhead = "running.rate:1"];
    breaker "running.breaker" [breaker(name = "running.breaker"), bulkhead = "running.breaker:1"];
    retry "running.retry" [retry = 2, bulkhead = "running.retry:1"];
    hedge "running.hedge" [hedge = "5ms", idempotent, bulkhead = "running.hedge:1"];
    fallback "running.fallback" [fallback = stand_in, bulkhead = "running.fallback:1"];
}

isolate_cell! { gives_back; "running.isolate" [timeout = "1s", isolate = "running.isolate:1"] }

guard_cell! { gives_back; "running.guard", |it| it.timeout(ms(1_000)).bulkhead(Bulkhead::new("running.guard", 1)) }

#[resilient(
    breaker(name = "running_probe", window = 1, failures = "100%", cooldown = "1s"),
    bulkhead = "running_probe:1"
)]
async fn running_probe(hangs: bool) -> Result<(), AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    if breaker("running_probe").closed == 0 && breaker("running_probe").opened == 0 {
        return Err(AppError::Broken("down"));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_probe_dropped_while_running_gives_its_place_back() {
    running_probe(false).await.unwrap_err();
    advance(ms(1_000)).await;
    for _ in 0..5 {
        let mut probe = Box::pin(running_probe(true));
        assert!(poll!(&mut probe).is_pending(), "let through");
        drop(probe);
        assert_eq!(breaker("running_probe").state, BreakerState::HalfOpen);
    }
    running_probe(false).await.expect("the next probe");
    assert_eq!(breaker("running_probe").state, BreakerState::Closed);
    assert_free!("running_probe", 1);
}
