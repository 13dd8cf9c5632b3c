//! The long forms of `breaker` and `retry`: windows of time, slowness, what counts, how pauses grow.

use super::plan;
use crate::parse::backoff::{Backoff, Curve, Jitter};
use crate::parse::breaker::Window;
use crate::parse::on::Kind;
use crate::parse::retry::Budget;
use crate::plan::{Breaker, Retry};

const MS: u64 = 1_000_000;

fn breaker(keys: &str) -> Breaker {
    let attribute = format!("bulkhead = \"a:1/queue:1\", breaker({keys})");
    plan(&attribute).unwrap_or_else(|all| panic!("{keys}: {all:?}")).breaker.expect("a breaker")
}

fn retry(keys: &str) -> Retry {
    plan(&format!("retry(2, {keys})")).unwrap_or_else(|all| panic!("{keys}: {all:?}")).retry.expect("a retry")
}

/// The one mistake in an attribute.
fn mistake(attribute: &str) -> String {
    let Err(mut all) = plan(attribute) else { panic!("nothing is wrong with {attribute}") };
    assert_eq!(all.len(), 1, "{attribute}: {all:?}");
    all.swap_remove(0)
}

#[test]
fn a_window_is_a_number_of_calls_or_a_length_of_time() {
    assert_eq!(breaker("window = 50").window, Some(Window::Calls(50)));
    assert_eq!(breaker("window = \"10s\"").window, Some(Window::Time(10_000 * MS)));
    let timed = breaker("window = \"10s\", min_calls = 1000");
    assert_eq!(timed.min_calls, Some(1_000), "a time holds any number of calls");
    assert_eq!(breaker("window = \"10s\"").min_calls, None);
    assert!(mistake("breaker(window = \"10ms\")").starts_with("`window = \"10ms\"`: it has to be from 100ms to 1h"));
    assert!(mistake("breaker(window = \"2h\")").starts_with("`window = \"2h\"`: it has to be from 100ms to 1h"));
    assert!(mistake("breaker(window = \"10\")").contains("the unit is missing"));
}

#[test]
fn slowness_has_a_length_and_a_share() {
    let slow = breaker("slow = \"200ms\", slow_rate = \"80%\"");
    assert_eq!((slow.slow, slow.slow_rate), (Some(200 * MS), Some(0.8)));
    assert_eq!(breaker("slow = \"200ms\"").slow_rate, None);
    assert!(mistake("breaker(slow_rate = \"80%\")").starts_with("nothing says how long a slow call takes"));
    assert!(mistake("breaker(slow = 200)").starts_with("`slow = 200` is a bare number"));
    assert!(mistake("breaker(slow = \"1s\", slow_rate = \"0%\")").contains("without a single slow call"));
    assert!(mistake("timeout = \"1s\", breaker(slow = \"2s\")").starts_with("an attempt is cut off before"));
    assert!(plan("timeout = \"1s\", breaker(slow = \"1s\")").is_ok(), "what timed out took that long");
}

#[test]
fn what_a_breaker_counts_follows_from_the_words() {
    let counts = |keys: &str| {
        let breaker = breaker(keys);
        (breaker.kinds, breaker.predicate.is_some(), breaker.any)
    };
    assert_eq!(counts("probes = 1"), (None, false, false));
    assert_eq!(counts("on = is_outage"), (None, true, false), "a predicate alone leaves the rest as it is");
    assert_eq!(counts("on = [timeout, full]"), (Some(vec![Kind::Timeout, Kind::Full]), false, false));
    assert_eq!(counts("on = [wait, |e| e.x()]"), (Some(vec![Kind::Wait, Kind::Error]), true, false));
    let all = vec![Kind::Error, Kind::Timeout, Kind::Full, Kind::Wait];
    assert_eq!(counts("on = any"), (Some(all), false, true));
    assert!(breaker("skip = |e| e.is_fine(), on = any").skip.is_some());
    assert!(mistake("breaker(on = [full])").starts_with("`full` is a bulkhead's refusal"));
    assert!(mistake("breaker(on = error)").starts_with("`error` alone would be taken for a predicate"));
    assert!(mistake("breaker(on = [any])").starts_with("`any` is everything there is"));
    assert!(mistake("breaker(on = [])").starts_with("an empty list counts nothing"));
}

#[test]
fn any_retries_every_word_and_needs_to_be_harmless() {
    let any = plan("idempotent, retry(2, on = any)").unwrap_or_else(|all| panic!("{all:?}")).retry.expect("a retry");
    assert!(any.any);
    assert_eq!(any.kinds, [Kind::Full, Kind::Wait, Kind::Rate, Kind::Error, Kind::Timeout]);
    assert!(mistake("retry(2, on = any)").starts_with("an attempt that timed out may have written"));
    assert_eq!(retry("on = [open]").kinds, [Kind::Open]);
}

#[test]
fn the_long_form_of_backoff_names_its_curve() {
    let backoff = |text: &str| retry(&format!("backoff({text})")).backoff.expect("a backoff");
    let curved = |curve| Backoff::Curved { curve, first: None, cap: None, jitter: None };
    assert_eq!(backoff("exponential"), curved(Curve::Exponential(None)));
    assert_eq!(backoff("constant"), curved(Curve::Constant));
    assert_eq!(backoff("linear"), curved(Curve::Linear));
    assert_eq!(backoff("fibonacci"), curved(Curve::Fibonacci));
    assert_eq!(backoff("decorrelated,"), curved(Curve::Decorrelated));
    assert_eq!(
        backoff("exponential, first = \"50ms\", cap = \"2s\", factor = 1.5, jitter = equal"),
        Backoff::Curved {
            curve: Curve::Exponential(Some(1.5)),
            first: Some(50 * MS),
            cap: Some(2_000 * MS),
            jitter: Some(Jitter::Equal),
        }
    );
    for (text, jitter) in [("full", Jitter::Full), ("none", Jitter::None), ("\"20ms\"", Jitter::Within(20 * MS))] {
        let Backoff::Curved { jitter: Some(read), .. } = backoff(&format!("linear, jitter = {text}")) else { panic!() };
        assert_eq!(read, jitter);
    }
}

#[test]
fn a_backoff_that_cannot_be_meant_is_refused_with_a_reason() {
    for (text, begins) in [
        ("", "`backoff(..)` begins with one of"),
        ("first = \"1s\"", "`backoff(..)` begins with one of"),
        ("exponentail", "`exponentail` is no way for pauses to grow\ndid you mean `exponential`?"),
        ("linear, factor = 2", "only exponential pauses are multiplied"),
        ("constant, cap = \"2s\"", "constant pauses do not grow"),
        ("decorrelated, jitter = full", "decorrelated pauses are drawn already"),
        ("linear, first = \"2s\", cap = \"1s\"", "the longest pause is shorter than the first one"),
        ("exponential, factor = 0.5", "`factor = 0.5`: it has to be a number from 1.0 to 100.0"),
        ("exponential, factor = -1", "`factor = - 1`: it has to be a number"),
        ("linear, jitter = som", "`som` is no jitter"),
        ("linear, first = 50", "`first = 50` is a bare number"),
        ("linear, first = \"0s\"", "`first = \"0s\"`: without a pause"),
        ("linear, frist = \"1s\"", "`frist` is no key of `backoff(..)`"),
    ] {
        let said = mistake(&format!("retry(2, backoff({text}))"));
        assert!(said.starts_with(begins), "{text}: {said}");
    }
}

#[test]
fn the_longest_duration_leaves_room_for_the_longest_pause() {
    assert_eq!(retry("max_duration = \"3s\"").max_duration, Some(3_000 * MS));
    assert!(retry("abort = AppError::is_final").abort.is_some());
    for backoff in ["= \"50ms..3s\"", "(linear, cap = \"3s\")", "(constant, first = \"4s\")"] {
        let said = mistake(&format!("retry(2, backoff {backoff}, max_duration = \"3s\")"));
        assert!(said.starts_with("the longest pause could not end before this"), "{said}");
    }
}

#[test]
fn a_budget_may_have_a_name() {
    let budget = |text: &str| retry(&format!("budget = \"{text}\"")).budget.expect("a budget");
    assert!(matches!(budget("pg:10%+5/s"), Budget::Named(name, 0.1, 5.0) if name == "pg"));
    assert!(matches!(budget("pg:10%"), Budget::Named(name, 0.1, 1.0) if name == "pg"));
    assert!(matches!(budget("pg"), Budget::Join(name) if name == "pg"));
    assert!(mistake("retry(2, budget = \"p g\")").contains("cannot stand in a name"));
    assert!(mistake("retry(2, budget = \":10%\")").contains("the name is empty"));
    assert!(mistake("retry(2, budget = \"pg:ten\")").contains("have to be a percentage"));
}
