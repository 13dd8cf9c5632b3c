//! A rejection never counts as a failure: it says something about us, or about the caller, and nothing about the
//! dependency.

use watertight::guard::{Breaker, Bulkhead};
use watertight::metrics::BreakerState;
use watertight_tests::{breaker, site};

use crate::{Cell, Ends, Reject, Stage, stand_in};

async fn is_no_failure(cell: &Cell) {
    cell.assert_works().await;
    let stage = Stage::new(Ends::Value, 0);
    for _ in 0..20 {
        let _ = cell.reject(&stage).await;
    }
    assert_eq!(site(cell.name).refused, 20);
    if matches!(cell.reject, Some(Reject::Isolated)) {
        assert_eq!(breaker(cell.name).opened, 1, "opened once, by hand, and by no refusal");
        watertight::breaker::reset(cell.name);
        assert_eq!((breaker(cell.name).failures, breaker(cell.name).calls), (0, 0));
    } else {
        let now = breaker(cell.name);
        assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 0, 1), "only the call that ran");
    }
    // The control: one real failure is half of two, and opens it.
    for _ in 0..2 {
        tokio::time::advance(watertight_tests::ms(1_000)).await;
        let _ = cell.call(&Stage::new(Ends::Error, 0)).await;
    }
    assert_eq!(breaker(cell.name).state, BreakerState::Open);
}

cells! {
    is_no_failure;
    timeout "blameless.timeout" [
        timeout = "50ms", bulkhead = "blameless.timeout:1/queue:1",
        breaker(name = "blameless.timeout", window = 10, min_calls = 2, failures = "50%")
    ] reject: Waited;
    deadline "blameless.deadline" [
        deadline = "1s", breaker(name = "blameless.deadline", window = 10, min_calls = 2, failures = "50%")
    ] reject: Spent;
    bulkhead "blameless.bulkhead" [
        bulkhead = "blameless.bulkhead:1",
        breaker(name = "blameless.bulkhead", window = 10, min_calls = 2, failures = "50%")
    ] reject: Full;
    key "blameless.key" [
        bulkhead = "blameless.key:1",
        breaker(name = "blameless.key", window = 10, min_calls = 2, failures = "50%")
    ] of: 7 reject: Full;
    rate "blameless.rate" [
        rate = "1/s", breaker(name = "blameless.rate", window = 10, min_calls = 2, failures = "50%")
    ] reject: Limited;
    breaker "blameless.breaker" [
        breaker(name = "blameless.breaker", window = 10, min_calls = 2, failures = "50%")
    ] reject: Isolated;
    retry "blameless.retry" [
        retry(2, on = [full], budget = off), bulkhead = "blameless.retry:1",
        breaker(name = "blameless.retry", window = 10, min_calls = 2, failures = "50%")
    ] reject: Full;
    hedge "blameless.hedge" [
        hedge = "5ms", idempotent, bulkhead = "blameless.hedge:1",
        breaker(name = "blameless.hedge", window = 10, min_calls = 2, failures = "50%")
    ] reject: Full;
    fallback "blameless.fallback" [
        fallback = stand_in, bulkhead = "blameless.fallback:1",
        breaker(name = "blameless.fallback", window = 10, min_calls = 2, failures = "50%")
    ] reject: Full;
}

isolate_cell! {
    is_no_failure;
    "blameless.isolate" [
        isolate = "blameless.isolate:1",
        breaker(name = "blameless.isolate", window = 10, min_calls = 2, failures = "50%")
    ] reject: Full
}

guard_cell! { is_no_failure; "blameless.guard", |it| it.breaker(Breaker::named("blameless.guard").window(2)).bulkhead(Bulkhead::new("blameless.guard", 1)), reject: Full }
