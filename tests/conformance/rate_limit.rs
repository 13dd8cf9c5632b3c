//! Rate limits: the peer's windows, asked of tokens.
//!
//! The peer counts in fixed windows, in rolling ones, or smoothly. Here there is one way, the smooth one: a bucket of
//! tokens that come back one by one, at an even pace. It differs from the peer's in beginning full, so its rows empty it
//! first, and agree from there on. The rows of the windows make the peer's calls and say what tokens make of them: a
//! token is back sooner than a window is over, and a call that was refused has taken none, so hammering postpones
//! nothing.
//!
//! Invariants: every refusal says exactly when a token is there.

use futures::future::join_all;
use tokio::time::{advance, sleep};
use watertight::{Refusal, resilient};
use watertight_tests::{AppError, ms, site};

use crate::harness::{Entry, left_out, row};

const FIXED: &str = "differs: tokens for a fixed window";
const ROLLING: &str = "differs: tokens for a rolling window";
const SMOOTH: &str = "the bucket begins full and is emptied first";
const SPACING: &str = "there is no spacing beside the pace; `burst:1` spaces evenly, see RL-20";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("RL-01", FIXED, two_tokens_and_one_for_each_interval),
        row!("RL-02", FIXED, refused_calls_take_no_token),
        row!("RL-03", FIXED, four_tokens_and_what_has_come_back),
        left_out("RL-04", SPACING),
        row!("RL-05", FIXED, an_idle_bucket_is_full_and_no_fuller),
        left_out("RL-06", SPACING),
        row!("RL-07", ROLLING, a_token_is_back_before_a_window_is_over),
        row!("RL-08", ROLLING, refused_calls_postpone_nothing),
        row!("RL-09", ROLLING, a_bucket_is_full_after_exactly_its_time),
        row!("RL-10", ROLLING, tokens_come_back_one_by_one),
        left_out("RL-11", SPACING),
        row!("RL-12", ROLLING, an_idle_bucket_is_full_whenever_it_is_asked),
        left_out("RL-13", SPACING),
        row!("RL-14", SMOOTH, one_for_each_interval),
        row!("RL-15", SMOOTH, parts_of_a_token_are_kept),
        row!("RL-16", SMOOTH, a_burst_after_idling),
        left_out("RL-17", SPACING),
        row!("RL-18", "tokens for a fixed window", fifty_of_a_hundred),
        row!("RL-19", "tokens for a rolling window", fifty_of_a_hundred_again),
        row!("RL-20", "`burst:1`", one_of_a_hundred),
        row!("RL-21", "tokens for a window; there is no spacing", outside::a_rate_from_outside),
    ]
}

macro_rules! limited {
    ($($function:ident $rate:literal)*) => {
        $(#[resilient(rate = $rate)]
        async fn $function() -> Result<(), AppError> {
            Ok(())
        })*
    };
}

limited! {
    rl_01 "2/100ms" rl_02 "2/100ms" rl_03 "4/100ms" rl_05 "2/100ms"
    rl_07 "2/100ms" rl_08 "2/100ms" rl_09 "4/100ms" rl_10 "4/100ms" rl_12 "2/100ms"
    rl_14 "2/100ms" rl_15 "2/100ms" rl_16 "4/100ms"
}

/// At so many milliseconds, one call for each of these: 0 when it ran, else in how many milliseconds there is a token.
type At<'a> = (u64, &'a [u64]);

async fn told(call: impl AsyncFn() -> Result<(), AppError>, expected: &[At<'_>]) {
    let mut now = 0;
    for (at, answers) in expected {
        advance(ms(at - now)).await;
        now = *at;
        for (place, expected) in answers.iter().enumerate() {
            let wait = match call().await {
                Ok(()) => ms(0),
                Err(error) => error.refused().retry_after().expect("it says when"),
            };
            assert_eq!(wait, ms(*expected), "call {place} at {at} ms");
        }
    }
}

async fn two_tokens_and_one_for_each_interval() {
    told(rl_01, &[(0, &[0, 0, 50]), (50, &[0]), (100, &[0])]).await;
}

async fn refused_calls_take_no_token() {
    let expected: &[At<'_>] =
        &[(0, &[0, 0, 50]), (50, &[0, 50]), (120, &[0]), (190, &[0, 10]), (210, &[0, 40, 40]), (290, &[0])];
    told(rl_02, expected).await;
    assert_eq!((site("rl_02").ok, site("rl_02").refused_for(Refusal::Rate)), (7, 5));
}

async fn four_tokens_and_what_has_come_back() {
    let expected: &[At<'_>] =
        &[(0, &[0, 0, 0, 0, 25]), (50, &[0]), (100, &[0, 0, 0, 25, 25]), (200, &[0, 0, 0, 0, 25])];
    told(rl_03, expected).await;
}

async fn an_idle_bucket_is_full_and_no_fuller() {
    told(rl_05, &[(0, &[0, 0, 50]), (550, &[0]), (1_050, &[0, 0, 50])]).await;
}

async fn a_token_is_back_before_a_window_is_over() {
    told(rl_07, &[(0, &[0, 0, 50]), (50, &[0, 50]), (100, &[0])]).await;
}

async fn refused_calls_postpone_nothing() {
    told(rl_08, &[(0, &[0, 0, 50]), (50, &[0, 50]), (120, &[0]), (190, &[0, 10])]).await;
}

async fn a_bucket_is_full_after_exactly_its_time() {
    let expected: &[At<'_>] = &[(0, &[0, 0, 0, 0, 25]), (50, &[0]), (100, &[0, 0, 0, 25]), (200, &[0, 0, 0, 0, 25])];
    told(rl_09, expected).await;
}

async fn tokens_come_back_one_by_one() {
    let expected: &[At<'_>] =
        &[(0, &[0, 0, 0, 0, 25]), (50, &[0]), (75, &[0]), (100, &[0, 0, 25]), (200, &[0, 0, 0, 0, 25])];
    told(rl_10, expected).await;
}

async fn an_idle_bucket_is_full_whenever_it_is_asked() {
    told(rl_12, &[(0, &[0, 0, 50]), (550, &[0]), (1_050, &[0, 0, 50, 50])]).await;
}

async fn one_for_each_interval() {
    told(rl_14, &[(0, &[0, 0, 50]), (50, &[0, 50]), (100, &[0, 50])]).await;
}

async fn parts_of_a_token_are_kept() {
    let expected: &[At<'_>] =
        &[(0, &[0, 0, 50]), (50, &[0, 50]), (120, &[0]), (190, &[0, 10]), (210, &[0, 40]), (290, &[0, 10])];
    told(rl_15, expected).await;
}

async fn a_burst_after_idling() {
    let expected: &[At<'_>] =
        &[(0, &[0, 0, 0, 0, 25]), (50, &[0, 0, 25]), (100, &[0, 0, 25]), (200, &[0, 0, 0, 0, 25])];
    told(rl_16, expected).await;
}

macro_rules! with_fallback {
    ($($function:ident $rate:literal)*) => {
        $(#[resilient(rate = $rate, fallback = || "fallback")]
        async fn $function() -> Result<&'static str, AppError> {
            Ok("value")
        })*
    };
}
with_fallback! { rl_18 "50/m" rl_19 "50/m" rl_20 "50/m/burst:1" }

/// How many of a hundred calls at once ran, the others having been answered for.
async fn ran(name: &str, call: impl AsyncFn() -> Result<&'static str, AppError>) -> usize {
    let answers = join_all((0..100).map(|_| call())).await;
    let count = |wanted| answers.iter().filter(|answer| matches!(answer, Ok(it) if *it == wanted)).count();
    assert_eq!(count("value") + count("fallback"), 100);
    assert_eq!(site(name).refused_for(Refusal::Rate), site(name).fallback_used);
    count("value")
}

async fn fifty_of_a_hundred() {
    assert_eq!(ran("rl_18", rl_18).await, 50);
}

async fn fifty_of_a_hundred_again() {
    assert_eq!(ran("rl_19", rl_19).await, 50);
    sleep(ms(60_000)).await;
    assert_eq!(ran("rl_19", rl_19).await, 50, "and as many a minute later");
}

async fn one_of_a_hundred() {
    assert_eq!(ran("rl_20", rl_20).await, 1);
}
