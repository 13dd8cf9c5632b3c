//! For how many calls a fallback answers at once and for how long, and what becomes of the first error.

use std::error::Error as _;

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::{Class, Classify, Error, ErrorKind, Failure, FallbackUse, Fate, deadline, resilient};
use watertight_tests::{AppError, Gate, Peak, Stopwatch, caught, ms, panic_quietly, site};

const DOWN: AppError = AppError::Broken("down");

// How many at once.

#[resilient(fallback(limited(gate, peak), limit = 2))]
async fn terms_limit(gate: &Gate, peak: &Peak) -> Result<u32, AppError> {
    let _ = (gate, peak);
    Err(DOWN)
}

async fn limited(gate: &Gate, peak: &Peak) -> u32 {
    let _inside = peak.enter();
    gate.opened().await;
    7
}

#[tokio::test(start_paused = true)]
async fn beyond_the_limit_the_caller_gets_the_first_error_at_once() {
    let (gate, peak) = (Gate::shut(), Peak::default());
    let mut inside: Vec<_> = (0..2).map(|_| Box::pin(terms_limit(&gate, &peak))).collect();
    for call in &mut inside {
        assert!(poll!(call).is_pending());
    }
    assert_eq!(terms_limit(&gate, &peak).await.unwrap_err().broken(), Some("down"));
    // A caller that leaves gives its place back.
    inside.pop();
    let mut next = Box::pin(terms_limit(&gate, &peak));
    assert!(poll!(&mut next).is_pending());
    assert_eq!(terms_limit(&gate, &peak).await.unwrap_err().broken(), Some("down"));
    gate.open();
    assert_eq!((inside.remove(0).await.unwrap(), next.await.unwrap()), (7, 7));
    assert_eq!(terms_limit(&gate, &peak).await.unwrap(), 7, "all places are free again");
    let figures = site("terms_limit");
    assert_eq!((figures.fate_with(Fate::Error, FallbackUse::Full), figures.fallback_full), (2, 2));
    assert_eq!((figures.fallback_used, figures.cancelled, figures.calls, peak.most()), (3, 1, 6, 2));
    assert_eq!(FallbackUse::Full.as_str(), "full");
}

#[resilient(timeout = "50ms", fallback(|| panic_quietly(), limit = 1))]
async fn terms_panics() -> Result<u32, AppError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_panics_gives_its_place_back() {
    for _ in 0..3 {
        caught(terms_panics()).await.expect_err("a panic surfaces");
    }
    let figures = site("terms_panics");
    assert_eq!((figures.fate_with(Fate::TimedOut, FallbackUse::Failed), figures.fallback_full), (3, 0));
    assert_eq!((figures.calls, figures.in_flight), (3, 0));
}

// How long.

#[resilient(deadline = "100ms", fallback = late)]
async fn terms_late(hangs: bool) -> Result<u32, AppError> {
    sleep(ms(40)).await;
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(DOWN)
}

async fn late() -> u32 {
    sleep(ms(70)).await;
    7
}

#[tokio::test(start_paused = true)]
async fn a_fallback_does_not_outlive_the_deadline_and_the_first_error_is_what_there_is() {
    let clock = Stopwatch::start();
    assert_eq!(terms_late(false).await.unwrap_err().broken(), Some("down"), "as it was");
    clock.assert_reads(ms(100));
    let clock = Stopwatch::start();
    assert_eq!(terms_late(true).await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    clock.assert_reads(ms(100));
    let figures = site("terms_late");
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Failed), 1);
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::Failed), 1);
}

#[resilient(deadline = "100ms", fallback = in_time)]
async fn terms_in_time(hangs: bool) -> Result<u32, AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(DOWN)
}

async fn in_time() -> u32 {
    tokio::task::yield_now().await;
    7
}

#[resilient(deadline = "100ms", fallback = || 7)]
async fn terms_at_once() -> Result<u32, AppError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_is_in_time_or_answers_at_once_answers() {
    assert_eq!(terms_in_time(false).await.unwrap(), 7);
    let clock = Stopwatch::start();
    assert_eq!(terms_at_once().await.unwrap(), 7, "at the deadline, too");
    clock.assert_reads(ms(100));
    assert_eq!(site("terms_at_once").fate_with(Fate::TimedOut, FallbackUse::Used), 1);
}

async fn told(failure: Failure<AppError>) -> u32 {
    sleep(ms(70)).await;
    u32::from(failure.refusal().is_some())
}

#[resilient(timeout = "50ms", deadline = "100ms", fallback = told)]
async fn terms_told(hangs: bool) -> Result<u32, AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    sleep(ms(40)).await;
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn where_the_fallback_was_given_the_error_the_refusal_is_told_again_or_that_it_was_late() {
    let error = terms_told(true).await.unwrap_err();
    assert_eq!(error.refused().to_string(), "terms_told: timed out after 50ms (timeout)");
    let error = terms_told(false).await.unwrap_err();
    assert_eq!(error.refused().to_string(), "terms_told: its fallback was cut off by the deadline");
    assert_eq!(error.kind(), Some(ErrorKind::Deadline));
}

#[resilient(deadline = "100ms", fallback = late)]
async fn terms_plain() -> u32 {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_function_without_a_place_for_errors_waits_for_its_fallback() {
    let clock = Stopwatch::start();
    assert_eq!(terms_plain().await, 7);
    clock.assert_reads(ms(170));
}

#[resilient(deadline = "1m", fallback = late)]
async fn terms_tightened() -> Result<u32, AppError> {
    advance(ms(40)).await;
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_tighter_deadline_around_it_is_its_deadline() {
    let answer = deadline::within(ms(100), async {
        let clock = Stopwatch::start();
        (terms_tightened().await, clock.read())
    });
    match answer.await {
        Ok((answer, took)) => assert!(answer.is_err() && took >= ms(100), "{took:?}"),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Deadline),
    }
}

// What becomes of the first error.

#[resilient(timeout = "50ms", fallback = nothing_there)]
async fn terms_source() -> Result<u32, Error> {
    std::future::pending().await
}

async fn nothing_there() -> Result<u32, Error> {
    terms_cache().await
}

#[resilient(timeout = "10ms")]
async fn terms_cache() -> Result<u32, Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_fails_keeps_the_first_error_as_the_source_of_watertights_own() {
    let error = terms_source().await.unwrap_err();
    assert_eq!(error.to_string(), "terms_cache: timed out after 10ms (timeout)");
    assert_eq!(error.source().unwrap().to_string(), "terms_source: timed out after 50ms (timeout)");
}

/// Has a place for what came first.
#[derive(Debug)]
struct Shop {
    what: &'static str,
    first: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Shop {
    const fn new(what: &'static str) -> Self {
        Self { what, first: None }
    }
}

impl std::fmt::Display for Shop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.what)
    }
}

impl std::error::Error for Shop {}

impl Classify for Shop {
    fn class(&self) -> Class {
        Class::Retryable
    }

    fn with_first_error(self, first: Box<dyn std::error::Error + Send + Sync>) -> Self {
        Self { first: Some(first), ..self }
    }
}

impl From<Error> for Shop {
    fn from(_: Error) -> Self {
        Self::new("refused")
    }
}

/// At once and later, with and without a deadline of its own, which is another way through.
macro_rules! failing {
    ($($function:ident [$($deadline:tt)*] $fallback:expr;)*) => {
        $(#[resilient(timeout = "50ms", $($deadline)* fallback = $fallback)]
        async fn $function(hangs: bool) -> Result<u32, Shop> {
            if hangs {
                std::future::pending::<()>().await;
            }
            Err(Shop::new("no shop"))
        })*

        #[tokio::test(start_paused = true)]
        async fn an_error_type_with_a_place_for_it_is_told_of_the_first_error() {
            $(for (hangs, first) in [(false, "no shop"), (true, concat!(stringify!($function), ": timed out after 50ms (timeout)"))] {
                let error = $function(hangs).await.unwrap_err();
                assert_eq!(error.what, "no cache");
                assert_eq!(error.first.expect("it is told").to_string(), first, stringify!($function));
            })*
        }
    };
}

failing! {
    terms_first [] || Err::<u32, _>(Shop::new("no cache"));
    terms_first_later [] || async { sleep(ms(1)).await; Err::<u32, _>(Shop::new("no cache")) };
    terms_first_within [deadline = "1s",] || Err::<u32, _>(Shop::new("no cache"));
    terms_first_later_within [deadline = "1s",] || async { sleep(ms(1)).await; Err::<u32, _>(Shop::new("no cache")) };
}

#[resilient(timeout = "50ms", fallback = |failure| Err::<u32, _>(Shop { first: Some(failure.to_string().into()), ..Shop::new("own") }))]
async fn terms_given() -> Result<u32, Shop> {
    Err(Shop::new("no shop"))
}

#[tokio::test(start_paused = true)]
async fn a_fallback_that_was_given_the_failure_says_of_it_what_it_likes() {
    let error = terms_given().await.unwrap_err();
    assert_eq!((error.what, error.first.unwrap().to_string().as_str()), ("own", "no shop"));
}
