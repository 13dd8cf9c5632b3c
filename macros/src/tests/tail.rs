//! `observe`: its figures, and what it asks of the function.

use super::{plan, plan_on};
use crate::parse::tail::Tail;

const SAFE: &str = "timeout = \"300ms\", idempotent";

fn tail(figures: &str) -> Tail {
    let attribute = format!("{SAFE}, observe = \"{figures}\"");
    plan(&attribute).unwrap_or_else(|all| panic!("{figures}: {all:?}")).tail.expect("a share").1
}

/// The one mistake in an attribute.
fn mistake(attribute: &str) -> String {
    let Err(mut all) = plan(attribute) else { panic!("nothing is wrong with {attribute}") };
    assert_eq!(all.len(), 1, "{attribute}: {all:?}");
    all.swap_remove(0)
}

#[test]
fn a_share_and_what_bounds_it() {
    let plain = tail("2%");
    assert_eq!(((plain.share * 100.0).round(), plain.runs, plain.cap), (2.0, None, None));
    let said = tail("0.5%/cap:3s/runs:8");
    assert_eq!((said.runs, said.cap), (Some(8), Some(3_000_000_000)));
    for (figures, what) in [
        ("2", "`2` could be a number, a percentage or a part of one"),
        ("few", "`few` is no share of the attempts"),
        ("0%", "of so few nothing would ever be seen"),
        ("101%", "there are no more attempts than all of them"),
        ("2%/runs:0", "`0` cannot be how many run on at once"),
        ("2%/runs:65", "`65` cannot be how many run on at once"),
        ("2%/cap:3", "in `cap:3`, the unit is missing"),
        ("2%/queue:3", "an attempt for which there is no place is cut off like any other"),
        ("2%/run:3", "`run` is no part of this"),
    ] {
        let said = mistake(&format!("{SAFE}, observe = \"{figures}\""));
        assert!(said.contains(what), "{figures}: {said}");
    }
}

#[test]
fn it_needs_a_limit_to_run_on_beyond_and_the_word_that_it_does_no_harm() {
    assert!(mistake("bulkhead = \"a:1\", idempotent, observe = \"2%\"").starts_with("this function has no `timeout`"));
    assert!(mistake("timeout = \"1s\", observe = \"2%\"").starts_with("an attempt that is observed runs on"));
    assert!(
        mistake("timeout = \"1s\", idempotent, observe = \"2%/cap:1s\"").starts_with("the `cap` is reached before")
    );
    let only = mistake("timeout = \"1s\", idempotent, observe = \"2%\", mode(timeout = observe)");
    assert!(only.starts_with("the timeout only observes here"), "{only}");
    let isolated = mistake("timeout = \"1s\", idempotent, observe = \"2%\", isolate = \"reports:4\"");
    assert!(isolated.starts_with("a body on a thread of its own runs on by itself"), "{isolated}");
    assert!(plan("timeout = \"1s\", retry = 1, hedge = \"50ms\", idempotent, observe = \"2%\"").is_ok());
}

#[test]
fn what_may_run_on_owns_what_it_works_with() {
    let attribute = format!("{SAFE}, observe = \"2%\"");
    for (item, what) in [
        (
            "async fn f(name: &str) -> Result<(), E> { go(name).await }",
            "so it cannot borrow its arguments\ntake a `String`",
        ),
        (
            "async fn f(&self) -> Result<(), E> { go(self).await }",
            "so it cannot borrow `self`\nwrite `self: Arc<Self>`",
        ),
    ] {
        let Err(all) = plan_on(&attribute, item) else { panic!("{item} was let through") };
        assert!(all.len() == 1 && all[0].contains(what), "{item}: {all:?}");
    }
    assert!(
        plan_on(&attribute, "async fn f(self: Arc<Self>, name: &'static str) -> Result<(), E> { go(name).await }")
            .is_ok()
    );
}
