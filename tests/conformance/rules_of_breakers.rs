//! The rules that the rows about breakers rest on (C).
//!
//! The peer judges a full window only, which is what `min_calls` of the window's size means; it is the default for a window
//! this small.
//!
//! Invariants: state is read from the figures only after the answers have shown it.

use std::sync::Arc;

use tokio::time::sleep;
use watertight::ErrorKind;
use watertight::metrics::BreakerState;
use watertight::resilient;
use watertight_tests::{AppError, breaker, ms};

use crate::harness::{Entry, left_out, row, shown_by};
use crate::held::{Held, Post, Start};
use crate::support::{IO, TEST, is_io, is_test};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        shown_by("C1", "as it stands", &["CB-08", "CB-09", "CB-11"]),
        row!("C2", "a share of nothing is refused by the compiler", it_opens_when_failures_reach_the_share),
        row!("C3", "as it stands", what_is_skipped_or_not_named_is_a_success),
        shown_by("C4", "differs: refusals of ours count only where they are named", &["CX-01", "CX-03", "CX-05"]),
        shown_by("C5", "as it stands", &["CB-02", "CB-03", "CB-04"]),
        shown_by("C6", "as it stands", &["CB-03", "CB-10"]),
        row!("C7", "as it stands", half_open_lets_the_set_number_in_and_no_more),
        row!("C8", "as it stands", a_result_of_an_earlier_state_decides_nothing),
        left_out(
            "C9",
            "there is no timer without a call: an open breaker is half-open from the first call after its cooldown",
        ),
        row!("C10", "the peer's fault is not repeated", a_probe_that_is_dropped_gives_its_place_back),
        shown_by(
            "C11",
            "differs: one without a name is the method's for all instances, one with a name is shared",
            &["CL-01", "CL-02", "CL-03"],
        ),
    ]
}

/// Sites whose body answers as it is told.
macro_rules! told {
    ($($function:ident [$($keys:tt)*])*) => {
        $(#[resilient(breaker($($keys)*))]
        async fn $function(answer: Result<(), AppError>) -> Result<(), AppError> {
            answer
        })*
    };
}

told! {
    c_2_half_of_four [window = 4, failures = "50%"]
    c_2_most_of_four [window = 4, failures = "75%"]
    c_2_most_of_two [window = 2, failures = "75%"]
    c_3 [window = 4, failures = "50%", on = is_test, skip = is_io]
}

/// So many failures in a full window, the last result being a success where there is room for one; whether it opened.
macro_rules! opens_at {
    ($function:ident, $window:literal, $failures:literal) => {{
        for number in 0..$window {
            let _ = $function(if number < $failures { Err(TEST) } else { Ok(()) }).await;
        }
        let opened = $function(Ok(())).await.is_err_and(|error| error.kind() == Some(ErrorKind::BreakerOpen));
        assert_eq!(breaker(stringify!($function)).state == BreakerState::Open, opened);
        watertight::breaker::reset(stringify!($function));
        opened
    }};
}

async fn it_opens_when_failures_reach_the_share() {
    assert!(!opens_at!(c_2_half_of_four, 4, 1));
    assert!(opens_at!(c_2_half_of_four, 4, 2));
    assert!(!opens_at!(c_2_most_of_four, 4, 2));
    assert!(opens_at!(c_2_most_of_four, 4, 3));
    assert!(!opens_at!(c_2_most_of_two, 2, 1));
    assert!(opens_at!(c_2_most_of_two, 2, 2));
}

async fn what_is_skipped_or_not_named_is_a_success() {
    for _ in 0..2 {
        assert!(c_3(Err(TEST)).await.is_err());
    }
    for _ in 0..2 {
        // Neither is in the window yet, so they complete it: two of four, and it opens.
        assert!(c_3(Err(AppError::Broken("unlisted"))).await.is_err());
    }
    assert_eq!(c_3(Ok(())).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen), "what is not named completes it");
    watertight::breaker::reset("c_3");
    for answer in [Err(IO), Err(IO), Err(IO), Err(TEST), Err(IO)] {
        assert!(c_3(answer).await.is_err());
    }
    let now = breaker("c_3");
    assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 1, 4), "what is skipped is in the window");
}

macro_rules! gated {
    ($($function:ident [$($keys:tt)*])*) => {
        $(#[resilient(breaker($($keys)*))]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

gated! {
    c_7 [window = 10, failures = "50%", cooldown = "200ms", probes = 5]
    c_8 [window = 2, failures = "100%", cooldown = "200ms", probes = 1]
    c_10 [window = 2, failures = "100%", cooldown = "200ms", probes = 1]
}

/// Fails so many calls and waits until the cooldown is over, jitter and all.
async fn open_and_cool_down(start: Start, failures: usize) {
    for _ in 0..failures {
        Held::begin_failing(start).await.release().await.unwrap_err();
    }
    assert_eq!(Held::begin(start).await.answer().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    sleep(ms(400)).await;
}

async fn half_open_lets_the_set_number_in_and_no_more() {
    let start: Start = |post| Box::pin(c_7(post));
    open_and_cool_down(start, 10).await;
    let mut probes = Vec::new();
    for _ in 0..5 {
        probes.push(Held::begin(start).await);
    }
    assert!(probes.iter().all(Held::is_inside));
    for _ in 0..10 {
        let refused = Held::begin(start).await;
        assert!(!refused.is_inside());
        assert_eq!(refused.answer().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    }
    for probe in probes {
        assert_eq!(breaker("c_7").state, BreakerState::HalfOpen, "not before all of them have answered");
        probe.release().await.unwrap();
    }
    assert_eq!(breaker("c_7").state, BreakerState::Closed);
    Held::begin(start).await.release().await.unwrap();
}

async fn a_result_of_an_earlier_state_decides_nothing() {
    let start: Start = |post| Box::pin(c_8(post));
    let old = [Held::begin(start).await, Held::begin_failing(start).await];
    let older = [Held::begin_failing(start).await, Held::begin_failing(start).await];
    open_and_cool_down(start, 2).await;
    let probe = Held::begin(start).await;
    assert!(probe.is_inside());
    let [well, failing] = old;
    well.release().await.unwrap();
    failing.release().await.unwrap_err();
    let now = breaker("c_8");
    assert_eq!((now.state, now.opened, now.closed), (BreakerState::HalfOpen, 1, 0), "neither closed nor opened again");
    probe.release().await.unwrap();
    for failing in older {
        failing.release().await.unwrap_err();
        let now = breaker("c_8");
        assert_eq!((now.state, now.calls, now.failures), (BreakerState::Closed, 0, 0), "nor in the new window");
    }
}

async fn a_probe_that_is_dropped_gives_its_place_back() {
    let start: Start = |post| Box::pin(c_10(post));
    open_and_cool_down(start, 2).await;
    let probe = Held::begin(start).await;
    assert!(probe.is_inside());
    assert_eq!(Held::begin(start).await.answer().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    probe.cancel().await;
    assert_eq!(breaker("c_10").state, BreakerState::HalfOpen, "it has said nothing");
    let next = Held::begin(start).await;
    assert!(next.is_inside(), "without a wait");
    next.release().await.unwrap();
    assert_eq!(breaker("c_10").state, BreakerState::Closed);
}
