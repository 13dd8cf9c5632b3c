//! B10. The lone half-open probe was cancelled by its caller, its place was never given back, and everybody was refused
//! from then on.

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, assert_free, assert_idle, breaker, ms, site};

#[resilient(
    bulkhead = "b10:2/queue:2",
    breaker(name = "b10", window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
)]
async fn b10(fails: bool) -> Result<(), AppError> {
    sleep(ms(20)).await;
    if fails { Err(AppError::Broken("down")) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn a_dropped_probe_gives_its_place_to_the_next_caller() {
    for _ in 0..5 {
        assert_eq!(b10(true).await.unwrap_err().broken(), Some("down"));
    }
    assert_eq!(breaker("b10").state, BreakerState::Open);
    assert_eq!(b10(false).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    advance(ms(1_000)).await;
    let mut probe = Box::pin(b10(false));
    assert!(poll!(&mut probe).is_pending());
    assert_eq!(breaker("b10").state, BreakerState::HalfOpen);
    assert_eq!(b10(false).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen), "one probe at a time");
    advance(ms(10)).await;
    drop(probe);
    let after = breaker("b10");
    assert_eq!((after.state, after.opened, after.closed), (BreakerState::HalfOpen, 1, 0), "neither good nor bad news");
    b10(false).await.expect("a fresh probe");
    assert_eq!(breaker("b10").state, BreakerState::Closed);
    assert_eq!(site("b10").cancelled, 1);
    assert_idle("b10");
    assert_free!("b10", 2);
}
