//! Breaker around timeout and bulkhead, inside of retry.
//!
//! In the peer an open breaker is one more error that retry tries again. Here it ends the attempts, and does so before a
//! pause: when the attempt just made has opened it, the caller gets that attempt's own error at once. Where retry is to
//! wait the cooldown out, `open` is named.
//!
//! Invariants: every attempt is one result in the window; what never reached the body is counted by our own figures.

use std::sync::Arc;

use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::{Refusal, StopReason, resilient};
use watertight_tests::{AppError, Stopwatch, breaker, ms, occupancy, site};

use crate::harness::{Entry, row};
use crate::held::{Held, Post, Start};
use crate::letters::{Service, letter, letters};
use crate::support::{Runs, TEST, is_test};

const ENDS: &str = "differs: an open breaker ends the attempts at once, with the body's last error";
const SPAWNED: &str = "the same on a task of its own";
const ENDS_SPAWNED: &str = "differs: as CX-06, on a task of its own";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("CX-01", "as it stands", a_timeout_is_a_failure),
        row!("CX-02", "`on = [full]`", a_timeout_that_is_not_named_is_a_success),
        row!("CX-03", "`on = any`", refusals_count_at_once_with_a_queue),
        row!("CX-04", "`on = any`", refusals_count_at_once_without_a_queue),
        row!("CX-05", "`on` takes a predicate", refusals_that_are_not_named_do_not_count),
        row!("CX-06", ENDS, every_attempt_is_a_result),
        row!("CX-07", "as it stands", too_few_attempts_do_not_open_it),
        row!(
            "CX-08",
            "an `impl` block for the type, `on = [error, open]`",
            an_open_breaker_that_is_named_is_tried_again
        ),
        row!("CX-09", "an `impl` block for the type", a_methods_retry_has_too_few_attempts),
        row!("CX-10", ENDS, attempts_that_time_out_open_it),
        row!("CX-11", "as it stands", retry_waits_out_the_cooldown),
        row!("CX-12", "as it stands", an_open_breaker_that_is_not_named_is_final),
        row!("CX-13", "`abort` takes only errors of the body; `open` is not named", an_open_breaker_can_be_made_final),
        row!("CX-14", ENDS_SPAWNED, every_attempt_is_a_result_on_a_task),
        row!("CX-15", SPAWNED, too_few_attempts_do_not_open_it_on_a_task),
        row!("CX-16", ENDS_SPAWNED, attempts_that_time_out_open_it_on_a_task),
        row!("CX-17", SPAWNED, retry_waits_out_the_cooldown_on_a_task),
    ]
}

#[resilient(timeout = "500ms", breaker(window = 2, failures = "75%", cooldown = "50s"))]
async fn cx_01(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok(())
}

async fn a_timeout_is_a_failure() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(letters(3, async || cx_01(&runs).await).await, "XXO");
    assert_eq!(runs.count(), 2);
    clock.assert_reads(ms(1_000));
}

#[resilient(
    timeout = "500ms",
    bulkhead = "cx-02:1",
    breaker(window = 2, failures = "75%", cooldown = "50s", on = [full])
)]
async fn cx_02(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(1_000)).await;
    Ok(())
}

async fn a_timeout_that_is_not_named_is_a_success() {
    let runs = Runs::default();
    assert_eq!(letters(3, async || cx_02(&runs).await).await, "XXX");
    let window = breaker("cx_02");
    assert_eq!((runs.count(), window.calls, window.failures), (3, 2, 0), "the last two, as successes");
}

macro_rules! compartments {
    ($($function:ident $declared:literal [$($on:tt)*])*) => {
        $(#[resilient(
            bulkhead = $declared,
            breaker(window = 3, failures = "100%", cooldown = "50s", $($on)*)
        )]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

compartments! {
    cx_03 "cx-03:1/queue:1/wait:1m" [on = any]
    cx_04 "cx-04:1" [on = any]
    cx_05 "cx-05:1/queue:1/wait:1m" [on = is_test]
}

/// A runs, as many wait as may, and the letters of five more.
async fn five_beyond(start: Start, queue: usize) -> String {
    let mut accepted = vec![Held::begin(start).await];
    assert!(accepted[0].is_inside());
    for _ in 0..queue {
        accepted.push(Held::begin(start).await);
    }
    let clock = Stopwatch::start();
    let beyond = letters(5, async || start(Arc::default()).await).await;
    clock.assert_reads(ms(0));
    for call in accepted {
        call.release().await.expect("it was accepted before the breaker opened");
    }
    beyond
}

async fn refusals_count_at_once_with_a_queue() {
    assert_eq!(five_beyond(|post| Box::pin(cx_03(post)), 1).await, "FFFOO");
    assert_eq!((breaker("cx_03").state, occupancy("cx-03")), (BreakerState::Open, (0, 0)));
}

async fn refusals_count_at_once_without_a_queue() {
    assert_eq!(five_beyond(|post| Box::pin(cx_04(post)), 0).await, "FFFOO");
    assert_eq!(breaker("cx_04").state, BreakerState::Open, "a success that was begun before does not close it");
}

async fn refusals_that_are_not_named_do_not_count() {
    assert_eq!(five_beyond(|post| Box::pin(cx_05(post)), 1).await, "FFFFF");
    let window = breaker("cx_05");
    assert_eq!((window.calls, window.failures), (2, 0), "nothing but the two that were let in");
}

macro_rules! attempts {
    ($($function:ident $retries:literal)*) => {
        $(#[resilient(
            retry($retries, on = is_test, backoff = "1ms..1ms", budget = off),
            breaker(window = 4, failures = "75%", cooldown = "50s")
        )]
        async fn $function(service: Arc<Service>) -> Result<(), AppError> {
            service.serve()
        })*
    };
}
attempts! { cx_06 7 cx_07 2 cx_14 7 cx_15 2 }

async fn every_attempt_is_a_result() {
    let service = Arc::new(Service::down());
    assert_eq!(letter(&cx_06(Arc::clone(&service)).await), 'T');
    opened_by_four(&service, "cx_06");
    assert_eq!(letter(&cx_06(service).await), 'O');
}

async fn every_attempt_is_a_result_on_a_task() {
    let service = Arc::new(Service::down());
    let call = tokio::spawn(cx_14(Arc::clone(&service)));
    assert_eq!(letter(&call.await.expect("no panic")), 'T');
    opened_by_four(&service, "cx_14");
    assert_eq!(letter(&cx_14(service).await), 'O');
}

#[track_caller]
fn opened_by_four(service: &Service, name: &str) {
    let figures = site(name);
    assert_eq!((service.count(), figures.retries, figures.stopped_for(StopReason::Open)), (4, 3, 1));
    assert_eq!(breaker(name).state, BreakerState::Open);
}

async fn too_few_attempts_do_not_open_it() {
    let service = Arc::new(Service::down());
    assert_eq!(letter(&cx_07(Arc::clone(&service)).await), 'T');
    assert_eq!((service.count(), breaker("cx_07").state), (3, BreakerState::Closed));
}

async fn too_few_attempts_do_not_open_it_on_a_task() {
    let service = Arc::new(Service::down());
    let call = tokio::spawn(cx_15(Arc::clone(&service)));
    assert_eq!(letter(&call.await.expect("no panic")), 'T');
    assert_eq!((service.count(), breaker("cx_15").state), (3, BreakerState::Closed));
}

struct Block;

#[resilient(
    retry(7, on = [error, open], backoff = "1ms..1ms", budget = off),
    breaker(window = 4, failures = "75%", cooldown = "50s"),
    name = "cx"
)]
impl Block {
    async fn cx_08(&self, service: &Service) -> Result<(), AppError> {
        service.serve()
    }

    #[resilient(retry(2, on = [error, open], backoff = "1ms..1ms", budget = off))]
    async fn cx_09(&self, service: &Service) -> Result<(), AppError> {
        service.serve()
    }
}

async fn an_open_breaker_that_is_named_is_tried_again() {
    let service = Service::down();
    assert_eq!(letter(&Block.cx_08(&service).await), 'O');
    let figures = site("cx.cx_08");
    assert_eq!((service.count(), figures.retries), (4, 7), "four of the eight attempts met it open");
    assert_eq!((figures.refused_for(Refusal::Open), figures.stopped_for(StopReason::Exhausted)), (1, 1));
}

async fn a_methods_retry_has_too_few_attempts() {
    let service = Service::down();
    assert_eq!(letter(&Block.cx_09(&service).await), 'T');
    assert_eq!(service.count(), 3);
}

macro_rules! hanging {
    ($($function:ident)*) => {
        $(#[resilient(
            timeout = "100ms",
            idempotent,
            retry(
                7,
                on = [is_test, timeout],
                backoff(constant, first = "1ms", jitter = none),
                max_duration = "20s",
                budget = off
            ),
            breaker(window = 4, failures = "75%", cooldown = "50s")
        )]
        async fn $function(runs: Arc<Runs>) -> Result<(), AppError> {
            runs.next();
            sleep(ms(5_000)).await;
            Err(TEST)
        })*
    };
}
hanging! { cx_10 cx_16 }

async fn attempts_that_time_out_open_it() {
    let (runs, clock) = (Arc::new(Runs::default()), Stopwatch::start());
    assert_eq!(letter(&cx_10(Arc::clone(&runs)).await), 'X');
    assert_eq!((runs.count(), site("cx_10").stopped_for(StopReason::Open)), (4, 1));
    assert!((ms(403)..ms(415)).contains(&clock.read()), "four limits and three pauses: {:?}", clock.read());
    assert_eq!(letter(&cx_10(runs).await), 'O');
}

async fn attempts_that_time_out_open_it_on_a_task() {
    let runs = Arc::new(Runs::default());
    let call = tokio::spawn(cx_16(Arc::clone(&runs)));
    assert_eq!(letter(&call.await.expect("no panic")), 'X');
    assert_eq!((runs.count(), site("cx_16").stopped_for(StopReason::Open)), (4, 1));
    assert_eq!(letter(&cx_16(runs).await), 'O');
}

macro_rules! after_an_opening {
    ($($function:ident [$($retry:tt)*])*) => {
        $(#[resilient(
            idempotent,
            timeout = "10s",
            retry(20, budget = off, $($retry)*),
            breaker(window = 4, failures = "75%", cooldown = "1s")
        )]
        async fn $function(service: Arc<Service>) -> Result<(), AppError> {
            service.serve()
        })*
    };
}

after_an_opening! {
    cx_11 [on = [open], backoff(constant, first = "100ms", jitter = none)]
    cx_12 [on = [timeout], backoff(constant, first = "200ms", jitter = none)]
    cx_13 [on = [error], abort = is_test, backoff(constant, first = "200ms", jitter = none)]
    cx_17 [on = [open], backoff(constant, first = "100ms", jitter = none)]
}

/// How the attempts are made that come after the opening.
type After = fn(Arc<Service>) -> futures::future::BoxFuture<'static, Result<(), AppError>>;

/// Four failures, and the time the next call takes, with its letter.
async fn opened_then(call: After) -> (char, Stopwatch) {
    let service = Arc::new(Service::well_after(4));
    assert_eq!(letters(4, async || call(Arc::clone(&service)).await).await, "TTTT");
    let clock = Stopwatch::start();
    (letter(&call(Arc::clone(&service)).await), clock)
}

/// It answered when the cooldown was over, which is shortened by up to a tenth.
#[track_caller]
fn waited_it_out((letter, clock): (char, Stopwatch)) {
    assert_eq!(letter, 'k');
    assert!((ms(900)..ms(1_110)).contains(&clock.read()), "at the first attempt after it: {:?}", clock.read());
}

async fn retry_waits_out_the_cooldown() {
    waited_it_out(opened_then(|service| Box::pin(cx_11(service))).await);
    assert!((9..=10).contains(&site("cx_11").retries), "every 100 ms: {}", site("cx_11").retries);
}

async fn retry_waits_out_the_cooldown_on_a_task() {
    let end = opened_then(|service| Box::pin(async { tokio::spawn(cx_17(service)).await.expect("no panic") }));
    waited_it_out(end.await);
}

async fn an_open_breaker_that_is_not_named_is_final() {
    let (letter, clock) = opened_then(|service| Box::pin(cx_12(service))).await;
    assert_eq!((letter, site("cx_12").stopped_for(StopReason::Open)), ('O', 1));
    clock.assert_reads(ms(0));
}

async fn an_open_breaker_can_be_made_final() {
    let (letter, clock) = opened_then(|service| Box::pin(cx_13(service))).await;
    assert_eq!((letter, site("cx_13").stopped_for(StopReason::Open)), ('O', 1));
    clock.assert_reads(ms(0));
}
