//! Fallback: when it answers, and what it is told.
//!
//! The peer knows a handler type and a method of the same type. Here both are one key: a path, a closure, or a call that
//! says what it is given.
//!
//! Invariants: executions are counted by the body and answers by the fallback itself.

use std::sync::atomic::{AtomicU32, Ordering};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::time::sleep;
use watertight::{ErrorKind, Failure, FallbackUse, Fate, resilient};
use watertight_tests::{AppError, Stopwatch, ms, site};

use crate::harness::{Entry, left_out, row};
use crate::support::{Runs, TEST};

const CODE: &str = "what a fallback answers for is code, a predicate; settings hold figures";
const TARGET: &str = "a function is chosen when the program is compiled";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("FB-01", "a call that is given the function's name", it_answers_after_one_retry),
        row!("FB-02", "a call that is given the function's name", it_answers_after_two_retries),
        row!("FB-03", "`self` for the injected dependency", it_runs_once_for_each_failed_call),
        row!("FB-04", "an `impl` block for the type", a_methods_fallback_is_told_what_failed),
        row!("FB-05", "as it stands", an_error_within_the_limit_is_answered_for),
        row!("FB-06", "`on = [timeout]` and `idempotent`, so that a timeout is retried", no_timeout_escapes),
        row!("FB-07", "as it stands", it_may_take_nothing),
        row!("FB-08", "as it stands", it_may_take_what_the_function_takes),
        row!("FB-09", "a closure for the handler", a_closure_may_stand_alone),
        row!("FB-10", "as it stands", a_function_may_stand_alone),
        row!("FB-11", "a function that awaits", a_value_is_left_alone),
        row!("FB-12", "an error before the first await", an_early_error_is_answered_for),
        row!("FB-13", "a future inside the value, which is not looked into", a_failed_future_in_a_value_is_a_value),
        row!("FB-14", "a boxed future, returned by hand", a_value_of_a_boxed_future_is_left_alone),
        row!("FB-15", "a boxed future, an error before its first await", an_early_error_of_a_boxed_future),
        row!("FB-16", "a boxed future, an error after an await", a_late_error_of_a_boxed_future),
        left_out("FB-17", CODE),
        left_out("FB-18", CODE),
        left_out("FB-19", TARGET),
        left_out("FB-20", TARGET),
        left_out("FB-21", CODE),
        left_out("FB-22", CODE),
    ]
}

fn told(name: &'static str) -> &'static str {
    name
}

macro_rules! named {
    ($($function:ident $retries:literal)*) => {
        $(#[resilient(retry($retries, backoff = "1ms..1ms"), fallback = told(stringify!($function)))]
        async fn $function(runs: &Runs) -> Result<&'static str, AppError> {
            runs.next();
            Err(TEST)
        })*
    };
}
named! { fb_01 1 fb_02 2 }

async fn it_answers_after_one_retry() {
    let runs = Runs::default();
    assert_eq!(fb_01(&runs).await.unwrap(), "fb_01");
    assert_eq!((runs.count(), site("fb_01").fallback_used), (2, 1));
}

async fn it_answers_after_two_retries() {
    let runs = Runs::default();
    assert_eq!(fb_02(&runs).await.unwrap(), "fb_02");
    assert_eq!((runs.count(), site("fb_02").fallback_used), (3, 1));
}

struct Counting(AtomicU32);

impl Counting {
    #[resilient(retry(1, backoff = "1ms..1ms"), fallback = self.next(), name = "fb-03-one")]
    async fn one(&self, runs: &Runs) -> Result<u32, AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(2, backoff = "1ms..1ms"), fallback = self.next(), name = "fb-03-two")]
    async fn two(&self, runs: &Runs) -> Result<u32, AppError> {
        runs.next();
        Err(TEST)
    }

    fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }
}

async fn it_runs_once_for_each_failed_call() {
    let (it, one, two) = (Counting(AtomicU32::new(33)), Runs::default(), Runs::default());
    assert_eq!((it.one(&one).await.unwrap(), one.count()), (34, 2));
    assert_eq!((it.two(&two).await.unwrap(), two.count()), (35, 3));
}

/// What was told, in words.
fn kind_of(failure: &Failure<AppError>) -> &'static str {
    match (failure.error().and_then(AppError::broken), failure.refusal()) {
        (Some(why), None) => why,
        (None, Some(error)) if error.kind() == ErrorKind::TimedOut => "timed out",
        _ => "something else",
    }
}

struct Block;

#[resilient(retry(1, backoff = "1ms..1ms"), name = "fb-04")]
impl Block {
    #[resilient(fallback = told("first"))]
    async fn first(&self, runs: &Runs) -> Result<&'static str, AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(2, backoff = "1ms..1ms"), fallback = |failure| kind_of(&failure))]
    async fn second(&self, runs: &Runs) -> Result<&'static str, AppError> {
        runs.next();
        Err(TEST)
    }
}

async fn a_methods_fallback_is_told_what_failed() {
    let (first, second) = (Runs::default(), Runs::default());
    assert_eq!((Block.first(&first).await.unwrap(), first.count()), ("first", 2));
    assert_eq!((Block.second(&second).await.unwrap(), second.count()), ("test", 3));
}

#[resilient(timeout = "500ms", retry(1, backoff(constant, first = "1ms", jitter = none)), fallback = |failure| kind_of(&failure))]
async fn fb_05(runs: &Runs) -> Result<&'static str, AppError> {
    runs.next();
    sleep(ms(10)).await;
    Err(TEST)
}

async fn an_error_within_the_limit_is_answered_for() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(fb_05(&runs).await.unwrap(), "test");
    assert_eq!(runs.count(), 2);
    assert!((ms(21)..ms(30)).contains(&clock.read()), "two bodies and a pause: {:?}", clock.read());
}

#[resilient(
    timeout = "500ms",
    idempotent,
    retry(1, on = [timeout], backoff(constant, first = "1ms", jitter = none)),
    fallback = |failure| kind_of(&failure)
)]
async fn fb_06(runs: &Runs) -> Result<&'static str, AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok("late")
}

async fn no_timeout_escapes() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(fb_06(&runs).await.unwrap(), "timed out");
    assert_eq!((runs.count(), site("fb_06").fate_with(Fate::TimedOut, FallbackUse::Used)), (2, 1));
    assert!((ms(1_001)..ms(1_010)).contains(&clock.read()), "two limits and a pause: {:?}", clock.read());
}

fn nothing() -> String {
    "nothing".to_owned()
}

#[resilient(retry(1, backoff = "1ms..1ms"), fallback = nothing)]
async fn fb_07(runs: &Runs) -> Result<String, AppError> {
    runs.next();
    Err(TEST)
}

async fn it_may_take_nothing() {
    let runs = Runs::default();
    assert_eq!(fb_07(&runs).await.unwrap(), "nothing");
    assert_eq!(runs.count(), 2);
}

fn stale(name: &str, page: i32) -> String {
    format!("{name} {page}")
}

#[resilient(retry(1, backoff = "1ms..1ms"), fallback = stale(&name, page))]
async fn fb_08(runs: &Runs, name: String, page: i32) -> Result<String, AppError> {
    runs.next();
    drop(name);
    Err(if page > 0 { TEST } else { AppError::Broken("no page") })
}

async fn it_may_take_what_the_function_takes() {
    let runs = Runs::default();
    assert_eq!(fb_08(&runs, "name".to_owned(), 7).await.unwrap(), "name 7");
    assert_eq!(runs.count(), 2);
}

#[resilient(fallback = |failure| kind_of(&failure))]
async fn fb_09(runs: &Runs) -> Result<&'static str, AppError> {
    runs.next();
    Err(TEST)
}

async fn a_closure_may_stand_alone() {
    let runs = Runs::default();
    assert_eq!((fb_09(&runs).await.unwrap(), runs.count()), ("test", 1));
}

#[resilient(fallback = nothing)]
async fn fb_10(runs: &Runs) -> Result<String, AppError> {
    runs.next();
    Err(TEST)
}

async fn a_function_may_stand_alone() {
    let runs = Runs::default();
    assert_eq!((fb_10(&runs).await.unwrap().as_str(), runs.count()), ("nothing", 1));
}

fn fallback() -> &'static str {
    "fallback"
}

/// How the body comes to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Value,
    Early,
    Late,
}

macro_rules! awaiting {
    ($($function:ident)*) => {
        $(#[resilient(fallback = fallback)]
        async fn $function(end: End) -> Result<&'static str, AppError> {
            if end == End::Early {
                return Err(TEST);
            }
            sleep(ms(10)).await;
            if end == End::Late { Err(TEST) } else { Ok("success") }
        })*
    };
}
awaiting! { fb_11 fb_12 }

macro_rules! boxed {
    ($($function:ident)*) => {
        $(#[resilient(fallback = fallback)]
        fn $function(end: End) -> BoxFuture<'static, Result<&'static str, AppError>> {
            Box::pin(async move {
                if end == End::Early {
                    return Err(TEST);
                }
                sleep(ms(10)).await;
                if end == End::Late { Err(TEST) } else { Ok("success") }
            })
        })*
    };
}
boxed! { fb_14 fb_15 fb_16 }

/// One call, whose answer is the body's or the fallback's.
#[track_caller]
fn answered(name: &str, answer: &Result<&'static str, AppError>, by_fallback: bool) {
    let expected = if by_fallback { "fallback" } else { "success" };
    assert_eq!(*answer.as_ref().unwrap(), expected);
    let figures = site(name);
    assert_eq!((figures.calls, figures.error, figures.fallback_used), (1, by_fallback.into(), by_fallback.into()));
}

async fn a_value_is_left_alone() {
    answered("fb_11", &fb_11(End::Value).await, false);
}

async fn an_early_error_is_answered_for() {
    answered("fb_12", &fb_12(End::Early).await, true);
}

#[resilient(fallback = async { Ok("fallback") }.boxed())]
async fn fb_13() -> Result<BoxFuture<'static, Result<&'static str, AppError>>, AppError> {
    Ok(async { Err(TEST) }.boxed())
}

async fn a_failed_future_in_a_value_is_a_value() {
    let inner = fb_13().await.unwrap();
    assert_eq!((site("fb_13").ok, site("fb_13").fallback_used), (1, 0));
    assert_eq!(inner.await.unwrap_err().broken(), Some("test"));
}

async fn a_value_of_a_boxed_future_is_left_alone() {
    answered("fb_14", &fb_14(End::Value).await, false);
}

async fn an_early_error_of_a_boxed_future() {
    answered("fb_15", &fb_15(End::Early).await, true);
}

async fn a_late_error_of_a_boxed_future() {
    answered("fb_16", &fb_16(End::Late).await, true);
}
