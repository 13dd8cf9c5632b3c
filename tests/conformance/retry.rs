//! Retry on its own: how often, for how long, and what is tried again.
//!
//! The peer's retry has three further attempts, no delay and 200 ms of jitter unless told otherwise, and knows no budget.
//! A pause of nothing cannot be written here, so 1 ms stands for it; every error is named by a predicate where the peer
//! names its type.
//!
//! Invariants: executions are counted by the body itself, never by our own figures.

use std::sync::Mutex;

use tokio::time::{Instant, sleep};
use watertight::resilient;
use watertight_tests::{AppError, Stopwatch, ms};

use crate::harness::{Entry, left_out, row};
use crate::support::{IO, Runs, TEST, is_io, is_test};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("RT-01", "as it stands", five_retries_are_six_executions_and_the_last_error),
        row!("RT-02", "jitter written out, no budget", the_longest_duration_ends_the_attempts_with_the_bodys_error),
        row!("RT-03", "one literal in place of a number and its unit", the_longest_duration_may_be_in_seconds),
        row!("RT-04", "as it stands", pauses_stay_within_their_jitter),
        row!("RT-05", "a delay of 1 ms for none", jitter_applies_to_a_pause_of_almost_nothing),
        row!("RT-06", "a delay of 1 ms for none", no_jitter_is_no_error),
        row!("RT-07", "an `impl` block for the type", a_block_gives_its_retry_to_its_methods),
        row!("RT-08", "an `impl` block for the type", a_methods_retry_replaces_the_blocks_whole),
        row!("RT-09", "an `impl` block for the type, one literal", a_methods_longest_duration_may_be_in_seconds),
        row!("RT-10", "a predicate for the type", what_is_named_is_tried_again),
        row!("RT-11", "a predicate for the type", what_is_not_named_is_not_tried_again),
        row!(
            "RT-12",
            "a predicate over a group of variants for the base type",
            a_member_of_a_named_group_is_tried_again
        ),
        row!("RT-13", "predicates over groups of variants", what_is_final_is_final_even_in_a_named_group),
        row!("RT-14", "`abort` takes a predicate", what_is_not_final_is_tried_again),
        row!("RT-15", "`abort` takes a predicate", what_is_final_is_not_tried_again),
        row!("RT-16", "an `impl` block for the type", a_block_names_what_is_tried_again),
        row!("RT-17", "an `impl` block for the type", a_method_names_something_else),
        row!("RT-18", "an `impl` block for the type", a_block_names_what_is_final),
        row!("RT-19", "an `impl` block for the type", a_method_makes_something_else_final),
        row!("RT-20", "the limit of the test by the paused clock", the_last_error_keeps_its_message),
        left_out("RT-21", "there is one kind of answer; a future that is handed out unpolled is a value of its own"),
        left_out("RT-22", "there is one kind of answer, and awaiting it is the call"),
        row!("RT-23", "as it stands", the_third_execution_answers),
        row!("RT-24", "two awaits, one after the other", a_chain_is_run_again_from_its_start),
        row!("RT-25", "two awaits, one after the other", a_chain_that_always_fails_is_run_three_times),
        row!("RT-26", "two futures, joined", a_join_that_always_fails_is_run_three_times),
        row!("RT-27", "two futures, joined", a_join_is_run_again_whole),
        row!(
            "RT-28",
            "an error before the first await for one before the stage",
            an_early_error_counts_like_a_late_one
        ),
    ]
}

/// Sites whose body counts and fails.
macro_rules! failing {
    ($($function:ident [$($retry:tt)*])*) => {
        $(#[resilient(retry($($retry)*))]
        async fn $function(runs: &Runs) -> Result<(), AppError> {
            runs.next();
            Err(TEST)
        })*
    };
}

failing! {
    rt_01 [5, backoff = "1ms..1ms", on = is_test]
    rt_10 [3, backoff = "1ms..1ms", on = is_test]
    rt_14 [3, backoff = "1ms..1ms", abort = is_io]
    rt_15 [3, backoff = "1ms..1ms", abort = is_test]
}

/// Awaits a call that fails with its body's own error after so many executions.
macro_rules! fails_after {
    ($executions:literal, |$runs:ident| $call:expr) => {{
        let runs = Runs::default();
        let $runs = &runs;
        assert_eq!($call.await.unwrap_err().broken(), Some("test"));
        assert_eq!(runs.count(), $executions);
    }};
}

async fn five_retries_are_six_executions_and_the_last_error() {
    fails_after!(6, |runs| rt_01(runs));
}

macro_rules! ends_by_duration {
    ($($function:ident [$($retry:tt)*])*) => {
        $(#[resilient(retry($($retry)*))]
        async fn $function(runs: &Runs) -> Result<(), AppError> {
            runs.next();
            sleep(ms(100)).await;
            Err(TEST)
        })*
    };
}

ends_by_duration! {
    rt_02 [90, backoff(constant, first = "1ms", jitter = "200ms"), max_duration = "1000ms", budget = off]
    rt_03 [90, backoff(constant, first = "1ms", jitter = "200ms"), max_duration = "1s", budget = off]
}

/// After attempts that were ended by a second's duration.
fn ended_by_duration(error: &AppError, runs: &Runs, clock: Stopwatch) {
    assert_eq!(error.broken(), Some("test"), "the body's own error, not one about durations");
    let count = runs.count();
    assert!((4..11).contains(&count), "bodies of 100 ms and pauses up to 200 ms in a second: {count}");
    // The last attempt begins before the second is over and is not cut short.
    assert!(clock.read() < ms(1_110), "{:?}", clock.read());
}

async fn the_longest_duration_ends_the_attempts_with_the_bodys_error() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    ended_by_duration(&rt_02(&runs).await.unwrap_err(), &runs, clock);
}

async fn the_longest_duration_may_be_in_seconds() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    ended_by_duration(&rt_03(&runs).await.unwrap_err(), &runs, clock);
}

type Times = Mutex<Vec<Instant>>;

fn gaps(times: Times) -> Vec<u128> {
    times.into_inner().unwrap().windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

#[resilient(retry(10, backoff(constant, first = "400ms", jitter = "400ms"), max_duration = "3200ms", budget = off))]
async fn rt_04(times: &Times) -> Result<(), AppError> {
    times.lock().unwrap().push(Instant::now());
    Err(TEST)
}

async fn pauses_stay_within_their_jitter() {
    let times = Times::default();
    assert_eq!(rt_04(&times).await.unwrap_err().broken(), Some("test"));
    let gaps = gaps(times);
    assert!(gaps.len() >= 4, "more than four executions: {gaps:?}");
    assert!(gaps.iter().all(|gap| *gap <= 801), "between nothing and 800 ms: {gaps:?}");
}

#[resilient(retry(100, backoff(constant, first = "1ms", jitter = "400ms"), max_duration = "3200ms", budget = off))]
async fn rt_05(times: &Times) -> Result<(), AppError> {
    times.lock().unwrap().push(Instant::now());
    Err(TEST)
}

async fn jitter_applies_to_a_pause_of_almost_nothing() {
    let times = Times::default();
    assert_eq!(rt_05(&times).await.unwrap_err().broken(), Some("test"));
    let gaps = gaps(times);
    assert!((8..99).contains(&gaps.len()), "more than 8 and fewer than 100 executions: {gaps:?}");
    assert!(gaps.iter().any(|gap| *gap > 5), "{gaps:?}");
}

#[resilient(retry(3, backoff(constant, first = "1ms", jitter = none)))]
async fn rt_06(times: &Times) -> Result<(), AppError> {
    times.lock().unwrap().push(Instant::now());
    if watertight::attempt() < 3 { Err(TEST) } else { Ok(()) }
}

async fn no_jitter_is_no_error() {
    let times = Times::default();
    rt_06(&times).await.unwrap();
    let gaps = gaps(times);
    assert_eq!(gaps.len(), 3, "three retries");
    assert!(gaps.iter().sum::<u128>() <= 6, "1 ms each: {gaps:?}");
}

struct Blocks;

#[resilient(retry(2, backoff = "1ms..1ms"), name = "rt-07")]
impl Blocks {
    async fn inherits(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(90, backoff(constant, first = "1ms", jitter = "200ms"), max_duration = "1000ms", budget = off))]
    async fn rt_08(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        sleep(ms(100)).await;
        Err(TEST)
    }

    #[resilient(retry(90, backoff(constant, first = "1ms", jitter = "200ms"), max_duration = "1s", budget = off))]
    async fn rt_09(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        sleep(ms(100)).await;
        Err(TEST)
    }
}

async fn a_block_gives_its_retry_to_its_methods() {
    fails_after!(3, |runs| Blocks.inherits(runs));
}

async fn a_methods_retry_replaces_the_blocks_whole() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    ended_by_duration(&Blocks.rt_08(&runs).await.unwrap_err(), &runs, clock);
}

async fn a_methods_longest_duration_may_be_in_seconds() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    ended_by_duration(&Blocks.rt_09(&runs).await.unwrap_err(), &runs, clock);
}

async fn what_is_named_is_tried_again() {
    fails_after!(4, |runs| rt_10(runs));
}

#[resilient(retry(3, backoff = "1ms..1ms", on = is_io))]
async fn rt_11(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    sleep(ms(100)).await;
    Err(TEST)
}

async fn what_is_not_named_is_not_tried_again() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rt_11(&runs).await.unwrap_err().broken(), Some("test"));
    assert_eq!(runs.count(), 1);
    clock.assert_reads(ms(100));
}

/// A kind of error, and a narrower kind of it.
#[derive(Debug, PartialEq)]
enum Kin {
    Parent(Option<Child>),
}

#[derive(Clone, Debug, PartialEq)]
struct Child;

const CHILD: Kin = Kin::Parent(Some(Child));

fn is_parent(error: &Kin) -> bool {
    matches!(error, Kin::Parent(_))
}

fn is_child(error: &Kin) -> bool {
    matches!(error, Kin::Parent(Some(Child)))
}

#[resilient(retry(3, backoff = "1ms..1ms", on = is_parent))]
async fn rt_12(runs: &Runs) -> Result<(), Kin> {
    runs.next();
    Err(CHILD)
}

async fn a_member_of_a_named_group_is_tried_again() {
    let runs = Runs::default();
    assert_eq!(rt_12(&runs).await, Err(CHILD));
    assert_eq!(runs.count(), 4);
}

#[resilient(retry(3, backoff = "1ms..1ms", on = is_parent, abort = is_child))]
async fn rt_13(runs: &Runs, error: Option<Child>) -> Result<(), Kin> {
    runs.next();
    Err(Kin::Parent(error))
}

async fn what_is_final_is_final_even_in_a_named_group() {
    let runs = Runs::default();
    assert_eq!(rt_13(&runs, Some(Child)).await, Err(CHILD));
    assert_eq!(runs.count(), 1);
    let runs = Runs::default();
    assert_eq!(rt_13(&runs, None).await, Err(Kin::Parent(None)));
    assert_eq!(runs.count(), 4, "the rest of the group is tried again");
}

async fn what_is_not_final_is_tried_again() {
    fails_after!(4, |runs| rt_14(runs));
}

async fn what_is_final_is_not_tried_again() {
    fails_after!(1, |runs| rt_15(runs));
}

struct Named;

#[resilient(retry(3, backoff = "1ms..1ms", on = is_test), name = "rt-16")]
impl Named {
    async fn rt_16(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(3, backoff = "1ms..1ms", on = is_io))]
    async fn rt_17(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

async fn a_block_names_what_is_tried_again() {
    fails_after!(4, |runs| Named.rt_16(runs));
}

async fn a_method_names_something_else() {
    fails_after!(1, |runs| Named.rt_17(runs));
}

struct Final;

#[resilient(retry(3, backoff = "1ms..1ms", abort = is_io), name = "rt-18")]
impl Final {
    async fn rt_18(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }

    #[resilient(retry(3, backoff = "1ms..1ms", abort = is_test))]
    async fn rt_19(&self, runs: &Runs) -> Result<(), AppError> {
        runs.next();
        Err(TEST)
    }
}

async fn a_block_names_what_is_final() {
    fails_after!(4, |runs| Final.rt_18(runs));
}

async fn a_method_makes_something_else_final() {
    fails_after!(1, |runs| Final.rt_19(runs));
}

#[resilient(retry(2, backoff = "1ms..1ms"))]
async fn rt_20(runs: &Runs) -> Result<(), std::io::Error> {
    sleep(ms(1)).await;
    Err(std::io::Error::other(format!("nothing there, execution {}", runs.next())))
}

async fn the_last_error_keeps_its_message() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rt_20(&runs).await.unwrap_err().to_string(), "nothing there, execution 3");
    assert_eq!(runs.count(), 3);
    assert!(clock.read() < ms(1_000));
}

#[resilient(retry(3, backoff = "1ms..1ms"))]
async fn rt_23(runs: &Runs) -> Result<&'static str, AppError> {
    sleep(ms(1)).await;
    if runs.next() < 3 { Err(IO) } else { Ok("Success") }
}

async fn the_third_execution_answers() {
    let runs = Runs::default();
    assert_eq!(rt_23(&runs).await.unwrap(), "Success");
    assert_eq!(runs.count(), 3);
}

async fn step() -> Result<&'static str, AppError> {
    sleep(ms(50)).await;
    Ok("Success")
}

/// A step that fails until the given execution.
async fn fails_before(well_at: u32, runs: &Runs) -> Result<&'static str, AppError> {
    sleep(ms(50)).await;
    if runs.next() < well_at { Err(TEST) } else { Ok("Success") }
}

#[resilient(retry(3, backoff(constant, first = "1ms", jitter = none)))]
async fn chained(runs: &Runs, well_at: u32) -> Result<String, AppError> {
    let first = step().await?;
    Ok(format!("{first} then {}", fails_before(well_at, runs).await?))
}

#[resilient(retry(2, backoff(constant, first = "1ms", jitter = none)))]
async fn chained_twice(runs: &Runs) -> Result<String, AppError> {
    let first = step().await?;
    Ok(format!("{first} then {}", fails_before(u32::MAX, runs).await?))
}

async fn a_chain_is_run_again_from_its_start() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(chained(&runs, 3).await.unwrap(), "Success then Success");
    assert_eq!(runs.count(), 3);
    assert!((ms(300)..ms(310)).contains(&clock.read()), "both steps, three times: {:?}", clock.read());
}

async fn a_chain_that_always_fails_is_run_three_times() {
    fails_after!(3, |runs| chained_twice(runs));
}

#[resilient(retry(3, backoff(constant, first = "1ms", jitter = none)))]
async fn joined(runs: &Runs, well_at: u32) -> Result<String, AppError> {
    let (first, second) = tokio::try_join!(step(), fails_before(well_at, runs))?;
    Ok(format!("{first} then {second}"))
}

#[resilient(retry(2, backoff(constant, first = "1ms", jitter = none)))]
async fn joined_twice(runs: &Runs) -> Result<String, AppError> {
    let (first, second) = tokio::try_join!(step(), fails_before(u32::MAX, runs))?;
    Ok(format!("{first} then {second}"))
}

async fn a_join_that_always_fails_is_run_three_times() {
    fails_after!(3, |runs| joined_twice(runs));
}

async fn a_join_is_run_again_whole() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(joined(&runs, 3).await.unwrap(), "Success then Success");
    assert_eq!(runs.count(), 3);
    assert!((ms(150)..ms(160)).contains(&clock.read()), "side by side, three times: {:?}", clock.read());
}

#[resilient(retry(2, backoff = "1ms..1ms"))]
async fn rt_28(runs: &Runs) -> Result<&'static str, AppError> {
    if runs.next() < 3 {
        return Err(TEST);
    }
    step().await
}

async fn an_early_error_counts_like_a_late_one() {
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(rt_28(&runs).await.unwrap(), "Success");
    assert_eq!(runs.count(), 3);
    assert!((ms(50)..ms(60)).contains(&clock.read()), "{:?}", clock.read());
}
