//! What watertight's own error says, and what it can become.

use std::error::Error as _;

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{Error, ErrorKind, deadline, resilient};
use watertight_tests::{AppError, Gate, ms};

#[resilient(
    timeout = "100ms",
    bulkhead = "errors:1/queue:1/wait:50ms",
    breaker(name = "errors", window = 1, failures = "100%", cooldown = "1s")
)]
async fn errors(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn every_kind_has_its_facts_and_one_sentence() {
    let shut = Gate::shut();
    let mut holder = Box::pin(errors(&shut));
    let mut waiter = Box::pin(errors(&shut));
    assert!(poll!(&mut holder).is_pending() && poll!(&mut waiter).is_pending());
    let full = errors(&shut).await.unwrap_err();
    let expired = waiter.await.unwrap_err();
    let spent = deadline::within(ms(10), async {
        advance(ms(10)).await;
        errors(&shut).await
    });
    let spent = spent.await.unwrap().unwrap_err();
    let timed_out = holder.await.unwrap_err();
    let open = errors(&shut).await.unwrap_err();
    let seconds = open.retry_after().expect("known");
    let by_hand = deadline::within(ms(5), std::future::pending::<()>()).await.unwrap_err();
    let facts = [
        (&full, ErrorKind::BulkheadFull, "bulkhead", Some("errors"), true),
        (&expired, ErrorKind::BulkheadWait, "bulkhead", Some("errors"), true),
        (&spent, ErrorKind::Deadline, "deadline", None, true),
        (&timed_out, ErrorKind::TimedOut, "timeout", None, false),
        (&open, ErrorKind::BreakerOpen, "breaker", Some("errors"), true),
        (&by_hand, ErrorKind::Deadline, "deadline", None, false),
    ];
    for (error, kind, strategy, name, refusal) in facts {
        assert_eq!((error.kind(), error.strategy(), error.name()), (kind, strategy, name), "{error}");
        assert_eq!(error.is_refusal(), refusal, "{error}");
        assert_eq!(error.retry_after().is_some(), kind == ErrorKind::BreakerOpen, "{error}");
        assert!(error.source().is_none(), "{error}");
        assert_eq!(error.site().map(|site| site.name), (error.to_string() != by_hand.to_string()).then_some("errors"));
        assert!(format!("{error:?}").contains(&format!("{kind:?}")), "{error:?}");
    }
    let sentences = [&full, &expired, &spent, &timed_out, &open, &by_hand].map(ToString::to_string);
    assert_eq!(
        sentences,
        [
            "errors: bulkhead `errors` is full (1 of 1 slots running, 1 of 1 queued)".to_owned(),
            "errors: waited 50ms for one of the 1 slots of bulkhead `errors`".to_owned(),
            "errors: not started, the deadline was already spent".to_owned(),
            "errors: timed out after 100ms (timeout)".to_owned(),
            format!("errors: breaker `errors` is open, next probe in {seconds:?}"),
            "cut off by the deadline after 5ms".to_owned(),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_function_without_a_slot_waits_in_no_queue() {
    assert_eq!(errors_cut().await.unwrap_err().to_string(), "errors_cut: cut off by the deadline after 20ms");
}

#[resilient(deadline = "20ms")]
async fn errors_cut() -> Result<(), Error> {
    std::future::pending().await
}

#[resilient(timeout = "50ms", retry(3, backoff = "1ms..1ms", budget = off))]
async fn errors_last_real() -> Result<(), AppError> {
    match watertight::attempt() {
        0 => Err(AppError::Broken("first")),
        1 => Err(AppError::Broken("second")),
        _ => std::future::pending().await,
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_real_error_is_kept_as_the_source() {
    let error = errors_last_real().await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::TimedOut));
    let source = error.refused().source().and_then(|source| source.downcast_ref::<AppError>());
    assert_eq!(source.and_then(AppError::broken), Some("second"));
}

#[derive(Debug)]
struct NoError;

impl From<Error> for NoError {
    fn from(error: Error) -> Self {
        assert!(error.source().is_none(), "nothing that could be a source");
        Self
    }
}

#[resilient(timeout = "50ms", retry(1, backoff = "1ms..1ms", budget = off))]
async fn errors_no_source() -> Result<(), NoError> {
    if watertight::attempt() == 0 {
        return Err(NoError);
    }
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn an_error_type_that_is_no_error_cannot_be_kept_and_need_not_be() {
    errors_no_source().await.unwrap_err();
}

#[resilient(timeout = "10ms")]
async fn errors_io(bulkhead: bool) -> Result<(), std::io::Error> {
    if bulkhead { Ok(errors_io_full().await?) } else { std::future::pending().await }
}

#[resilient(bulkhead = "errors_io:1")]
async fn errors_io_holder(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[resilient(bulkhead = "errors_io")]
async fn errors_io_full() -> Result<(), std::io::Error> {
    Ok(())
}

#[resilient(timeout = "10ms")]
async fn errors_anyhow() -> Result<(), anyhow::Error> {
    std::future::pending().await
}

#[resilient(timeout = "10ms")]
async fn errors_boxed() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    std::future::pending().await
}

#[resilient(timeout = "10ms")]
async fn errors_boxed_local() -> Result<(), Box<dyn std::error::Error>> {
    std::future::pending().await
}

struct Text(String);

impl From<Error> for Text {
    fn from(error: Error) -> Self {
        Self(error.to_string())
    }
}

#[resilient(timeout = "10ms")]
async fn errors_text() -> Result<(), Text> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn it_travels_in_the_callers_own_type_and_comes_out_again() {
    let io = errors_io(false).await.unwrap_err();
    assert_eq!(io.kind(), std::io::ErrorKind::TimedOut);
    let inside = io.get_ref().and_then(|inside| inside.downcast_ref::<Error>()).expect("kept");
    assert_eq!(inside.kind(), ErrorKind::TimedOut);
    let gate = Gate::shut();
    let mut holder = Box::pin(errors_io_holder(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(errors_io(true).await.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    let anyhow = errors_anyhow().await.unwrap_err();
    assert_eq!(anyhow.downcast_ref::<Error>().expect("kept").kind(), ErrorKind::TimedOut);
    let boxed = errors_boxed().await.unwrap_err();
    assert_eq!(boxed.downcast_ref::<Error>().expect("kept").kind(), ErrorKind::TimedOut);
    let boxed = errors_boxed_local().await.unwrap_err();
    assert_eq!(boxed.downcast_ref::<Error>().expect("kept").kind(), ErrorKind::TimedOut);
    assert_eq!(errors_text().await.err().unwrap().0, "errors_text: timed out after 10ms (timeout)");
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_the_body_passes_by_the_conversion() {
    #[resilient(timeout = "1s")]
    async fn errors_own() -> Result<u8, std::io::Error> {
        sleep(ms(1)).await;
        Err(std::io::Error::from_raw_os_error(5))
    }
    assert_eq!(errors_own().await.unwrap_err().raw_os_error(), Some(5), "untouched");
}
