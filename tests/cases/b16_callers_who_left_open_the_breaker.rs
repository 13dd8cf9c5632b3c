//! B16. Callers that walked away were booked as failures of the dependency: a busy page with many aborted requests
//! tripped the breaker on a healthy service.

use futures::future::join_all;
use tokio::time::{sleep, timeout};
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, resilient};
use watertight_tests::{AppError, assert_free, assert_idle, breaker, ms, site};

#[resilient(
    timeout = "300ms",
    bulkhead = "b16:50",
    breaker(name = "b16", window = 10, min_calls = 5, failures = "50%", cooldown = "1s")
)]
async fn b16(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn fifty_who_left_count_for_nothing_and_five_timeouts_open_it() {
    let left = join_all((0..50).map(|_| timeout(ms(10), b16(100)))).await;
    assert!(left.iter().all(Result::is_err));
    let now = breaker("b16");
    assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 0, 0));
    let figures = site("b16");
    assert_eq!((figures.cancelled, figures.attempts_by(AttemptFate::Cancelled)), (50, 50));
    // The control: what our own limit cut off does count.
    join_all((0..5).map(|_| b16(10_000))).await;
    assert_eq!(breaker("b16").state, BreakerState::Open);
    assert_eq!(site("b16").timed_out, 5);
    assert_idle("b16");
    assert_free!("b16", 50);
}
