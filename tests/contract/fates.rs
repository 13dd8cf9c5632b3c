//! One finished call, one fate; and the fates sum to the calls.

use std::sync::Arc;

use futures::poll;
use tokio::time::timeout;
use watertight::guard::Bulkhead;
use watertight::{AttemptFate, FallbackUse, Fate};
use watertight_tests::{Gate, caught, ms, site};

use crate::{Cell, Ends, Stage, stand_in};

async fn sum_up(cell: &Cell) {
    let mut begun = 0;
    for length in [0, 10] {
        let outcomes = [
            (Ends::Value, [1, 0, 0, 0]),
            (Ends::Error, [0, 1, 0, 0]),
            (Ends::Panic, [0, 0, 1, 0]),
            (Ends::Never, [0, 0, 0, 1]),
        ];
        for (ends, [ok, error, panicked, ended_early]) in outcomes {
            let before = site(cell.name);
            // Half a second is longer than any limit here: a call still running then is dropped by us.
            let _ = caught(timeout(ms(500), cell.call(&Stage::new(ends, length)))).await;
            cell.settle();
            begun += 1;
            let after = site(cell.name);
            assert_eq!((after.calls, after.in_flight), (begun, 0), "{ends:?}");
            assert_eq!(after.ok - before.ok, ok, "{ends:?}");
            assert_eq!(after.error - before.error, error, "{ends:?}");
            assert_eq!(after.panicked - before.panicked, panicked, "{ends:?}");
            let early = |figures: &watertight::metrics::SiteFigures| figures.timed_out + figures.cancelled;
            assert_eq!(early(&after) - early(&before), ended_early, "{ends:?}");
        }
    }
    // Refused, where there is a bulkhead to refuse, and cancelled in the queue.
    let gate = Arc::new(Gate::shut());
    let mut holder = (cell.hold)(Arc::clone(&gate));
    assert!(poll!(&mut holder).is_pending());
    let stage = Stage::new(Ends::Value, 0);
    let mut waiting = cell.call(&stage);
    assert!(poll!(&mut waiting).is_pending());
    let _ = cell.call(&stage).await;
    drop(waiting);
    drop(holder);
    begun += 2;
    let end = site(cell.name);
    assert_eq!((end.calls, end.refused, end.in_flight), (begun, 1, 0));
    let crossed = Fate::ALL.into_iter().flat_map(|fate| FallbackUse::ALL.map(|used| (fate, used)));
    let sum: u64 = crossed.map(|(fate, used)| end.fate_with(fate, used)).sum();
    assert_eq!(sum, begun, "over both axes");
    let attempts: u64 = AttemptFate::ALL.into_iter().map(|fate| end.attempts_by(fate)).sum();
    assert_eq!(attempts, 8 + end.retries, "each call that ran made one attempt, and its retries");
}

cells! {
    sum_up;
    timeout "fates.timeout" [timeout = "100ms", bulkhead = "fates.timeout:1/queue:1"];
    deadline "fates.deadline" [deadline = "100ms", bulkhead = "fates.deadline:1/queue:1"];
    bulkhead "fates.bulkhead" [bulkhead = "fates.bulkhead:1/queue:1"];
    key "fates.key" [bulkhead = "fates.key:1/queue:1"] of: 7;
    rate "fates.rate" [rate = "1000000/s", bulkhead = "fates.rate:1/queue:1"];
    breaker "fates.breaker" [
        breaker(name = "fates.breaker", window = 100, min_calls = 100), bulkhead = "fates.breaker:1/queue:1"
    ];
    retry "fates.retry" [retry(2, backoff = "1ms..1ms", budget = off), bulkhead = "fates.retry:1/queue:1"];
    hedge "fates.hedge" [hedge = "5ms", idempotent, bulkhead = "fates.hedge:1/queue:1"];
    fallback "fates.fallback" [fallback = stand_in, bulkhead = "fates.fallback:1/queue:1"];
}

isolate_cell! { sum_up; "fates.isolate" [timeout = "100ms", isolate = "fates.isolate:1/queue:1"] }

guard_cell! { sum_up; "fates.guard", |it| it.timeout(ms(100)).bulkhead(Bulkhead::new("fates.guard", 1).queue(1)) }
