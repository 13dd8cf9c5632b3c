//! Dropped while waiting leaves the queue, at once and without a trace in what others see.

use std::sync::Arc;

use futures::poll;
use tokio::time::advance;
use watertight::guard::Bulkhead;
use watertight::metrics::BreakerState;
use watertight::{WaitFate, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_quiet, breaker, ms, occupancy, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn leaves_the_queue(cell: &Cell) {
    let gate = Arc::new(Gate::shut());
    let mut holder = (cell.hold)(Arc::clone(&gate));
    assert!(poll!(&mut holder).is_pending());
    let stage = Stage::new(Ends::Value, 10);
    for round in 1..=10 {
        let mut waiting = cell.call(&stage);
        assert!(poll!(&mut waiting).is_pending());
        assert_eq!(occupancy(cell.name), (1, 1));
        drop(waiting);
        assert_eq!(occupancy(cell.name), (1, 0));
        let figures = site(cell.name);
        assert_eq!((figures.cancelled, figures.in_flight, figures.queued), (round, 0, 0));
        assert_eq!(figures.waits(WaitFate::Cancelled).count(), round);
    }
    assert_eq!(stage.entered(), 0);
    // Granted and then dropped unseen: the slot passes on.
    let mut granted = cell.call(&stage);
    assert!(poll!(&mut granted).is_pending());
    gate.open();
    holder.await;
    assert_eq!(occupancy(cell.name), (1, 0));
    drop(granted);
    assert_quiet(cell.name, 1);
    let figures = site(cell.name);
    assert_eq!((figures.fallback_used, figures.attempts(), figures.retries), (0, 0, 0));
    cell.assert_works().await;
    assert_quiet(cell.name, 1);
}

cells! {
    leaves_the_queue;
    timeout "waiting.timeout" [timeout = "1s", bulkhead = "waiting.timeout:1/queue:1"];
    deadline "waiting.deadline" [deadline = "1s", bulkhead = "waiting.deadline:1/queue:1"];
    bulkhead "waiting.bulkhead" [bulkhead = "waiting.bulkhead:1/queue:1"];
    key "waiting.key" [bulkhead = "waiting.key:1/queue:1"] of: 7;
    rate "waiting.rate" [rate = "1/h", bulkhead = "waiting.rate:1/queue:1"];
    breaker "waiting.breaker" [breaker(name = "waiting.breaker"), bulkhead = "waiting.breaker:1/queue:1"];
    retry "waiting.retry" [retry = 2, bulkhead = "waiting.retry:1/queue:1"];
    hedge "waiting.hedge" [hedge = "5ms", idempotent, bulkhead = "waiting.hedge:1/queue:1"];
    fallback "waiting.fallback" [fallback = stand_in, bulkhead = "waiting.fallback:1/queue:1"];
}

isolate_cell! { leaves_the_queue; "waiting.isolate" [timeout = "1s", isolate = "waiting.isolate:1/queue:1"] }

guard_cell! { leaves_the_queue; "waiting.guard", |it| it.timeout(ms(1_000)).bulkhead(Bulkhead::new("waiting.guard", 1).queue(1)) }

#[resilient(
    breaker(name = "waiting_probe", window = 1, failures = "100%", cooldown = "1s"),
    bulkhead = "waiting_probe:1/queue:1"
)]
async fn waiting_probe(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(AppError::Broken("down")) }
}

#[resilient(bulkhead = "waiting_probe")]
async fn waiting_probe_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_probe_dropped_in_the_queue_gives_its_place_back() {
    waiting_probe(false).await.unwrap_err();
    advance(ms(1_000)).await;
    let gate = Gate::shut();
    let mut holder = Box::pin(waiting_probe_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    let mut probe = Box::pin(waiting_probe(true));
    assert!(poll!(&mut probe).is_pending());
    assert!(waiting_probe(true).await.is_err(), "the one probe is out");
    drop(probe);
    drop(holder);
    waiting_probe(true).await.expect("the next probe");
    assert_eq!(breaker("waiting_probe").state, BreakerState::Closed);
    assert_free!("waiting_probe", 1);
}

#[resilient(retry(1, backoff = "10s..10s", budget = "0%+1/s"), bulkhead = "waiting_pause:1")]
async fn waiting_pause() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn a_call_dropped_in_its_pause_holds_nothing_and_pays_nothing() {
    // Three times what the budget allows at once: each is given back.
    for _ in 0..30 {
        let mut paused = Box::pin(waiting_pause());
        assert!(poll!(&mut paused).is_pending());
        assert_quiet("waiting_pause", 1);
        drop(paused);
    }
    let figures = site("waiting_pause");
    assert_eq!((figures.cancelled, figures.retries, figures.in_flight), (30, 0, 0));
    assert_free!("waiting_pause", 1);
}
