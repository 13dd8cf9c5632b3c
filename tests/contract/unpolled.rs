//! Dropped before the first poll takes nothing: no slot, no probe, no place, no figure.

use watertight::guard::Bulkhead;
use watertight_tests::{compartment, ms, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn takes_nothing(cell: &Cell) {
    let stage = Stage::new(Ends::Value, 10);
    for _ in 0..10 {
        drop(cell.call(&stage));
    }
    let figures = site(cell.name);
    assert_eq!((figures.calls, figures.in_flight, figures.attempts()), (0, 0, 0));
    assert_eq!(stage.entered(), 0);
    let now = watertight::snapshot();
    assert_eq!(compartment(cell.name).peak_running, 0, "no slot was ever taken");
    assert!(now.breaker(cell.name).is_none_or(|breaker| breaker.calls == 0));
    cell.assert_works().await;
    assert_eq!(site(cell.name).calls, 1);
}

cells! {
    takes_nothing;
    timeout "unpolled.timeout" [timeout = "1s", bulkhead = "unpolled.timeout:1"];
    deadline "unpolled.deadline" [deadline = "1s", bulkhead = "unpolled.deadline:1"];
    bulkhead "unpolled.bulkhead" [bulkhead = "unpolled.bulkhead:1/queue:1"];
    key "unpolled.key" [bulkhead = "unpolled.key:1/queue:1"] of: 7;
    rate "unpolled.rate" [rate = "2/h", bulkhead = "unpolled.rate:1"];
    breaker "unpolled.breaker" [breaker(name = "unpolled.breaker"), bulkhead = "unpolled.breaker:1"];
    retry "unpolled.retry" [retry = 2, bulkhead = "unpolled.retry:1"];
    hedge "unpolled.hedge" [hedge = "5ms", idempotent, bulkhead = "unpolled.hedge:1"];
    fallback "unpolled.fallback" [fallback = stand_in, bulkhead = "unpolled.fallback:1"];
}

isolate_cell! { takes_nothing; "unpolled.isolate" [timeout = "1s", isolate = "unpolled.isolate:1/queue:1"] }

guard_cell! { takes_nothing; "unpolled.guard", |it| it.timeout(ms(1_000)).bulkhead(Bulkhead::new("unpolled.guard", 1).queue(1)) }
