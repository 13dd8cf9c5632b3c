//! The body's value and its error come back untouched: the very same, not an equal one.

use std::sync::Arc;

use watertight::Failure;
use watertight::guard::{Backoff, Budget, Retry};
use watertight_tests::ms;

use crate::{Answer, Cell, Ends, Stage, Trouble};

async fn comes_back(cell: &Cell) {
    for length in [0, 10] {
        let stage = Stage::new(Ends::Value, length);
        let Ok(value) = cell.call(&stage).await else { panic!("a value") };
        assert!(Arc::ptr_eq(&value, &stage.value));
        drop(value);
        assert_eq!(Arc::strong_count(&stage.value), 1, "and nobody keeps it");
        let stage = Stage::new(Ends::Error, length);
        let Err(Trouble::Own(error)) = cell.call(&stage).await else { panic!("the body's own error") };
        assert!(Arc::ptr_eq(&error, &stage.error));
        drop(error);
        assert_eq!(Arc::strong_count(&stage.error), 1, "nor that");
    }
}

/// Hands the body's error on.
fn hand_on(why: Failure<Trouble>) -> Answer {
    match why {
        Failure::Failed(error) => Err(error),
        Failure::Refused(error) => Err(Trouble::Ours(error)),
    }
}

cells! {
    comes_back;
    timeout "untouched.timeout" [timeout = "1s"];
    deadline "untouched.deadline" [deadline = "1s"];
    bulkhead "untouched.bulkhead" [bulkhead = "untouched.bulkhead:1"];
    key "untouched.key" [bulkhead = "untouched.key:1"] of: 7;
    rate "untouched.rate" [rate = "1000000/s"];
    breaker "untouched.breaker" [breaker(name = "untouched.breaker", window = 100, min_calls = 100)];
    retry "untouched.retry" [retry(2, backoff = "1ms..1ms", budget = off)];
    hedge "untouched.hedge" [hedge = "5ms", idempotent];
    fallback "untouched.fallback" [fallback = hand_on];
}

isolate_cell! { comes_back; "untouched.isolate" [timeout = "1s", isolate = "untouched.isolate:1"] }

guard_cell! { comes_back; "untouched.guard", |it| it.retry(Retry::new(2).backoff(Backoff::between(ms(1), ms(1))).budget(Budget::off())) }
