//! B11. A probe that died of a defect skipped the bookkeeping and left the breaker half-open.

use tokio::time::advance;
use watertight::metrics::BreakerState;
use watertight::resilient;
use watertight_tests::{AppError, assert_free, assert_idle, breaker, caught, ms, panic_quietly, site, yields};

#[derive(Clone, Copy)]
enum Does {
    Errs,
    Panics,
    Answers,
}

#[resilient(
    bulkhead = "b11:2/queue:2",
    breaker(name = "b11", window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
)]
async fn b11(does: Does) -> Result<(), AppError> {
    yields(1).await;
    match does {
        Does::Errs => Err(AppError::Broken("down")),
        Does::Panics => panic_quietly(),
        Does::Answers => Ok(()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failed_probe_and_still_reaches_the_caller() {
    for _ in 0..5 {
        b11(Does::Errs).await.unwrap_err();
    }
    advance(ms(1_000)).await;
    let in_task = tokio::spawn(b11(Does::Panics)).await.expect_err("the panic reaches the handle");
    assert!(in_task.is_panic());
    let after = breaker("b11");
    assert_eq!((after.state, after.opened), (BreakerState::Open, 2), "open again, by the probe's panic");
    assert!(b11(Does::Answers).await.is_err(), "and it refuses");
    advance(ms(1_000)).await;
    caught(b11(Does::Panics)).await.expect_err("the panic reaches the caller");
    assert_eq!(breaker("b11").opened, 3);
    advance(ms(1_000)).await;
    for _ in 0..100 {
        b11(Does::Answers).await.expect("nothing is poisoned");
    }
    assert_eq!(breaker("b11").state, BreakerState::Closed);
    assert_eq!(site("b11").panicked, 2);
    assert_idle("b11");
    assert_free!("b11", 2);
}
