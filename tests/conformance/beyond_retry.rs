//! What the peer's implementation tests of retry and breaker beyond the specification.
//!
//! Invariants: executions are counted by the body; a wait is by the paused clock.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use futures::poll;
use tokio::time::sleep;
use watertight::check::Problem;
use watertight::guard::{Backoff, Budget, Jitter, Retry};
use watertight::metrics::BreakerState;
use watertight::{Class, Classify, Guard, Verdict, resilient};
use watertight_tests::{AppError, breaker, ms, site};

use crate::harness::{Entry, left_out, row};
use crate::held::{Held, Post, Start};
use crate::letters::{Service, letter, letters};
use crate::support::{IO, Runs, TEST, is_io, is_test};

const NO_HOOK: &str = "there is no hook before a retry; the body asks `attempt()`";
const JUDGE: &str = "a guard with a judge of the whole answer";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("SX-01", "a pause that would not end in time is not begun", a_pause_up_to_the_longest_duration),
        row!("SX-02", "as it stands", three_retries_are_enough_or_not),
        row!("SX-03", "a hundred retries for no limit", ten_failures_and_a_value),
        row!("SX-04", "the caller goes away", who_goes_away_is_neither_retried_nor_answered_for),
        left_out("SX-05", "a panic is a bug and surfaces; every other error can be named"),
        row!("SX-06", "a hundred retries, a microsecond apart", the_most_retries_and_a_fallback),
        row!(
            "SX-07",
            "differs: the last value as it is; a guard with a judge of the whole answer",
            a_value_that_is_no_answer_is_tried_again
        ),
        row!("SX-08", JUDGE, a_value_that_is_one_is_not),
        row!("SX-09", "as it stands", an_error_that_is_named_or_not),
        row!("SX-10", JUDGE, no_answer_then_an_error_then_a_value),
        left_out("SX-11", "`on` is one key for types and predicates, and a key given twice is refused (IV-04)"),
        row!("SX-12", NO_HOOK, the_body_knows_that_it_is_tried_again),
        left_out("SX-13", NO_HOOK),
        left_out("SX-14", NO_HOOK),
        row!("SX-15", "as it stands", a_last_success_opens_it),
        row!("SX-16", "as it stands", the_window_rolls_on),
        row!("SX-17", "as it stands", half_open_is_no_stampede),
        row!("SX-18", "`on` takes a predicate", an_error_that_is_not_named_closes_it),
        row!(
            "SX-19",
            "differs: it half-opens with the first call after its cooldown, not by a timer",
            three_changes_from_closed_to_closed
        ),
        row!("SX-20", "by name", reset_by_hand),
        row!("SX-21", "differs: a count of none for an error", nobodys_breaker),
        row!(
            "SX-22",
            "differs: one name is shared; with other figures it is a finding of `check()`",
            one_name_with_two_sets_of_figures
        ),
        row!("SX-23", "as it stands", attempts_of_several_calls_share_the_window),
    ]
}

/// An error that asks to be left alone for so many milliseconds.
#[derive(Debug)]
struct After(u64);

impl Classify for After {
    fn class(&self) -> Class {
        Class::Retryable
    }

    fn retry_after(&self) -> Option<std::time::Duration> {
        Some(ms(self.0))
    }
}

#[resilient(retry(3, max_duration = "1000ms", budget = off))]
async fn sx_01(runs: &Runs, first: u64) -> Result<(), After> {
    Err(After(if runs.next() == 1 { first } else { 1 }))
}

async fn a_pause_up_to_the_longest_duration() {
    for (first, executions) in [(500, 4), (1_000, 1), (1_500, 1)] {
        let runs = Runs::default();
        assert_eq!(sx_01(&runs, first).await.unwrap_err().0, if executions == 1 { first } else { 1 });
        assert_eq!(runs.count(), executions, "after a pause of {first} ms");
    }
}

macro_rules! services {
    ($($function:ident [$($keys:tt)*])*) => {
        $(#[resilient($($keys)*)]
        async fn $function(service: &Service) -> Result<(), AppError> {
            service.serve()
        })*
    };
}

services! {
    sx_02 [retry(3, backoff = "1ms..1ms")]
    sx_03 [retry(100, backoff = "1ms..1ms", budget = off)]
    sx_15 [breaker(window = 4)]
    sx_16 [breaker(window = 2, failures = "40%", cooldown = "300ms")]
    sx_20 [breaker(window = 2)]
}

async fn three_retries_are_enough_or_not() {
    for (failures, told, executions) in [(2, "k", 3), (3, "k", 4), (4, "T", 4)] {
        let service = Service::well_after(failures);
        assert_eq!(letters(1, async || sx_02(&service).await).await, told);
        assert_eq!(service.count(), executions, "{failures} failures");
    }
}

async fn ten_failures_and_a_value() {
    let service = Service::well_after(10);
    assert_eq!((letters(1, async || sx_03(&service).await).await.as_str(), service.count()), ("k", 11));
}

static ANSWERED_FOR: AtomicU32 = AtomicU32::new(0);

#[resilient(retry(3, backoff = "1ms..1ms"), fallback = || { ANSWERED_FOR.fetch_add(1, Ordering::SeqCst); })]
async fn sx_04(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    std::future::pending().await
}

async fn who_goes_away_is_neither_retried_nor_answered_for() {
    let runs = Runs::default();
    let mut call = Box::pin(sx_04(&runs));
    assert!(poll!(&mut call).is_pending());
    drop(call);
    sleep(ms(500)).await;
    assert_eq!((runs.count(), ANSWERED_FOR.load(Ordering::SeqCst)), (1, 0));
    assert_eq!((site("sx_04").cancelled, site("sx_04").calls), (1, 1));
}

#[resilient(
    retry(100, backoff(constant, first = "1us", jitter = none), budget = off),
    fallback = || "fallback"
)]
async fn sx_06(runs: &Runs) -> Result<&'static str, AppError> {
    runs.next();
    Err(TEST)
}

async fn the_most_retries_and_a_fallback() {
    let runs = Runs::default();
    assert_eq!((sx_06(&runs).await.unwrap(), runs.count()), ("fallback", 101));
}

/// No value is no answer, and an error is one that is worth another try or is not.
fn judged(answer: &Result<Option<u8>, AppError>) -> Verdict {
    match answer {
        Ok(None) => Verdict::error(Class::Retryable, None),
        Ok(Some(_)) => Verdict::OK,
        Err(error) => Verdict::error(if is_test(error) { Class::Retryable } else { Class::Permanent }, None),
    }
}

/// What a guard makes of these answers, one an execution, and how many executions it took.
async fn through_a_judge(name: &'static str, answers: &[Result<Option<u8>, &'static str>]) -> (Option<u8>, u32) {
    let pause = Backoff::constant().first(ms(1)).jitter(Jitter::None);
    let guard =
        Guard::named(name).retry(Retry::new(3).backoff(pause).budget(Budget::off())).build().unwrap().judge(judged);
    let runs = Runs::default();
    let answer = guard.run(|| {
        let place = runs.next() as usize - 1;
        let answer = answers[place.min(answers.len() - 1)].map_err(AppError::Broken);
        async { answer }
    });
    (answer.await.expect("a value in the end"), runs.count())
}

async fn a_value_that_is_no_answer_is_tried_again() {
    assert_eq!(through_a_judge("sx-07", &[Ok(None)]).await, (None, 4), "the last value, as it is");
}

async fn a_value_that_is_one_is_not() {
    assert_eq!(through_a_judge("sx-08", &[Ok(Some(7))]).await, (Some(7), 1));
}

async fn no_answer_then_an_error_then_a_value() {
    assert_eq!(through_a_judge("sx-10", &[Ok(None), Err("test"), Ok(Some(7))]).await, (Some(7), 3));
}

#[resilient(retry(3, backoff = "1ms..1ms", on = is_test))]
async fn sx_09(runs: &Runs, why: &'static str) -> Result<(), AppError> {
    runs.next();
    Err(AppError::Broken(why))
}

async fn an_error_that_is_named_or_not() {
    for (why, executions) in [("test", 4), ("io", 1)] {
        let runs = Runs::default();
        assert_eq!(sx_09(&runs, why).await.unwrap_err().broken(), Some(why));
        assert_eq!(runs.count(), executions, "{why}");
    }
}

#[resilient(retry(3, backoff = "1ms..1ms"))]
async fn sx_12(before: &Runs) -> Result<(), AppError> {
    if watertight::attempt() > 0 {
        before.next();
    }
    Err(TEST)
}

async fn the_body_knows_that_it_is_tried_again() {
    let before = Runs::default();
    sx_12(&before).await.unwrap_err();
    assert_eq!(before.count(), 3, "before each retry and not before the first attempt");
}

async fn a_last_success_opens_it() {
    let service = Service::well_at(&[4]);
    assert_eq!((letters(5, async || sx_15(&service).await).await.as_str(), service.count()), ("TTTkO", 4));
}

async fn the_window_rolls_on() {
    let service = Service::ill_at(&[6, 58]);
    assert_eq!(letters(7, async || sx_16(&service).await).await, "kkkkkTO");
    assert_eq!(service.count(), 6);
    sleep(ms(400)).await;
    assert_eq!(letters(51, async || sx_16(&service).await).await, "k".repeat(51));
    assert_eq!(letters(2, async || sx_16(&service).await).await, "TO", "one failure of two opens it again");
    assert_eq!(service.count(), 58);
}

#[resilient(breaker(window = 10, cooldown = "200ms", probes = 5))]
async fn sx_17(post: Option<Arc<Post>>) -> Result<(), AppError> {
    match post {
        Some(post) => post.stay().await,
        None => Err(TEST),
    }
}

async fn half_open_is_no_stampede() {
    assert_eq!(letters(11, async || sx_17(None).await).await, "TTTTTTTTTTO");
    sleep(ms(200)).await;
    let start: Start = |post| Box::pin(sx_17(Some(post)));
    Held::begin(start).await.release().await.unwrap();
    let mut probes = Vec::new();
    for _ in 0..4 {
        probes.push(Held::begin(start).await);
    }
    assert!(probes.iter().all(Held::is_inside));
    assert_eq!(letters(10, async || sx_17(None).await).await, "OOOOOOOOOO");
    for probe in probes {
        assert_eq!(breaker("sx_17").state, BreakerState::HalfOpen);
        probe.release().await.unwrap();
    }
    assert_eq!((breaker("sx_17").state, site("sx_17").attempts()), (BreakerState::Closed, 10 + 5));
    Held::begin(start).await.release().await.unwrap();
    assert_eq!(site("sx_17").attempts(), 10 + 5 + 1);
}

#[resilient(breaker(window = 4, cooldown = "200ms", on = is_test))]
async fn sx_18(answer: Result<(), AppError>) -> Result<(), AppError> {
    answer
}

async fn an_error_that_is_not_named_closes_it() {
    assert_eq!(letters(5, async || sx_18(Err(TEST)).await).await, "TTTTO");
    sleep(ms(200)).await;
    for _ in 0..11 {
        assert!(is_io(&sx_18(Err(IO)).await.unwrap_err()), "the probe and ten more");
        assert_eq!(breaker("sx_18").state, BreakerState::Closed);
    }
}

#[resilient(breaker(name = "sx-19", window = 10, cooldown = "200ms"))]
async fn sx_19(answer: Result<(), AppError>) -> Result<(), AppError> {
    answer
}

async fn three_changes_from_closed_to_closed() {
    let changes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&changes);
    watertight::breaker::on_change("sx-19", move |change| heard.lock().unwrap().push(change.to));
    assert_eq!(letters(10, async || sx_19(Err(TEST)).await).await, "T".repeat(10));
    sleep(ms(600)).await;
    assert_eq!(breaker("sx-19").state, BreakerState::Open, "nobody has asked");
    assert_eq!(letter(&sx_19(Ok(())).await), 'k');
    assert_eq!(breaker("sx-19").state, BreakerState::Closed);
    assert_eq!(*changes.lock().unwrap(), [BreakerState::Open, BreakerState::HalfOpen, BreakerState::Closed]);
}

async fn reset_by_hand() {
    let service = Service::well_after(2);
    assert_eq!(letters(3, async || sx_20(&service).await).await, "TTO");
    assert_eq!(watertight::breaker::reset("sx_20"), 1);
    assert_eq!(letters(2, async || sx_20(&service).await).await, "kk");
    assert_eq!(breaker("sx_20").state, BreakerState::Closed);
}

async fn nobodys_breaker() {
    assert!(watertight::snapshot().breaker("sx-21").is_none());
    assert_eq!((watertight::breaker::reset("sx-21"), watertight::breaker::isolate("sx-21")), (0, 0));
}

#[allow(dead_code)] // declared is what it is about
#[resilient(breaker(name = "sx-22", window = 10))]
async fn sx_22() -> Result<(), AppError> {
    Ok(())
}

#[allow(dead_code)] // the same
#[resilient(breaker(name = "sx-22", window = 20))]
async fn sx_22_again() -> Result<(), AppError> {
    Ok(())
}

async fn one_name_with_two_sets_of_figures() {
    let report = watertight::check();
    let found: Vec<_> = report.findings.iter().filter(|finding| finding.name == "sx-22").collect();
    assert_eq!(found.len(), 1, "{report}");
    let sites: Vec<_> = found[0].sites.iter().map(|site| site.name).collect();
    assert_eq!((found[0].problem, found[0].strategy), (Problem::Conflict, "breaker"));
    assert_eq!(sites, ["sx_22", "sx_22_again"]);
    assert!(report.deny().is_err(), "an application may refuse to start");
}

#[resilient(retry(2, backoff = "1ms..1ms"), breaker(window = 5), fallback = || "fallback")]
async fn sx_23(runs: &Runs) -> Result<&'static str, AppError> {
    runs.next();
    Err(TEST)
}

async fn attempts_of_several_calls_share_the_window() {
    let runs = Runs::default();
    for executions in [3, 5, 5] {
        assert_eq!((sx_23(&runs).await.unwrap(), runs.count()), ("fallback", executions));
    }
    assert_eq!(breaker("sx_23").state, BreakerState::Open);
}
