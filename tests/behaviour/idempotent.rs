//! `idempotent`: running twice does no harm.

use watertight::{AttemptFate, ErrorKind, StopReason, resilient};
use watertight_tests::{AppError, site};

async fn hang_at_first() -> Result<u32, AppError> {
    if watertight::attempt() == 0 {
        std::future::pending::<()>().await;
    }
    Ok(watertight::attempt())
}

#[resilient(timeout = "50ms", retry = 1)]
async fn idempotent_unsaid() -> Result<u32, AppError> {
    hang_at_first().await
}

#[resilient(timeout = "50ms", retry = 1, idempotent)]
async fn idempotent_said() -> Result<u32, AppError> {
    hang_at_first().await
}

#[resilient(timeout = "50ms", retry(1, on = |_error| true), idempotent)]
async fn idempotent_with_predicate() -> Result<u32, AppError> {
    hang_at_first().await
}

#[tokio::test(start_paused = true)]
async fn only_then_is_an_attempt_that_timed_out_made_again() {
    assert_eq!(idempotent_unsaid().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!(site("idempotent_unsaid").stopped_for(StopReason::NotRetryable), 1);
    assert_eq!(idempotent_said().await.unwrap(), 1);
    assert_eq!(site("idempotent_said").attempts_by(AttemptFate::TimedOut), 1);
    assert_eq!(idempotent_with_predicate().await.unwrap(), 1, "a predicate speaks about errors, not about timeouts");
}

#[resilient(deadline = "50ms", retry = 5, idempotent)]
async fn idempotent_out_of_time() -> Result<u32, AppError> {
    hang_at_first().await
}

#[tokio::test(start_paused = true)]
async fn a_spent_deadline_is_never_tried_again() {
    assert_eq!(idempotent_out_of_time().await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    assert_eq!(site("idempotent_out_of_time").attempts(), 1);
}
