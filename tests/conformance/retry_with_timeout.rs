//! Retry around a timeout: each attempt has its own clock.

use tokio::time::sleep;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, ms};

use crate::harness::{Entry, row};
use crate::support::{Runs, TEST};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("RX-01", "`idempotent`, since a timeout is retried only then", each_attempt_has_a_whole_timeout),
        row!("RX-02", "as it stands", an_error_before_the_limit_is_the_bodys_own),
        row!("RX-03", "`on = [full]`", a_timeout_that_is_not_named_is_not_tried_again),
        row!("RX-04", "`abort` takes only errors of the body, so `on = [error]`", a_timeout_can_be_made_final),
    ]
}

#[resilient(timeout = "500ms", idempotent, retry(1, backoff = "1ms..1ms", on = [timeout]))]
async fn rx_01(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok(())
}

async fn each_attempt_has_a_whole_timeout() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rx_01(&runs).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!(runs.count(), 2);
    assert!((ms(1_000)..ms(1_010)).contains(&clock.read()), "twice 500 ms: {:?}", clock.read());
}

#[resilient(timeout = "500ms", idempotent, retry(1, on = any))]
async fn rx_02(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(10)).await;
    Err(TEST)
}

async fn an_error_before_the_limit_is_the_bodys_own() {
    let runs = Runs::default();
    assert_eq!(rx_02(&runs).await.unwrap_err().broken(), Some("test"));
    assert_eq!(runs.count(), 2);
}

#[resilient(timeout = "500ms", bulkhead = "rx-03:1", idempotent, retry(1, on = [full]))]
async fn rx_03(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok(())
}

async fn a_timeout_that_is_not_named_is_not_tried_again() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rx_03(&runs).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!(runs.count(), 1);
    clock.assert_reads(ms(500));
}

#[resilient(timeout = "500ms", idempotent, retry(1, on = [error]))]
async fn rx_04(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok(())
}

async fn a_timeout_can_be_made_final() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rx_04(&runs).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!(runs.count(), 1);
    clock.assert_reads(ms(500));
}
