//! A rejection never runs the body.

use watertight::guard::Bulkhead;
use watertight_tests::{ms, site};

use crate::{Cell, Ends, Stage, Trouble, stand_in};

async fn runs_nothing(cell: &Cell) {
    cell.assert_works().await;
    let before = site(cell.name);
    let stage = Stage::new(Ends::Value, 0);
    for _ in 0..5 {
        match cell.reject(&stage).await {
            Err(Trouble::Ours(error)) => assert!(error.is_refusal(), "{error}"),
            Ok(value) => assert_eq!(*value, 99, "the fallback's value"),
            Err(Trouble::Own(_)) => panic!("the body's own error"),
        }
    }
    assert_eq!(stage.entered(), 0);
    let after = site(cell.name);
    assert_eq!((after.refused - before.refused, after.calls - before.calls), (5, 5));
    assert_eq!(after.attempts(), before.attempts(), "no attempt was made");
    assert_eq!(after.latency.count(), before.latency.count());
}

cells! {
    runs_nothing;
    timeout "rejected.timeout" [timeout = "50ms", bulkhead = "rejected.timeout:1/queue:1"] reject: Waited;
    deadline "rejected.deadline" [deadline = "1s"] reject: Spent;
    bulkhead "rejected.bulkhead" [bulkhead = "rejected.bulkhead:1"] reject: Full;
    key "rejected.key" [bulkhead = "rejected.key:1"] of: 7 reject: Full;
    rate "rejected.rate" [rate = "1/h"] reject: Limited;
    breaker "rejected.breaker" [breaker(name = "rejected.breaker")] reject: Isolated;
    retry "rejected.retry" [retry(2, on = [full], budget = off), bulkhead = "rejected.retry:1"] reject: Full;
    hedge "rejected.hedge" [hedge = "5ms", idempotent, bulkhead = "rejected.hedge:1"] reject: Full;
    fallback "rejected.fallback" [fallback = stand_in, bulkhead = "rejected.fallback:1"] reject: Full;
}

isolate_cell! { runs_nothing; "rejected.isolate" [timeout = "1s", isolate = "rejected.isolate:1"] reject: Full }

guard_cell! { runs_nothing; "rejected.guard", |it| it.timeout(ms(1_000)).bulkhead(Bulkhead::new("rejected.guard", 1)), reject: Full }
