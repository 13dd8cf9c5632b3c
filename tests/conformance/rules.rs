//! The rules that the rows rest on: retry (R), bulkhead (B), timeout (T), fallback (F), settings (K), execution (A).
//!
//! Most of them are what some row shows; what no row shows has its test here.
//!
//! Invariants: a rule that is shown by rows names each of them.

use std::sync::Arc;

use futures::future::join_all;
use futures::poll;
use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, Failure, StopReason, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, breaker, ms, occupancy, site};

use crate::harness::{Entry, left_out, row, shown_by};
use crate::support::{IO, Runs, TEST};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        shown_by("R1", "predicates for types", &["RT-11", "RT-13", "RT-14"]),
        shown_by("R2", "as it stands", &["RT-01", "RT-06"]),
        row!(
            "R3",
            "gives up before a pause that would not end in time",
            the_longest_duration_begins_nothing_and_cuts_nothing
        ),
        row!("R4", "the attempts are named, as the peer does", when_attempts_and_duration_are_both_used_up),
        row!("R5", "as it stands", each_attempt_passes_everything_anew),
        shown_by(
            "R6",
            "differs: they are tried again only where they are named",
            &["RX-01", "RX-03", "BR-02", "BR-07"],
        ),
        shown_by("R7", "the caller's task is aborted", &["AS-18"]),
        shown_by("R8", "one kind of failure", &["RT-28"]),
        shown_by("R9", "a spawned task for a body that ignores its end", &["TU-09"]),
        shown_by("B1", "as it stands", &["BR-05", "BR-12"]),
        shown_by("B2", "as it stands", &["BR-06"]),
        shown_by("B3", "a queue is there where it is written", &["BH-02", "BH-15"]),
        row!("B4", "as it stands", a_burst_of_exactly_what_fits_is_taken),
        shown_by("B5", "as it stands", &["BH-16"]),
        row!("B6", "`full` is named in breaker and retry", a_refusal_goes_out_through_all_that_stands_around_it),
        row!("B7", "as it stands", the_slot_is_free_before_the_answer_and_while_the_fallback_runs),
        shown_by("B8", "differs: the state belongs to the name", &["BL-01", "BL-02", "BL-03"]),
        shown_by("T1", "differs: `timeout` runs from the grant of the slot, `deadline` counts the queue", &["TU-08"]),
        shown_by("T2", "a wait in vain is an error of its own", &["TU-05", "TU-06", "TU-07"]),
        shown_by("T3", "a guarded call that was begun in the slot and spawned keeps it", &["TU-04", "TU-05"]),
        shown_by("T4", "differs: what it answered holds, and is counted as an overrun", &["TU-01"]),
        shown_by("T5", "no deadline for no interrupt flag", &["TU-03"]),
        shown_by("T6", "as it stands", &["RX-01"]),
        row!("T7", "an open breaker refuses; no attempt is counted", an_open_breaker_starts_no_clock),
        shown_by("T8", "as it stands", &["TU-09", "TU-10"]),
        shown_by("T9", "the peer's fault is not repeated", &["TU-07"]),
        row!("F1", "`on = any`", a_fallback_sees_the_last_failure_and_answers_for_an_open_breaker),
        row!("F2", "one predicate for both lists", what_is_taken_out_stays_out_then_what_is_named_is_answered_for),
        row!("F3", "as it stands", a_fallback_is_not_guarded),
        row!("F4", "arguments and the failure", a_fallback_can_have_the_arguments_and_the_error),
        shown_by("F5", "does not compile", &["IV-02", "IV-03"]),
        row!("F6", "differs: a fallback that is guarded itself is an ordinary call", a_guarded_fallback_is_guarded),
        shown_by(
            "K1",
            "differs: the narrower scope goes before the wider, wherever the attribute stands",
            &["CF-01", "CF-03", "CF-06", "CF-08"],
        ),
        shown_by("K2", "as it stands", &["DS-04", "DS-05", "DS-06", "DS-07"]),
        shown_by(
            "K3",
            "differs: a fallback that answers for everything stays on",
            &["DN-02", "DS-01", "DS-08", "DS-09", "DS-10"],
        ),
        row!(
            "K4",
            "differs: every figure and switch may change while calls are made",
            outside::a_change_holds_for_the_next_call
        ),
        row!(
            "K5",
            "differs: a key for what is not there is a mistake where it names one function",
            outside::a_key_for_nothing
        ),
        row!(
            "K6",
            "in the code it does not compile, see IV-07 to IV-20",
            outside::whatever_is_wrong_is_told_and_changes_nothing
        ),
        row!(
            "K7",
            "differs: figures are there from the start, for whatever is switched on again",
            outside::counts_go_on
        ),
        left_out("K8", "there is no other way to run an async function than to await it"),
        row!("A1", "as it stands", a_call_says_everything_when_it_is_awaited),
        shown_by("A2", "a task-local", &["AS-05", "AS-06"]),
        shown_by("A3", "a guarded call that was begun in the slot and spawned keeps it", &["AS-16", "AS-17"]),
    ]
}

#[resilient(retry(5, backoff(constant, first = "400ms", jitter = none), max_duration = "1s"))]
async fn r_3(runs: &Runs, length: u64) -> Result<(), AppError> {
    runs.next();
    sleep(ms(length)).await;
    Err(TEST)
}

async fn the_longest_duration_begins_nothing_and_cuts_nothing() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(r_3(&runs, 1_500).await.unwrap_err().broken(), Some("test"));
    assert_eq!(runs.count(), 1);
    clock.assert_reads(ms(1_500));
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(r_3(&runs, 200).await.unwrap_err().broken(), Some("test"));
    assert_eq!(runs.count(), 2, "0 to 200, 600 to 800, and no pause of 400 fits");
    assert!((ms(800)..ms(805)).contains(&clock.read()), "it gives up at once: {:?}", clock.read());
}

#[resilient(retry(1, backoff(constant, first = "1ms", jitter = none), max_duration = "1s"))]
async fn r_4() -> Result<(), AppError> {
    sleep(ms(600)).await;
    Err(TEST)
}

async fn when_attempts_and_duration_are_both_used_up() {
    let clock = Stopwatch::start();
    assert_eq!(r_4().await.unwrap_err().broken(), Some("test"));
    assert!(clock.read() >= ms(1_200), "both: {:?}", clock.read());
    let figures = site("r_4");
    assert_eq!((figures.attempts(), figures.stopped_for(StopReason::Exhausted)), (2, 1));
    assert_eq!(figures.stopped_for(StopReason::MaxDuration), 0);
}

#[resilient(
    timeout = "500ms",
    bulkhead = "r-5:1",
    breaker(window = 10, failures = "100%"),
    retry(2, backoff(constant, first = "1ms", jitter = none))
)]
async fn r_5() -> Result<(), AppError> {
    sleep(ms(400)).await;
    Err(TEST)
}

async fn each_attempt_passes_everything_anew() {
    let clock = Stopwatch::start();
    assert_eq!(r_5().await.unwrap_err().broken(), Some("test"), "no attempt exceeds its own timeout");
    assert!((ms(1_200)..ms(1_210)).contains(&clock.read()), "{:?}", clock.read());
    let of_breaker = breaker("r_5");
    assert_eq!((of_breaker.calls, of_breaker.failures), (3, 3), "one result for each attempt");
    assert_eq!((site("r_5").attempts(), site("r_5").entered_at_once), (3, 3), "one slot for each attempt");
}

#[resilient(bulkhead = "b-4:3/queue:4/wait:1m")]
async fn b_4(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

async fn a_burst_of_exactly_what_fits_is_taken() {
    let gate = Gate::shut();
    for extra in 0..3 {
        let mut burst: Vec<_> = (0..7 + extra).map(|_| Box::pin(b_4(&gate))).collect();
        let mut refused = 0;
        for call in &mut burst {
            refused += usize::from(poll!(call).is_ready());
        }
        assert_eq!((refused, occupancy("b-4")), (extra, (3, 4)), "seven and {extra}");
    }
    let burst = join_all((0..7).map(|_| b_4(&gate)));
    gate.open();
    assert!(burst.await.iter().all(Result::is_ok));
}

#[resilient(
    bulkhead = "b-6:1",
    breaker(window = 3, failures = "100%", on = [full]),
    retry(2, on = [full], backoff(constant, first = "1ms", jitter = none)),
    fallback = |failure: Failure<AppError>| failure.refusal().map(watertight::Error::kind)
)]
async fn b_6(gate: &Gate) -> Result<Option<ErrorKind>, AppError> {
    gate.opened().await;
    Ok(None)
}

async fn a_refusal_goes_out_through_all_that_stands_around_it() {
    let gate = Gate::shut();
    let mut holder = Box::pin(b_6(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(b_6(&gate).await.unwrap(), Some(ErrorKind::BulkheadFull), "the fallback hears of it");
    assert_eq!(site("b_6").retries, 2, "the retry tried again");
    assert_eq!(breaker("b_6").state, BreakerState::Open, "the breaker counted all three");
    gate.open();
    assert_eq!(holder.await.unwrap(), None);
}

#[resilient(bulkhead = "b-7:1", fallback = |_failure: Failure<AppError>| occupancy("b-7"))]
async fn b_7(fails: bool) -> Result<(u32, u32), AppError> {
    sleep(ms(1)).await;
    if fails { Err(TEST) } else { Ok(occupancy("b-7")) }
}

async fn the_slot_is_free_before_the_answer_and_while_the_fallback_runs() {
    assert_eq!(b_7(false).await.unwrap(), (1, 0), "in the body");
    assert_eq!(occupancy("b-7"), (0, 0), "at once after it");
    assert_eq!(b_7(true).await.unwrap(), (0, 0), "in the fallback");
}

#[resilient(timeout = "500ms", breaker)]
async fn t_7() -> Result<(), AppError> {
    sleep(ms(1_000)).await;
    Ok(())
}

async fn an_open_breaker_starts_no_clock() {
    assert_eq!(watertight::breaker::isolate("t_7"), 1);
    let clock = Stopwatch::start();
    assert_eq!(t_7().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    clock.assert_reads(ms(0));
    let figures = site("t_7");
    assert_eq!((figures.attempts(), figures.timed_out, figures.cut_off.count()), (0, 0, 0));
}

#[resilient(
    breaker(window = 4, failures = "100%"),
    retry(1, backoff(constant, first = "1ms", jitter = none)),
    fallback = |failure: Failure<AppError>| match failure {
        Failure::Refused(error) => format!("{:?}", error.kind()),
        Failure::Failed(error) => error.to_string(),
    }
)]
async fn f_1(runs: &Runs) -> Result<String, AppError> {
    if runs.next().is_multiple_of(2) { Err(TEST) } else { Err(IO) }
}

async fn a_fallback_sees_the_last_failure_and_answers_for_an_open_breaker() {
    let runs = Runs::default();
    assert_eq!(f_1(&runs).await.unwrap(), "test", "the second attempt's, after all retries");
    assert_eq!(f_1(&runs).await.unwrap(), "test");
    for _ in 0..3 {
        assert_eq!(f_1(&runs).await.unwrap(), "BreakerOpen", "each call is answered for");
    }
    assert_eq!((runs.count(), site("f_1").fallback_used), (4, 5));
}

async fn slow_and_failing(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(2_000)).await;
    Err(IO)
}

#[resilient(
    timeout = "500ms",
    bulkhead = "f-3:1",
    breaker(window = 2, failures = "100%"),
    retry(3, backoff(constant, first = "1ms", jitter = none)),
    fallback = slow_and_failing(runs)
)]
async fn f_3(runs: &Runs) -> Result<(), AppError> {
    sleep(ms(1_000)).await;
    Err(TEST)
}

async fn a_fallback_is_not_guarded() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(f_3(&runs).await.unwrap_err().broken(), Some("io"), "its error is the caller's, as it is");
    assert!(clock.read() >= ms(2_500), "it takes its time: {:?}", clock.read());
    assert_eq!((runs.count(), site("f_3").fallback_failed), (1, 1), "nothing tries it again");
    assert_eq!(breaker("f_3").failures, 1, "its failure is not the body's");
}

#[resilient(fallback(|| "fallback", on = |error| is_named(error) && !is_taken_out(error)))]
async fn f_2(error: AppError) -> Result<&'static str, AppError> {
    Err(error)
}

fn is_named(error: &AppError) -> bool {
    error.broken().is_some_and(|why| why.starts_with("named"))
}

fn is_taken_out(error: &AppError) -> bool {
    error.broken().is_some_and(|why| why.ends_with("taken out"))
}

async fn what_is_taken_out_stays_out_then_what_is_named_is_answered_for() {
    assert_eq!(f_2(AppError::Broken("named")).await.unwrap(), "fallback");
    for other in ["named and taken out", "taken out", "neither"] {
        assert_eq!(f_2(AppError::Broken(other)).await.unwrap_err().broken(), Some(other), "the error as it was");
    }
    assert_eq!((site("f_2").fallback_used, site("f_2").fallback_failed, site("f_2").error), (1, 0, 4));
}

#[resilient(fallback = |failure: Failure<AppError>| format!("{name} {count}: {failure}"))]
async fn f_4(name: &str, count: u32) -> Result<String, AppError> {
    Err(TEST)
}

async fn a_fallback_can_have_the_arguments_and_the_error() {
    assert_eq!(f_4("orders", 7).await.unwrap(), "orders 7: test");
}

#[resilient(timeout = "100ms")]
async fn f_6_fallback(length: u64) -> Result<&'static str, AppError> {
    sleep(ms(length)).await;
    Ok("stale")
}

#[resilient(fallback = f_6_fallback(length))]
async fn f_6(length: u64) -> Result<&'static str, AppError> {
    Err(TEST)
}

async fn a_guarded_fallback_is_guarded() {
    assert_eq!(f_6(10).await.unwrap(), "stale");
    let clock = Stopwatch::start();
    assert_eq!(f_6(1_000).await.unwrap_err().kind(), Some(ErrorKind::TimedOut), "by its own timeout");
    clock.assert_reads(ms(100));
}

#[resilient(bulkhead = "a-1:1")]
async fn a_1(gate: Arc<Gate>) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

async fn a_call_says_everything_when_it_is_awaited() {
    let gate = Arc::new(Gate::shut());
    let mut holder = Box::pin(a_1(Arc::clone(&gate)));
    let refused = a_1(Arc::clone(&gate));
    assert_eq!(occupancy("a-1"), (0, 0), "nothing has happened");
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(refused.await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    gate.open();
    holder.await.unwrap();
}
