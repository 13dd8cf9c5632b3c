//! `breaker(window = "10s")` and `breaker(on = ..)`: what is judged together, and what counts.

use futures::FutureExt;
use tokio::time::{advance, sleep};
use watertight::breaker::Cause;
use watertight::metrics::BreakerState;
use watertight::{Class, Classify, Error, ErrorKind, resilient};
use watertight_tests::{AppError, Gate, breaker, ms};

const DOWN: AppError = AppError::Broken("down");

#[resilient(breaker(window = "10s", min_calls = 4, failures = "50%", cooldown = "1s"))]
async fn window_of_time(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn a_window_of_time_forgets_what_is_older_than_it() {
    for well in [true, true, true, true, false, false, false] {
        let _ = window_of_time(well).await;
    }
    let now = breaker("window_of_time");
    assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 3, 7));
    advance(ms(10_000)).await;
    let later = breaker("window_of_time");
    assert_eq!((later.failures, later.calls), (0, 0), "without any call coming in");
    for well in [true, false, false] {
        let _ = window_of_time(well).await;
    }
    assert_eq!(breaker("window_of_time").state, BreakerState::Closed, "three are an anecdote, whatever was before");
    let _ = window_of_time(false).await;
    let open = breaker("window_of_time");
    assert_eq!(open.state, BreakerState::Open);
    let last = open.last_change.expect("it opened");
    assert_eq!((last.cause, last.failures, last.calls, last.slow), (Cause::Failures, 3, 4, 0));
    advance(ms(1_000)).await;
    window_of_time(true).await.expect("the probe");
    assert_eq!((breaker("window_of_time").state, breaker("window_of_time").calls), (BreakerState::Closed, 0));
}

#[resilient(breaker(window = "10s", min_calls = 4, failures = "50%", cooldown = "1s"))]
async fn window_success_decides(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn a_success_is_judged_when_older_successes_have_left_a_window_of_time() {
    for _ in 0..10 {
        window_success_decides(true).await.unwrap();
    }
    advance(ms(5_000)).await;
    for _ in 0..4 {
        window_success_decides(false).await.unwrap_err();
    }
    assert_eq!(breaker("window_success_decides").state, BreakerState::Closed, "four of fourteen");
    advance(ms(5_500)).await;
    window_success_decides(true).await.unwrap();
    let open = breaker("window_success_decides");
    assert_eq!(open.state, BreakerState::Open, "four of five, and the last one succeeded");
}

/// A class of its own for each.
#[derive(Debug)]
enum Sorted {
    Refused(Error),
    NotFound,
    Down,
}

impl From<Error> for Sorted {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl Classify for Sorted {
    fn class(&self) -> Class {
        match self {
            Self::NotFound => Class::Success,
            Self::Refused(_) | Self::Down => Class::Permanent,
        }
    }
}

impl Sorted {
    fn is_down(&self) -> bool {
        matches!(self, Self::Down)
    }

    fn kind(&self) -> Option<ErrorKind> {
        if let Self::Refused(error) = self { Some(error.kind()) } else { None }
    }
}

/// Says not found, says that it is down, or hangs.
async fn service(what: &str) -> Result<(), Sorted> {
    match what {
        "not found" => Err(Sorted::NotFound),
        "down" => Err(Sorted::Down),
        _ => std::future::pending().await,
    }
}

#[resilient(timeout = "50ms", breaker(window = 2))]
async fn on_default(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[resilient(timeout = "50ms", breaker(window = 2, on = any))]
async fn on_any(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[resilient(timeout = "50ms", breaker(window = 2, on = any, skip = Sorted::is_down))]
async fn on_any_but(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[resilient(timeout = "50ms", breaker(window = 2, on = [timeout]))]
async fn on_timeouts(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[resilient(timeout = "50ms", breaker(window = 2, on = [error]))]
async fn on_errors(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[resilient(timeout = "50ms", breaker(window = 2, skip = |error| matches!(error, Sorted::Down)))]
async fn on_default_but(what: &str) -> Result<(), Sorted> {
    service(what).await
}

#[tokio::test(start_paused = true)]
async fn what_counts_is_what_is_named_and_what_is_skipped_never_does() {
    macro_rules! opens {
        ($function:ident, $what:literal) => {{
            for _ in 0..4 {
                let _ = $function($what).await;
            }
            let opened = breaker(stringify!($function)).state == BreakerState::Open;
            watertight::breaker::reset(stringify!($function));
            opened
        }};
    }
    macro_rules! row {
        ($function:ident) => {
            [opens!($function, "not found"), opens!($function, "down"), opens!($function, "hang")]
        };
    }
    assert_eq!(row!(on_default), [false, true, true]);
    assert_eq!(row!(on_any), [true, true, true], "whatever its class");
    assert_eq!(row!(on_any_but), [true, false, true], "skip wins");
    assert_eq!(row!(on_timeouts), [false, false, true]);
    assert_eq!(row!(on_errors), [false, true, false]);
    assert_eq!(row!(on_default_but), [false, false, true]);
}

#[resilient(bulkhead = "on_full:1", breaker(window = 3, failures = "100%", on = [full]))]
async fn on_full(gate: &Gate) -> Result<(), Sorted> {
    gate.opened().await;
    Ok(())
}

#[resilient(bulkhead = "on_wait:1/queue:9/wait:10ms", breaker(window = 3, failures = "100%", on = any))]
async fn on_wait(gate: &Gate) -> Result<(), Sorted> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn our_own_refusals_count_where_they_are_named() {
    let gate = Gate::shut();
    let mut running = Box::pin(on_full(&gate));
    assert!(running.as_mut().now_or_never().is_none());
    let mut kinds = Vec::new();
    for _ in 0..5 {
        kinds.extend(on_full(&gate).await.unwrap_err().kind());
    }
    let full = ErrorKind::BulkheadFull;
    assert_eq!(kinds, [full, full, full, ErrorKind::BreakerOpen, ErrorKind::BreakerOpen]);

    let mut running_too = Box::pin(on_wait(&gate));
    assert!(running_too.as_mut().now_or_never().is_none());
    kinds.clear();
    for _ in 0..4 {
        kinds.extend(on_wait(&gate).await.unwrap_err().kind());
    }
    let waited = ErrorKind::BulkheadWait;
    assert_eq!(kinds, [waited, waited, waited, ErrorKind::BreakerOpen]);
    gate.open();
    running.await.unwrap();
    running_too.await.unwrap();
    sleep(ms(1)).await;
    assert_eq!(breaker("on_wait").state, BreakerState::Open, "begun before it opened, they decide nothing");
}
