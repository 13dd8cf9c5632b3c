//! The bound holds at every instant, under a storm of calls that end in every way there is.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::sleep;
use watertight::guard::Bulkhead;
use watertight_tests::{Peak, assert_quiet, compartment, ms, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn holds(cell: &Cell) {
    const CALLS: u64 = 400;
    cell.assert_works().await;
    let peak = Arc::<Peak>::default();
    let ends = [Ends::Value, Ends::Error, Ends::Panic, Ends::Never];
    let mut calls = JoinSet::new();
    let mut left = Vec::new();
    // A fixed disorder: primes against each other, so that starts, lengths and endings meet in ever new ways.
    for n in 0..CALLS {
        let stage = Stage::sharing(ends[(n * 7 % 4) as usize], n * 13 % 31, &peak);
        let hand = calls.spawn(cell.call(&stage));
        if n % 3 == 0 || stage.ends == Ends::Never {
            left.push((n, hand));
        }
        sleep(ms(n % 3)).await;
        left.retain(|(since, hand)| {
            let stays = n < since + 11;
            if !stays {
                hand.abort();
            }
            stays
        });
        let now = compartment(cell.name);
        assert!(now.running <= 3 && now.queued <= 5 && peak.now() <= 3, "{now:?}");
        assert!(now.queued == 0 || now.running == 3, "nobody waits while a slot is free: {now:?}");
    }
    sleep(ms(1)).await;
    for (_, hand) in &left {
        hand.abort();
    }
    while calls.join_next().await.is_some() {}
    assert_eq!(peak.most(), 3, "never more, and all three were used");
    cell.settle();
    assert!(compartment(cell.name).peak_queued <= 5);
    assert_quiet(cell.name, 3);
    let figures = site(cell.name);
    assert_eq!((figures.calls, figures.in_flight), (CALLS + 1, 0));
    assert!(figures.ok > 0 && figures.cancelled > 0 && figures.panicked > 0 && figures.refused > 0, "{figures:?}");
}

cells! {
    holds;
    timeout "bound.timeout" [timeout = "25ms", bulkhead = "bound.timeout:3/queue:5"];
    deadline "bound.deadline" [deadline = "40ms", bulkhead = "bound.deadline:3/queue:5"];
    bulkhead "bound.bulkhead" [bulkhead = "bound.bulkhead:3/queue:5"];
    key "bound.key" [bulkhead = "bound.key:3/queue:5"] of: 7;
    rate "bound.rate" [rate = "1000/s/burst:2/wait:10ms", bulkhead = "bound.rate:3/queue:5"];
    breaker "bound.breaker" [
        breaker(name = "bound.breaker", window = 10, failures = "90%", cooldown = "5ms"), bulkhead = "bound.breaker:3/queue:5"
    ];
    retry "bound.retry" [retry(2, backoff = "1ms..9ms", budget = off), bulkhead = "bound.retry:3/queue:5"];
    hedge "bound.hedge" [
        hedge = "5ms", idempotent, retry(1, backoff = "1ms..9ms", budget = off), bulkhead = "bound.hedge:3/queue:5"
    ];
    fallback "bound.fallback" [fallback = stand_in, bulkhead = "bound.fallback:3/queue:5"];
}

isolate_cell! { holds; "bound.isolate" [timeout = "25ms", isolate = "bound.isolate:3/queue:5"] }

guard_cell! { holds; "bound.guard", |it| it.timeout(ms(25)).bulkhead(Bulkhead::new("bound.guard", 3).queue(5)) }
