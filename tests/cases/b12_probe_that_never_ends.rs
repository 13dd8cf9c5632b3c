//! B12. The probe never ended, so the breaker could reach no verdict; one stood stuck for six days.

use std::sync::Arc;

use futures::poll;
use tokio::time::advance;
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, assert_free, assert_idle, breaker, ms};

#[derive(Clone)]
enum Does {
    Errs,
    Waits(Arc<Gate>),
    Answers,
}

impl Does {
    async fn it(self) -> Result<(), AppError> {
        match self {
            Self::Errs => Err(AppError::Broken("down")),
            Self::Waits(gate) => {
                gate.opened().await;
                Ok(())
            }
            Self::Answers => Ok(()),
        }
    }
}

#[resilient(
    bulkhead = "b12:4",
    breaker(name = "b12", window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
)]
async fn b12(does: Does) -> Result<(), AppError> {
    does.it().await
}

#[tokio::test(start_paused = true)]
async fn a_hanging_probe_is_replaced_and_its_late_answer_ignored() {
    for _ in 0..5 {
        b12(Does::Errs).await.unwrap_err();
    }
    let gate = Arc::new(Gate::shut());
    advance(ms(1_000)).await;
    let mut old = Box::pin(b12(Does::Waits(Arc::clone(&gate))));
    assert!(poll!(&mut old).is_pending());
    advance(ms(500)).await;
    let refused = b12(Does::Answers).await.unwrap_err();
    assert_eq!(refused.kind(), Some(ErrorKind::BreakerOpen), "the probe still has its lease");
    assert_eq!(refused.refused().retry_after(), Some(ms(500)), "and the refusal says when that ends");
    // At 5 s a newer probe takes its place, and fails.
    advance(ms(4_500)).await;
    assert_eq!(b12(Does::Errs).await.unwrap_err().broken(), Some("down"), "another probe was let through");
    assert_eq!((breaker("b12").state, breaker("b12").opened), (BreakerState::Open, 2));
    // At 10 s the old one answers after all.
    advance(ms(5_000)).await;
    gate.open();
    old.await.expect("its caller gets the answer");
    let after = breaker("b12");
    assert_eq!((after.state, after.closed), (BreakerState::Open, 0), "which decides nothing");
    b12(Does::Answers).await.expect("the cooldown is long over: a third probe");
    assert_eq!(breaker("b12").state, BreakerState::Closed);
    assert_idle("b12");
    assert_free!("b12", 4);
}

#[resilient(
    timeout = "300ms",
    bulkhead = "b12_timed:4",
    breaker(name = "b12_timed", window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
)]
async fn b12_timed(does: Does) -> Result<(), AppError> {
    does.it().await
}

#[tokio::test(start_paused = true)]
async fn with_a_timeout_the_probe_fails_by_it_and_the_breaker_opens_again() {
    for _ in 0..5 {
        b12_timed(Does::Errs).await.unwrap_err();
    }
    advance(ms(1_000)).await;
    let clock = Stopwatch::start();
    let hung = b12_timed(Does::Waits(Arc::default())).await.unwrap_err();
    assert_eq!(hung.kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(300));
    assert_eq!((breaker("b12_timed").state, breaker("b12_timed").opened), (BreakerState::Open, 2));
    assert_free!("b12_timed", 4);
}
