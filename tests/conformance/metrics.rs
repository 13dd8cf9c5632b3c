//! What is counted.
//!
//! The peer counts results of a call, of a retry, of a breaker, of a bulkhead and of a timeout apart. Here every call has
//! one fate, crossed with what the fallback did, every attempt has one outcome, and the rest is of the compartment that it
//! belongs to. Each row reads the figures that say the same.
//!
//! | the peer | here |
//! |---|---|
//! | invocations, by result and fallback | calls by fate and fallback |
//! | retry calls, by result | why a failed attempt was the last, and retries |
//! | timeout calls, durations | attempts by outcome; lengths of those that ended and of those that were cut off, apart |
//! | breaker calls, times, openings | what is in the window; openings; how long it was not closed |
//! | bulkhead calls, runs, waits | slots taken at once; lengths of waits by how they ended; refusals by reason |
//!
//! Invariants: a row reads the figures of functions and compartments that no other row uses.

use std::sync::Arc;

use futures::future::join_all;
use metrics_util::debugging::DebuggingRecorder;
use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::metrics::names::{self, Kind};
use watertight::{AttemptFate, FallbackUse, Fate, Refusal, StopReason, WaitFate, resilient};
use watertight_tests::{AppError, breaker, bulkhead, ms, occupancy, site};

use crate::harness::{Entry, row};
use crate::held::{Held, Post, Start, assert_full};
use crate::letters::{letter, letters};
use crate::support::{IO, Runs, TEST, is_io, is_test};

const FATES: &str = "fates of calls, outcomes of attempts";
const BLOCK: &str = "an `impl` block for the type";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("MT-01", FATES, one_call_through_everything_is_counted_once),
        row!("MT-02", "the list of names; lengths are in seconds", every_series_says_its_unit),
        row!("MT-03", "without a queue its figures are zero", two_run_and_nobody_waits),
        row!("MT-04", FATES, a_refusal_is_counted_beside_those_that_run),
        row!("MT-05", "lengths of attempts", lengths_are_of_those_that_ran),
        row!("MT-06", "waits are of those that waited", waits_are_counted_with_their_lengths),
        row!("MT-07", "what is in the window", one_failure_is_in_the_window),
        row!("MT-08", "openings", the_second_failure_opens_it),
        row!("MT-09", "refusals by reason", an_open_breaker_counts_what_it_refuses),
        row!("MT-10", "openings and closings", probes_that_succeed_close_it),
        row!("MT-11", "what is in the window", an_error_that_is_not_named_is_a_success),
        row!("MT-12", "what is in the window", an_error_that_is_skipped_is_a_success),
        row!("MT-13", FATES, the_whole_sequence_by_fate),
        row!("MT-14", "two functions of one name in two modules; each has its own figures", one_name_in_two_modules),
        row!("MT-15", BLOCK, a_blocks_call_that_answers_at_once),
        row!("MT-16", BLOCK, a_blocks_call_that_answers_at_its_fourth_attempt),
        row!("MT-17", BLOCK, a_blocks_calls_that_always_fail),
        row!("MT-18", FATES, a_value_needs_no_fallback),
        row!("MT-19", FATES, an_error_that_is_answered_for),
        row!("MT-20", FATES, a_fallback_that_fails),
        row!("MT-21", "a predicate that leaves one error out", an_error_that_is_not_answered_for),
        row!("MT-22", "a predicate that names one error", the_four_steps_by_name),
        row!(
            "MT-23",
            "differs: figures are kept all the same; without a publisher nothing is published",
            nothing_is_published_unasked
        ),
        row!("MT-24", "as it stands", a_call_that_answers_at_once),
        row!("MT-25", "as it stands", a_call_that_answers_at_its_fourth_attempt),
        row!("MT-26", "`abort` takes a predicate", a_final_error_at_once),
        row!("MT-27", "`abort` takes a predicate", a_final_error_at_the_fourth_attempt),
        row!("MT-28", "no budget", calls_that_always_fail),
        row!("MT-29", "no `retry` at all, since one of 0 is refused", a_call_without_retries),
        row!("MT-30", "a hundred retries for no limit", a_longest_duration_that_ends_the_attempts),
        row!("MT-31", "a hundred retries for no limit", a_first_attempt_longer_than_all_may_take),
        row!("MT-32", FATES, timeouts_and_a_value),
        row!("MT-33", "attempts that were cut off are kept apart", lengths_in_time_and_cut_off),
    ]
}

#[resilient(
    retry(5, backoff = "1ms..1ms"),
    bulkhead = "mt-01:3/queue:3",
    timeout = "1m",
    breaker(window = 20, failures = "100%"),
    fallback = || "fallback"
)]
async fn mt_01() -> Result<&'static str, AppError> {
    Ok("value")
}

async fn one_call_through_everything_is_counted_once() {
    assert_eq!(mt_01().await.unwrap(), "value");
    let figures = site("mt_01");
    for fate in Fate::ALL {
        for fallback in FallbackUse::ALL {
            let expected = u64::from((fate, fallback) == (Fate::Ok, FallbackUse::None));
            assert_eq!(figures.fate_with(fate, fallback), expected, "{fate:?} {fallback:?}");
        }
    }
    for outcome in AttemptFate::ALL {
        assert_eq!(figures.attempts_by(outcome), u64::from(outcome == AttemptFate::Ok), "{outcome:?}");
    }
    assert!(StopReason::ALL.iter().all(|reason| figures.stopped_for(*reason) == 0), "no attempt failed");
    assert!(WaitFate::ALL.iter().all(|fate| figures.waits(*fate).count() == 0), "nobody waited");
    assert_eq!((figures.retries, figures.in_flight, figures.queued, figures.entered_at_once), (0, 0, 0, 1));
    assert_eq!((figures.latency.count(), figures.cut_off.count()), (1, 0));
    let of_breaker = breaker("mt_01");
    assert_eq!((of_breaker.state, of_breaker.calls, of_breaker.failures), (BreakerState::Closed, 1, 0));
    assert_eq!((of_breaker.opened, of_breaker.half_opened, of_breaker.closed), (0, 0, 0));
    assert_eq!((of_breaker.not_closed_for, of_breaker.last_change), (ms(0), None));
    let of_bulkhead = bulkhead("mt-01");
    assert_eq!((of_bulkhead.running, of_bulkhead.queued, of_bulkhead.peak_running), (0, 0, 1));
}

async fn every_series_says_its_unit() {
    let unit = |name| names::ALL.iter().find(|metric| metric.name == name).map(|metric| metric.kind);
    assert_eq!(unit(names::CALLS), Some(Kind::Counter));
    assert_eq!(unit(names::BULKHEAD_RUNNING), Some(Kind::Gauge));
    assert_eq!(unit(names::LATENCY), Some(Kind::Histogram));
    for metric in names::ALL {
        match metric.kind {
            Kind::Histogram => {
                assert!(metric.name.ends_with("_seconds") && metric.help.contains("in seconds"), "{metric:?}");
            }
            Kind::Counter => assert!(metric.name.ends_with("_total") && !metric.name.contains("second"), "{metric:?}"),
            _ => assert!(!metric.name.contains("second") && !metric.name.ends_with("_total"), "{metric:?}"),
        }
    }
}

macro_rules! compartments {
    ($($function:ident $declared:literal)*) => {
        $(#[resilient(bulkhead = $declared)]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

compartments! {
    mt_03 "mt-03:2"
    mt_04 "mt-04:2"
    mt_05 "mt-05:2"
    mt_06 "mt-06:2/queue:2/wait:1m"
}

async fn two_run_and_nobody_waits() {
    let start: Start = |post| Box::pin(mt_03(post));
    let calls = [Held::begin(start).await, Held::begin(start).await];
    assert_eq!((occupancy("mt-03"), site("mt_03").in_flight), ((2, 0), 2));
    for call in calls {
        call.release().await.unwrap();
    }
    let figures = site("mt_03");
    assert_eq!((figures.entered_at_once, figures.refused), (2, 0));
    assert_eq!(figures.fate_with(Fate::Ok, FallbackUse::None), 2);
    assert_eq!(figures.waits(WaitFate::Ran).count(), 0);
    let of_bulkhead = bulkhead("mt-03");
    assert_eq!((of_bulkhead.running, of_bulkhead.queue, of_bulkhead.peak_queued), (0, 0, 0));
}

async fn a_refusal_is_counted_beside_those_that_run() {
    let start: Start = |post| Box::pin(mt_04(post));
    let calls = [Held::begin(start).await, Held::begin(start).await];
    assert_full(start).await;
    assert_eq!(occupancy("mt-04"), (2, 0));
    for call in calls {
        call.release().await.unwrap();
    }
    let figures = site("mt_04");
    assert_eq!((figures.entered_at_once, figures.refused_for(Refusal::Full)), (2, 1));
    assert_eq!((figures.ok, figures.calls), (2, 3));
}

async fn lengths_are_of_those_that_ran() {
    let start: Start = |post| Box::pin(mt_05(post));
    let calls = [Held::begin(start).await, Held::begin(start).await];
    assert_full(start).await;
    sleep(ms(1_000)).await;
    for call in calls {
        call.release().await.unwrap();
    }
    let lengths = site("mt_05").latency;
    let mean = lengths.mean().expect("two ran");
    assert!(lengths.count() == 2 && (ms(1_000)..ms(1_010)).contains(&mean), "{lengths:?}, {mean:?} on average");
    for _ in 0..2 {
        Held::begin(start).await.release().await.unwrap();
    }
    let lengths = site("mt_05").latency;
    assert_eq!(lengths.count(), 4, "the refused one is not among them");
    let counts: Vec<_> = lengths.iter().map(|(_, count)| count).collect();
    assert_eq!(counts, [2, 2], "two at once and two of a second");
}

async fn waits_are_counted_with_their_lengths() {
    let start: Start = |post| Box::pin(mt_06(post));
    let mut calls = Vec::new();
    for _ in 0..4 {
        calls.push(Held::begin(start).await);
    }
    assert_full(start).await;
    assert_eq!((occupancy("mt-06"), site("mt_06").queued), ((2, 2), 2));
    sleep(ms(1_000)).await;
    for call in calls {
        call.release().await.unwrap();
    }
    assert_eq!(occupancy("mt-06"), (0, 0));
    let figures = site("mt_06");
    assert_eq!((figures.entered_at_once, figures.refused_for(Refusal::Full), figures.ok), (2, 1, 4));
    let waits = figures.waits(WaitFate::Ran);
    let mean = waits.mean().expect("two waited");
    assert!(waits.count() == 2 && (ms(1_000)..ms(1_010)).contains(&mean), "{waits:?}, {mean:?} on average");
}

type Answer = Result<(), AppError>;

/// One breaker for each row of the sequence, so that the rows do not depend on one another.
macro_rules! sequence {
    ($($function:ident)*) => {
        $(#[resilient(breaker(
            window = 2,
            failures = "100%",
            cooldown = "1s",
            probes = 2,
            on = is_test,
            skip = is_io
        ))]
        async fn $function(answer: Answer) -> Answer {
            answer
        })*
    };
}
sequence! { mt_07 mt_08 mt_09 mt_10 mt_11 mt_12 mt_13 }

/// The first so many steps of the sequence, one letter each call.
async fn steps(steps: u32, call: impl AsyncFn(Answer) -> Answer) -> String {
    let mut told = String::new();
    for step in 1..=steps {
        match step {
            1 | 2 => told.push(letter(&call(Err(TEST)).await)),
            3 => told.push(letter(&call(Ok(())).await)),
            4 => {
                sleep(ms(1_500)).await;
                told += &letters(2, async || call(Ok(())).await).await;
            }
            5 => assert_eq!(call(Err(AppError::Broken("unlisted"))).await.unwrap_err().broken(), Some("unlisted")),
            _ => assert_eq!(call(Err(IO)).await.unwrap_err().broken(), Some("io")),
        }
    }
    told
}

async fn one_failure_is_in_the_window() {
    assert_eq!(steps(1, mt_07).await, "T");
    let seen = breaker("mt_07");
    assert_eq!((seen.calls, seen.failures, seen.opened, seen.state), (1, 1, 0, BreakerState::Closed));
}

async fn the_second_failure_opens_it() {
    assert_eq!(steps(2, mt_08).await, "TT");
    let seen = breaker("mt_08");
    assert_eq!((site("mt_08").error, seen.opened, seen.state), (2, 1, BreakerState::Open));
}

async fn an_open_breaker_counts_what_it_refuses() {
    assert_eq!(steps(3, mt_09).await, "TTO");
    assert_eq!((site("mt_09").refused_for(Refusal::Open), site("mt_09").attempts()), (1, 2));
}

async fn probes_that_succeed_close_it() {
    assert_eq!(steps(4, mt_10).await, "TTOkk");
    let seen = breaker("mt_10");
    assert_eq!((site("mt_10").ok, seen.opened, seen.half_opened, seen.closed), (2, 1, 1, 1));
    assert_eq!((seen.state, seen.calls), (BreakerState::Closed, 0));
}

async fn an_error_that_is_not_named_is_a_success() {
    steps(5, mt_11).await;
    let seen = breaker("mt_11");
    assert_eq!((seen.state, seen.calls, seen.failures), (BreakerState::Closed, 1, 0));
}

async fn an_error_that_is_skipped_is_a_success() {
    steps(6, mt_12).await;
    let seen = breaker("mt_12");
    assert_eq!((seen.state, seen.calls, seen.failures, seen.opened), (BreakerState::Closed, 2, 0, 1));
}

async fn the_whole_sequence_by_fate() {
    steps(6, mt_13).await;
    let figures = site("mt_13");
    assert_eq!((figures.ok, figures.error, figures.refused), (2, 4, 1), "two values, five errors");
    assert_eq!((figures.calls, figures.fallback_used + figures.fallback_failed), (7, 0));
}

mod one {
    #[watertight::resilient(timeout = "1s", retry = 1, fallback = || 0)]
    pub(super) async fn mt_14() -> Result<u32, watertight::Error> {
        Ok(1)
    }
}

mod other {
    #[watertight::resilient(timeout = "1s", retry = 1, fallback = || 0)]
    pub(super) async fn mt_14() -> Result<u32, watertight::Error> {
        Ok(2)
    }
}

async fn one_name_in_two_modules() {
    assert_eq!((one::mt_14().await.unwrap(), other::mt_14().await.unwrap(), other::mt_14().await.unwrap()), (1, 2, 2));
    let snapshot = watertight::snapshot();
    let mut both: Vec<_> = snapshot.sites.iter().filter(|site| site.name == "mt_14").collect();
    both.sort_by_key(|site| site.module);
    let seen: Vec<_> = both.iter().map(|site| (site.module, site.ok)).collect();
    assert_eq!(seen, [("conformance::metrics::one", 1), ("conformance::metrics::other", 2)]);
}

/// Fails so many times in one call before it answers.
fn well_from(attempt: u32) -> Answer {
    if watertight::attempt() < attempt { Err(TEST) } else { Ok(()) }
}

struct Block;

#[resilient(retry(5, backoff = "1ms..1ms", budget = off), name = "mt")]
impl Block {
    async fn mt_15(&self) -> Answer {
        well_from(0)
    }

    async fn mt_16(&self) -> Answer {
        well_from(3)
    }

    async fn mt_17(&self) -> Answer {
        well_from(u32::MAX)
    }
}

#[resilient(retry(5, backoff = "1ms..1ms", budget = off))]
async fn mt_24() -> Answer {
    well_from(0)
}

#[resilient(retry(5, backoff = "1ms..1ms", budget = off))]
async fn mt_25() -> Answer {
    well_from(3)
}

#[resilient(retry(5, backoff = "1ms..1ms", budget = off))]
async fn mt_28() -> Answer {
    well_from(u32::MAX)
}

/// Retries, why the last failed attempt was the last, values and errors.
#[track_caller]
fn counted(name: &str, retries: u64, stopped: &[(StopReason, u64)], values: u64, errors: u64) {
    let figures = site(name);
    assert_eq!((figures.retries, figures.ok, figures.error, figures.calls), (retries, values, errors, values + errors));
    for reason in StopReason::ALL {
        let expected = stopped.iter().find(|(named, _)| *named == reason).map_or(0, |(_, count)| *count);
        assert_eq!(figures.stopped_for(reason), expected, "{reason:?}");
    }
}

async fn a_blocks_call_that_answers_at_once() {
    Block.mt_15().await.unwrap();
    counted("mt.mt_15", 0, &[], 1, 0);
}

async fn a_blocks_call_that_answers_at_its_fourth_attempt() {
    Block.mt_16().await.unwrap();
    counted("mt.mt_16", 3, &[], 1, 0);
}

async fn a_blocks_calls_that_always_fail() {
    assert_eq!(letters(2, async || Block.mt_17().await).await, "TT");
    counted("mt.mt_17", 10, &[(StopReason::Exhausted, 2)], 0, 2);
}

async fn a_call_that_answers_at_once() {
    mt_24().await.unwrap();
    counted("mt_24", 0, &[], 1, 0);
}

async fn a_call_that_answers_at_its_fourth_attempt() {
    mt_25().await.unwrap();
    counted("mt_25", 3, &[], 1, 0);
}

async fn calls_that_always_fail() {
    assert_eq!(letters(2, mt_28).await, "TT");
    counted("mt_28", 10, &[(StopReason::Exhausted, 2)], 0, 2);
}

/// Ends with the final error, after so many that are not.
macro_rules! ends_finally {
    ($($function:ident)*) => {
        $(#[resilient(retry(5, backoff = "1ms..1ms", abort = is_io))]
        async fn $function(others: u32) -> Answer {
            if watertight::attempt() < others { Err(TEST) } else { Err(IO) }
        })*
    };
}
ends_finally! { mt_26 mt_27 }

async fn a_final_error_at_once() {
    assert_eq!(mt_26(0).await.unwrap_err().broken(), Some("io"));
    counted("mt_26", 0, &[(StopReason::NotRetryable, 1)], 0, 1);
}

async fn a_final_error_at_the_fourth_attempt() {
    assert_eq!(mt_27(3).await.unwrap_err().broken(), Some("io"));
    counted("mt_27", 3, &[(StopReason::NotRetryable, 1)], 0, 1);
}

#[resilient(timeout = "1s")]
async fn mt_29() -> Answer {
    Err(TEST)
}

async fn a_call_without_retries() {
    assert_eq!(letters(1, mt_29).await, "T");
    counted("mt_29", 0, &[], 0, 1);
}

macro_rules! ended_by_duration {
    ($($function:ident $length:literal)*) => {
        $(#[resilient(retry(100, backoff = "1ms..1ms", max_duration = "1s", budget = off))]
        async fn $function() -> Answer {
            sleep(ms($length)).await;
            Err(TEST)
        })*
    };
}
ended_by_duration! { mt_30 100 mt_31 1_500 }

async fn a_longest_duration_that_ends_the_attempts() {
    assert_eq!(letters(1, mt_30).await, "T");
    let retries = site("mt_30").retries;
    assert!((8..=9).contains(&retries), "bodies of 100 ms in a second: {retries}");
    counted("mt_30", retries, &[(StopReason::MaxDuration, 1)], 0, 1);
}

async fn a_first_attempt_longer_than_all_may_take() {
    assert_eq!(letters(1, mt_31).await, "T");
    counted("mt_31", 0, &[(StopReason::MaxDuration, 1)], 0, 1);
}

macro_rules! with_fallback {
    ($($function:ident)*) => {
        $(#[resilient(fallback(|failure| fallback(&failure), on = |error| !is_left_out(error)))]
        async fn $function(answer: Answer) -> Answer {
            answer
        })*
    };
}
with_fallback! { mt_18 mt_19 mt_20 mt_21 }

const LEFT_OUT: AppError = AppError::Broken("left out");

fn is_left_out(error: &AppError) -> bool {
    error.broken() == LEFT_OUT.broken()
}

/// Answers for the one and fails for the other.
fn fallback(failure: &watertight::Failure<AppError>) -> Answer {
    if failure.error().is_some_and(is_test) { Ok(()) } else { Err(AppError::Broken("the fallback's own")) }
}

async fn a_value_needs_no_fallback() {
    mt_18(Ok(())).await.unwrap();
    assert_eq!((site("mt_18").fate_with(Fate::Ok, FallbackUse::None), site("mt_18").calls), (1, 1));
}

async fn an_error_that_is_answered_for() {
    mt_19(Err(TEST)).await.unwrap();
    assert_eq!((site("mt_19").fate_with(Fate::Error, FallbackUse::Used), site("mt_19").calls), (1, 1));
}

async fn a_fallback_that_fails() {
    assert_eq!(mt_20(Err(IO)).await.unwrap_err().broken(), Some("the fallback's own"));
    assert_eq!((site("mt_20").fate_with(Fate::Error, FallbackUse::Failed), site("mt_20").calls), (1, 1));
}

async fn an_error_that_is_not_answered_for() {
    assert_eq!(mt_21(Err(LEFT_OUT)).await.unwrap_err().broken(), LEFT_OUT.broken());
    assert_eq!((site("mt_21").fate_with(Fate::Error, FallbackUse::None), site("mt_21").calls), (1, 1));
}

#[resilient(fallback(instead(answers), on = is_test))]
async fn mt_22(answer: Answer, answers: bool) -> Answer {
    let _ = answers;
    answer
}

fn instead(answers: bool) -> Answer {
    if answers { Ok(()) } else { Err(AppError::Broken("the fallback's own")) }
}

async fn the_four_steps_by_name() {
    mt_22(Ok(()), true).await.unwrap();
    mt_22(Err(TEST), true).await.unwrap();
    assert_eq!(mt_22(Err(TEST), false).await.unwrap_err().broken(), Some("the fallback's own"));
    assert_eq!(mt_22(Err(IO), true).await.unwrap_err().broken(), IO.broken());
    let figures = site("mt_22");
    for (fate, used) in [
        (Fate::Ok, FallbackUse::None),
        (Fate::Error, FallbackUse::Used),
        (Fate::Error, FallbackUse::Failed),
        (Fate::Error, FallbackUse::None),
    ] {
        assert_eq!(figures.fate_with(fate, used), 1, "{fate:?} {used:?}");
    }
}

#[resilient(timeout = "1s", bulkhead = "mt-23:1")]
async fn mt_23() -> Answer {
    Ok(())
}

async fn nothing_is_published_unasked() {
    let recorder = DebuggingRecorder::new();
    let read = recorder.snapshotter();
    let _in_force = metrics::set_default_local_recorder(&recorder);
    mt_23().await.unwrap();
    assert!(read.snapshot().into_vec().is_empty(), "no series");
    assert_eq!(site("mt_23").ok, 1);
}

#[resilient(timeout = "500ms")]
async fn mt_32(length: u64) -> Answer {
    sleep(ms(length)).await;
    Ok(())
}

async fn timeouts_and_a_value() {
    let mut told = String::new();
    for length in [2_000, 2_000, 100] {
        told.push(letter(&mt_32(length).await));
    }
    let figures = site("mt_32");
    assert_eq!((told.as_str(), figures.timed_out, figures.ok, figures.calls), ("XXk", 2, 1, 3));
    assert_eq!((figures.attempts_by(AttemptFate::TimedOut), figures.attempts_by(AttemptFate::Ok)), (2, 1));
}

#[resilient(timeout = "2s")]
async fn mt_33(length: u64) -> Answer {
    sleep(ms(length)).await;
    Ok(())
}

async fn lengths_in_time_and_cut_off() {
    let runs = Runs::default();
    let answers = join_all([300, 5_000].map(async |length| {
        runs.next();
        mt_33(length).await
    }));
    let told: String = answers.await.iter().map(letter).collect();
    assert_eq!((told.as_str(), runs.count()), ("kX", 2));
    let figures = site("mt_33");
    let (answered, cut_off) = (figures.latency.mean().expect("one"), figures.cut_off.mean().expect("one"));
    assert_eq!((figures.latency.count(), figures.cut_off.count()), (1, 1));
    assert!((ms(300)..ms(304)).contains(&answered) && (ms(2_000)..ms(2_004)).contains(&cut_off), "{figures:?}");
}
