//! The check over a binary's own functions: what only shows once something has run, and where it stands.

// The check knows functions that nobody has called.
#![allow(dead_code)]

use watertight::check::{Finding, Problem};
use watertight::{Class, Classify, Error, check, resilient};
use watertight_tests::AppError;

fn found(problem: Problem, name: &str) -> Option<Finding> {
    check().findings.into_iter().find(|finding| (finding.problem, finding.name) == (problem, name))
}

#[derive(Debug)]
struct Unsaid;

impl From<Error> for Unsaid {
    fn from(_: Error) -> Self {
        Self
    }
}

#[derive(Debug)]
struct Said;

impl From<Error> for Said {
    fn from(_: Error) -> Self {
        Self
    }
}

impl Classify for Said {
    fn class(&self) -> Class {
        Class::Retryable
    }
}

#[resilient(timeout = "1s", retry = 1)]
async fn check_unsaid() -> Result<(), Unsaid> {
    Err(Unsaid)
}

#[resilient(timeout = "1s", retry = 1)]
async fn check_said() -> Result<(), Said> {
    Err(Said)
}

#[resilient(timeout = "1s", retry(1, on = |_: &Unsaid| true))]
async fn check_asked() -> Result<(), Unsaid> {
    Err(Unsaid)
}

#[resilient(timeout = "1s", retry = 1, idempotent)]
async fn check_harmless() -> Result<(), Unsaid> {
    Err(Unsaid)
}

#[tokio::test(start_paused = true)]
async fn errors_that_nobody_classified_are_found_once_they_were_retried() {
    let found = |name| found(Problem::Unclassified, name);
    assert!(found("check_unsaid").is_none(), "nothing was retried yet");
    check_unsaid().await.unwrap_err();
    check_said().await.unwrap_err();
    check_asked().await.unwrap_err();
    check_harmless().await.unwrap_err();
    let finding = found("check_unsaid").expect("its errors say nothing, and trying twice may do it twice");
    assert_eq!(finding.strategy, "retry");
    assert!(finding.to_string().contains("behaviour::check::check_unsaid (tests/behaviour/check.rs:"), "{finding}");
    assert!(found("check_said").is_none(), "the type says it");
    assert!(found("check_asked").is_none(), "a predicate says it");
    assert!(found("check_harmless").is_none(), "once more does no harm");
}

#[resilient(breaker)]
async fn check_endless() -> Result<(), AppError> {
    std::future::pending().await
}

#[resilient(timeout = "300ms", retry = 2, deadline = "500ms")]
async fn check_overlong() -> Result<(), Said> {
    Ok(())
}

#[test]
fn what_has_no_end_and_what_does_not_fit_are_found_without_a_call() {
    let endless = found(Problem::Unbounded, "check_endless").expect("a breaker ends nothing");
    assert!(endless.remedy.contains("timeout = "), "{endless}");
    let overlong = found(Problem::Overlong, "check_overlong").expect("three times 300 ms and two pauses");
    assert!(
        overlong.remedy.starts_with("3 attempts of 300ms at work, and 150ms of pauses, come to 1050ms"),
        "{overlong}"
    );
    let listed = watertight::catalogue();
    let listed = listed.site("check_overlong").unwrap();
    assert_eq!(listed.worst_case.longest().unwrap().as_millis(), 500, "the deadline holds");
    assert_eq!(listed.to_string(), "deadline = \"500ms\", retry = 2, timeout = \"300ms\"");
}
