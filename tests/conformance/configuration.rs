//! Settings from outside the code.
//!
//! A type is a module here. The peer has three keys for a figure (function, type, all) and lets a type's key touch only what is
//! annotated at the type; here the narrower scope holds, wherever the attribute stands.
//!
//! Invariants: each row has a world, and so settings, of its own.

use tokio::time::sleep;
use watertight::testing::World;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, ms};

use crate::harness::{Entry, left_out, row};
use crate::support::{Runs, TEST, set};

const CODE: &str = "what is tried again is code, a predicate; settings hold figures";
const LITERAL: &str = "a duration and its unit are one literal";
const MODULE: &str = "a module for the type";
const NARROWER: &str = "differs: a module's figure holds for every function in it, wherever the attribute stands";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("CF-01", "as it stands", a_functions_figure_replaces_its_attributes),
        row!("CF-02", MODULE, a_modules_figure_replaces_the_attributes),
        row!("CF-03", NARROWER, a_modules_figure_holds_for_a_functions_own_attribute),
        row!("CF-04", "as it stands", a_functions_longest_duration),
        row!("CF-05", MODULE, a_modules_longest_duration),
        row!("CF-06", NARROWER, a_modules_figure_goes_before_that_of_all),
        row!("CF-07", MODULE, a_functions_figure_goes_before_its_modules),
        row!("CF-08", MODULE, function_then_module_then_all_then_code),
        row!("CF-09", "as it stands", ten_retries),
        row!("CF-10", LITERAL, a_longest_duration_in_seconds),
        row!("CF-11", LITERAL, pauses_in_microseconds),
        left_out("CF-12", CODE),
        left_out("CF-13", CODE),
        row!("CF-14", "a wider range of full jitter for more jitter", pauses_that_vary_by_a_second),
        row!("CF-15", "as it stands", a_functions_timeout),
        row!("CF-16", LITERAL, a_timeout_in_milliseconds),
        row!("CF-17", LITERAL, a_timeout_of_another_unit),
    ]
}

/// A function that always fails, after so long.
macro_rules! failing {
    ($($name:ident [$($attribute:tt)*])*) => {
        $(#[resilient($($attribute)*)]
        async fn $name(runs: &Runs, length: u64) -> Result<(), AppError> {
            runs.next();
            sleep(ms(length)).await;
            Err(TEST)
        })*
    };
}

failing! {
    cf_01 [retry(5, backoff = "1ms..1ms", on = any, budget = off), idempotent]
    cf_04 [retry(90, backoff = "1ms..1ms", max_duration = "3s", on = any, budget = off), idempotent]
    cf_07 [retry(5, backoff = "1ms..1ms", on = any, budget = off), idempotent]
    cf_08 [retry(9, backoff = "1ms..1ms", on = any, budget = off), idempotent]
    cf_09 [retry(3, backoff = "1ms..1ms", on = any, budget = off), idempotent]
    cf_10 [retry(100, backoff(constant, first = "200ms", jitter = none), max_duration = "10s", on = any, budget = off), idempotent]
    cf_11 [retry(5, backoff(constant, first = "2s", jitter = none), on = any, budget = off), idempotent]
    cf_14 [retry(100, backoff = "1ns..1ns", max_duration = "10s", on = any, budget = off), idempotent]
    cf_15 [timeout = "1ms"]
    cf_16 [timeout = "1000us"]
    cf_17 [timeout = "10us"]
}

mod typed {
    use super::{AppError, Runs, TEST, ms, resilient, sleep};

    failing! {
        cf_02 [retry(5, backoff = "1ms..1ms", on = any, budget = off), idempotent]
        cf_03 [retry(1, backoff = "1ms..1ms", on = any, budget = off), idempotent]
        cf_05 [retry(90, backoff = "1ms..1ms", max_duration = "3s", on = any, budget = off), idempotent]
    }

    pub(super) async fn all(runs: [&Runs; 3], length: u64) {
        let _ = cf_02(runs[0], length).await;
        let _ = cf_03(runs[1], length).await;
        let _ = cf_05(runs[2], length).await;
    }
}

async fn a_functions_figure_replaces_its_attributes() {
    let _world = World::open();
    set("CF-01", "[site.cf_01]\nretry = 3\n", &[]);
    let runs = Runs::default();
    cf_01(&runs, 0).await.unwrap_err();
    assert_eq!(runs.count(), 4);
}

/// The executions of the three functions of the module.
async fn executions(length: u64) -> [u32; 3] {
    let runs = [Runs::default(), Runs::default(), Runs::default()];
    typed::all([&runs[0], &runs[1], &runs[2]], length).await;
    runs.map(|runs| runs.count())
}

async fn a_modules_figure_replaces_the_attributes() {
    let _world = World::open();
    set("CF-02", "[module.\"conformance::configuration::typed\"]\nretry = 3\n", &[]);
    assert_eq!(executions(0).await[0], 4);
}

async fn a_modules_figure_holds_for_a_functions_own_attribute() {
    let _world = World::open();
    set("CF-03", "[module.\"conformance::configuration::typed\"]\nretry = 3\n", &[]);
    assert_eq!(executions(0).await[1], 4);
}

async fn a_functions_longest_duration() {
    let _world = World::open();
    set("CF-04", "[site.cf_04.retry]\nmax_duration = \"1s\"\n", &[]);
    let runs = Runs::default();
    cf_04(&runs, 100).await.unwrap_err();
    assert!((2..=11).contains(&runs.count()), "{}", runs.count());
}

async fn a_modules_longest_duration() {
    let _world = World::open();
    set("CF-05", "[module.\"conformance::configuration::typed\".retry]\nmax_duration = \"1s\"\n", &[]);
    let [_, _, third] = executions(100).await;
    assert!((2..=11).contains(&third), "{third}");
}

async fn a_modules_figure_goes_before_that_of_all() {
    let _world = World::open();
    set("CF-06", "[defaults]\nretry = 7\n[module.\"conformance::configuration::typed\"]\nretry = 5\n", &[]);
    assert_eq!(executions(0).await[1], 6);
}

async fn a_functions_figure_goes_before_its_modules() {
    let _world = World::open();
    set("CF-07", "[module.\"conformance::configuration\"]\nretry = 5\n[site.cf_07]\nretry = 6\n", &[]);
    let runs = Runs::default();
    cf_07(&runs, 0).await.unwrap_err();
    assert_eq!(runs.count(), 7);
}

async fn function_then_module_then_all_then_code() {
    let _world = World::open();
    let lines = [
        "[defaults]\nretry = 7\n",
        "[module.\"conformance::configuration\"]\nretry = 5\n",
        "[site.cf_08]\nretry = 6\n",
    ];
    for (written, executions) in [(0, 10), (1, 8), (2, 6), (3, 7)] {
        set("CF-08", &lines[..written].concat(), &[]);
        let runs = Runs::default();
        cf_08(&runs, 0).await.unwrap_err();
        assert_eq!(runs.count(), executions, "{written} of the lines");
    }
}

async fn ten_retries() {
    let _world = World::open();
    set("CF-09", "[site.cf_09]\nretry = 10\n", &[]);
    let runs = Runs::default();
    cf_09(&runs, 0).await.unwrap_err();
    assert_eq!(runs.count(), 11);
}

async fn a_longest_duration_in_seconds() {
    let _world = World::open();
    set("CF-10", "[site.cf_10.retry]\nmax_duration = \"1s\"\n", &[]);
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    cf_10(&runs, 0).await.unwrap_err();
    assert!(clock.read() < ms(1_001), "{:?}", clock.read());
}

async fn pauses_in_microseconds() {
    let _world = World::open();
    set("CF-11", "[site.cf_11.retry]\nbackoff = \"2000us..2000us\"\n", &[]);
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    cf_11(&runs, 0).await.unwrap_err();
    assert_eq!(runs.count(), 6);
    assert!(clock.read() < ms(20), "{:?}", clock.read());
}

async fn pauses_that_vary_by_a_second() {
    let _world = World::open();
    set("CF-14", "[site.cf_14.retry]\nbackoff = \"1s..1s\"\n", &[]);
    let runs = Runs::default();
    let clock = Stopwatch::start();
    cf_14(&runs, 0).await.unwrap_err();
    let gap = clock.read() / runs.count().max(1);
    assert!(gap > ms(100), "{} attempts in {:?}", runs.count(), clock.read());
}

async fn a_functions_timeout() {
    let _world = World::open();
    set("CF-15", "[site.cf_15]\ntimeout = \"1000ms\"\n", &[]);
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(cf_15(&runs, 60_000).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(1_000));
}

async fn a_timeout_in_milliseconds() {
    let _world = World::open();
    set("CF-16", "", &[("WATERTIGHT_SITE__CF_16__TIMEOUT", "1000ms")]);
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(cf_16(&runs, 60_000).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(1_000));
}

async fn a_timeout_of_another_unit() {
    let _world = World::open();
    set("CF-17", "[site.cf_17]\ntimeout = \"1s\"\n", &[]);
    let (runs, clock) = (Runs::default(), Stopwatch::start());
    assert_eq!(cf_17(&runs, 60_000).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(1_000));
}
