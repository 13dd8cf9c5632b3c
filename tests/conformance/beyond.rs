//! What the peer's implementation tests of bulkheads, fallbacks, figures and guards beyond the specification.
//!
//! Invariants: what needs threads has a runtime of its own, with a clock that goes, and never sleeps.

use std::fmt;
use std::io;
use std::sync::Arc;

use futures::future::join_all;
use futures::poll;
use tokio::time::sleep;
use watertight::guard::Bulkhead;
use watertight::{ErrorKind, Failure, FallbackUse, Fate, Guard, Refusal, StopReason, resilient};
use watertight_tests::{AppError, Gate, ms, occupancy, site};

use crate::harness::{Entry, left_out, row};
use crate::held::{Held, Post, Start, assert_full};
use crate::support::{IO, Runs, TEST, on_threads, settle};

const ONE: &str = "one fallback that looks at the error for several; `on` says for which";
const CHAIN: &str = "a predicate that looks at the error's sources";

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        row!("SX-24", "as it stands", five_run_and_fifteen_are_answered_for),
        row!("SX-25", "as it stands", fifty_are_answered_for),
        row!("SX-26", "as it stands", ten_thousand_wait_behind_one),
        row!("SX-27", "fifty rounds", nobody_is_left_in_the_queue),
        row!("SX-28", "five rounds", ten_thousand_and_two_hundred),
        row!("SX-29", "a guard, which is refused when it is built", a_queue_beyond_all_bounds),
        row!("SX-30", ONE, the_fallback_for_this_error),
        row!("SX-31", ONE, no_fallback_for_this_error),
        row!("SX-32", ONE, the_fallback_for_all_others),
        row!("SX-33", ONE, what_is_skipped_is_skipped_first),
        row!("SX-34", CHAIN, the_outer_error_decides_then_its_sources),
        row!("SX-35", CHAIN, a_source_may_be_skipped),
        row!("SX-36", "as it stands", a_call_with_three_retries_and_a_fallback_is_counted),
        row!("SX-37", "a caller that calls three times", each_call_is_guarded_anew),
        row!("SX-38", "a guard and two functions that name one bulkhead", one_bulkhead_for_three),
        row!("SX-39", "a guard and a function that name one bulkhead", figures_of_each_for_one_bulkhead),
        row!("SX-40", "refused when it is built; no name is reserved", guards_that_are_not_built),
        row!("SX-41", "an attribute for each function", outside::what_is_in_force_can_be_read),
        left_out("SX-42", "a sleep that is dropped takes its timer with it, which tokio promises and does not show"),
        row!("SX-43", "a guard", outside::killed_a_guard_still_falls_back),
    ]
}
#[resilient(bulkhead = "sx-24:5", fallback = |failure| match failure {
    Failure::Refused(error) if error.kind() == ErrorKind::BulkheadFull => Ok("fallback"),
    other => Err(other.into_error()),
})]
async fn sx_24() -> Result<&'static str, AppError> {
    sleep(ms(100)).await;
    Ok("value")
}

async fn five_run_and_fifteen_are_answered_for() {
    let answers = join_all((0..20).map(|_| sx_24())).await;
    let count = |wanted| answers.iter().filter(|answer| matches!(answer, Ok(it) if *it == wanted)).count();
    assert_eq!((count("value"), count("fallback"), occupancy("sx-24")), (5, 15, (0, 0)));
}

#[resilient(bulkhead = "sx-25:15/queue:15", timeout = "1s", fallback = || "fallback")]
async fn sx_25() -> Result<&'static str, AppError> {
    sleep(ms(2_000)).await;
    Ok("value")
}

async fn fifty_are_answered_for() {
    let answers = join_all((0..50).map(|_| sx_25())).await;
    assert!(answers.iter().all(|answer| matches!(answer, Ok("fallback"))), "{answers:?}");
    let figures = site("sx_25");
    assert_eq!((figures.fallback_used, figures.fallback_failed), (50, 0));
    assert_eq!(figures.refused_for(Refusal::Full), 20);
    assert_eq!((figures.timed_out + figures.refused, occupancy("sx-25")), (50, (0, 0)));
}

#[resilient(bulkhead = "sx-26:1/queue:10000/wait:1m")]
async fn sx_26(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

async fn ten_thousand_wait_behind_one() {
    let gate = Gate::shut();
    let mut calls: Vec<_> = (0..10_001).map(|_| Box::pin(sx_26(&gate))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    assert_eq!(occupancy("sx-26"), (1, 10_000));
    gate.open();
    assert!(join_all(calls).await.iter().all(Result::is_ok));
    assert_eq!(occupancy("sx-26"), (0, 0));
}

#[resilient(bulkhead = "sx-27:5/queue:1000/wait:1m")]
async fn sx_27() -> Result<(), AppError> {
    tokio::task::yield_now().await;
    Ok(())
}

async fn nobody_is_left_in_the_queue() {
    on_threads(async {
        for round in 0..50 {
            let calls: Vec<_> = (0..1_000).map(|_| tokio::spawn(sx_27())).collect();
            for answer in join_all(calls).await {
                answer.expect("no panic").unwrap_or_else(|error| panic!("round {round}: {error}"));
            }
        }
    });
    assert_eq!((occupancy("sx-27"), site("sx_27").ok), ((0, 0), 50_000));
}

#[resilient(bulkhead = "sx-28:100/queue:10000/wait:1m")]
async fn sx_28(number: usize, gate: &Gate) -> Result<usize, AppError> {
    gate.opened().await;
    Ok(number)
}

async fn ten_thousand_and_two_hundred() {
    for _ in 0..5 {
        let gate = Gate::shut();
        let mut accepted: Vec<_> = (0..10_100).map(|number| Box::pin(sx_28(number, &gate))).collect();
        for call in &mut accepted {
            assert!(poll!(call).is_pending());
        }
        for answer in join_all((0..200).map(|number| sx_28(number, &gate))).await {
            assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
        }
        gate.open();
        let answers = join_all(accepted).await;
        assert!(answers.into_iter().enumerate().all(|(number, answer)| answer.is_ok_and(|it| it == number)));
    }
    assert_eq!(occupancy("sx-28"), (0, 0));
}

async fn a_queue_beyond_all_bounds() {
    let error = Guard::named("sx-29").bulkhead(Bulkhead::new("sx-29", 1).queue(u32::MAX)).build().unwrap_err();
    assert_eq!(error.mistakes().len(), 1, "{error}");
    assert!(watertight::snapshot().bulkhead("sx-29").is_none(), "nothing was built");
}

/// What the service says, by the kinds the peer derives from one another.
#[derive(Debug, PartialEq)]
enum Kind {
    Argument,
    Number,
    State,
    Other,
}

impl Kind {
    fn is_listed(&self) -> bool {
        *self != Self::Other
    }

    fn is_any(&self) -> bool {
        matches!(self, Self::Argument | Self::Number | Self::State | Self::Other)
    }

    fn is_no_argument(&self) -> bool {
        *self != Self::Argument
    }
}

macro_rules! overloaded {
    ($($function:ident on $on:path [$($arms:tt)*])*) => {
        $(#[resilient(fallback(|error: Kind| match error { $($arms)* }, on = $on))]
        async fn $function(error: Kind) -> Result<&'static str, Kind> {
            Err(error)
        })*
    };
}

overloaded! {
    sx_30 on Kind::is_listed [
        Kind::Number => "number",
        Kind::Argument => "argument",
        _ => "state",
    ]
    sx_32 on Kind::is_any [
        Kind::Number => "number",
        Kind::Argument => "argument",
        _ => "any",
    ]
    sx_33 on Kind::is_no_argument [
        Kind::Number => "number",
        _ => "any",
    ]
}

async fn the_fallback_for_this_error() {
    assert_eq!(sx_30(Kind::Argument).await, Ok("argument"));
    assert_eq!(sx_30(Kind::Number).await, Ok("number"));
    assert_eq!(sx_30(Kind::State).await, Ok("state"));
}

async fn no_fallback_for_this_error() {
    assert_eq!(sx_30(Kind::Other).await, Err(Kind::Other), "the error as it was");
}

async fn the_fallback_for_all_others() {
    assert_eq!(sx_32(Kind::Argument).await, Ok("argument"));
    assert_eq!(sx_32(Kind::State).await, Ok("any"));
}

async fn what_is_skipped_is_skipped_first() {
    assert_eq!(sx_33(Kind::Argument).await, Err(Kind::Argument));
    assert_eq!(sx_33(Kind::Number).await, Ok("number"));
}

/// An error with a source.
#[derive(Debug)]
struct Wrapped(&'static str, Option<Box<Self>>);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Wrapped {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref().map(|source| source as _)
    }
}

fn wrapped(outer: &'static str, source: &'static str) -> Wrapped {
    Wrapped(outer, Some(Box::new(Wrapped(source, None))))
}

/// Whether one of its sources is of this kind.
fn has_source(error: &Wrapped, kind: &str) -> bool {
    let first = std::error::Error::source(error);
    std::iter::successors(first, |error| error.source()).any(|source| source.to_string() == kind)
}

#[resilient(fallback(|| "fallback", on = |error| match error.0 {
    "io" => true,
    "expected" => false,
    _ => !has_source(error, "expected") && has_source(error, "io"),
}))]
async fn sx_34(error: Wrapped) -> Result<&'static str, Wrapped> {
    Err(error)
}

async fn the_outer_error_decides_then_its_sources() {
    assert_eq!(sx_34(wrapped("wrapper", "io")).await.unwrap(), "fallback");
    assert_eq!(sx_34(wrapped("wrapper", "expected")).await.unwrap_err().0, "wrapper");
    assert_eq!(sx_34(wrapped("io", "expected")).await.unwrap(), "fallback");
    assert_eq!(sx_34(wrapped("expected", "io")).await.unwrap_err().0, "expected");
}

#[resilient(fallback(|| "fallback", on = |error| error.0 != "expected" && !has_source(error, "expected")))]
async fn sx_35(error: Wrapped) -> Result<&'static str, Wrapped> {
    Err(error)
}

async fn a_source_may_be_skipped() {
    assert_eq!(sx_35(wrapped("io", "expected")).await.unwrap_err().0, "io");
    assert_eq!(sx_35(wrapped("io", "other")).await.unwrap(), "fallback");
}

#[resilient(retry(3, backoff = "1ms..1ms"), fallback = || "fallback")]
async fn sx_36() -> Result<&'static str, AppError> {
    Err(TEST)
}

async fn a_call_with_three_retries_and_a_fallback_is_counted() {
    assert_eq!(sx_36().await.unwrap(), "fallback");
    let figures = site("sx_36");
    assert_eq!((figures.fate_with(Fate::Error, FallbackUse::Used), figures.calls), (1, 1));
    assert_eq!((figures.retries, figures.stopped_for(StopReason::Exhausted)), (3, 1));
}

#[resilient(retry(3, backoff = "1ms..1ms", budget = off))]
async fn sx_37(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    Err(IO)
}

async fn each_call_is_guarded_anew() {
    let runs = Runs::default();
    for _ in 0..3 {
        assert_eq!(sx_37(&runs).await.unwrap_err().broken(), Some("io"));
    }
    assert_eq!(runs.count(), 12, "three times four");
}

macro_rules! sharing {
    ($($function:ident $declared:literal)*) => {
        $(#[resilient(bulkhead = $declared)]
        async fn $function(post: Arc<Post>) -> Result<(), AppError> {
            post.stay().await
        })*
    };
}

sharing! {
    sx_38 "sx-38:3/queue:2/wait:1m"
    sx_38_again "sx-38"
    sx_39 "sx-39:3"
}

/// A guard that joins this bulkhead.
async fn through_a_guard(name: &'static str, bulkhead: &'static str, post: Arc<Post>) -> Result<(), AppError> {
    let guard = Guard::named(name).bulkhead(Bulkhead::join(bulkhead)).build().expect("no mistakes");
    guard.run_into(|| post.stay()).await
}

async fn one_bulkhead_for_three() {
    let starts: [Start; 3] = [
        |post| Box::pin(sx_38(post)),
        |post| Box::pin(sx_38_again(post)),
        |post| Box::pin(through_a_guard("sx-38-guard", "sx-38", post)),
    ];
    let mut calls = Vec::new();
    for start in starts.iter().cycle().take(5) {
        calls.push(Held::begin(*start).await);
    }
    assert_eq!(occupancy("sx-38"), (3, 2));
    for start in starts {
        assert_full(start).await;
    }
    for call in calls {
        call.release().await.unwrap();
    }
}

async fn figures_of_each_for_one_bulkhead() {
    let starts: [Start; 2] =
        [|post| Box::pin(sx_39(post)), |post| Box::pin(through_a_guard("sx-39-guard", "sx-39", post))];
    let calls = [Held::begin(starts[0]).await, Held::begin(starts[1]).await, Held::begin(starts[1]).await];
    assert_full(starts[0]).await;
    for call in calls {
        call.release().await.unwrap();
    }
    settle().await;
    let (function, guard) = (site("sx_39"), site("sx-39-guard"));
    assert_eq!((function.ok, function.refused_for(Refusal::Full)), (1, 1));
    assert_eq!((guard.ok, guard.refused), (2, 0));
}

async fn guards_that_are_not_built() {
    assert_eq!(Guard::named("").timeout(ms(100)).build().unwrap_err().mistakes().len(), 1, "no name");
    let first = Guard::named("sx-40").timeout(ms(100)).build().unwrap();
    assert!(Guard::named("sx-40").timeout(ms(200)).build().is_err(), "the same name with other figures");
    let again = Guard::named("sx-40").timeout(ms(100)).build().unwrap();
    assert_eq!(first.identity(), again.identity(), "the same name with the same figures is the same guard");
    let global = Guard::named("global").timeout(ms(100)).build().unwrap();
    assert_eq!(global.run(|| async { Ok::<_, io::Error>(7) }).await.unwrap(), 7);
}
