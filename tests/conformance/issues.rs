//! Faults that were reported to the peer.
//!
//! Invariants: a fault that a row of another section would show names that row.

use std::sync::Arc;

use tokio::time::sleep;
use watertight::resilient;
use watertight_tests::{AppError, Peak, Stopwatch, ms, site};

use crate::harness::{Entry, row, shown_by};
use crate::invalid::refused;
use crate::support::{Runs, TEST};

pub(crate) fn rows() -> Vec<Entry> {
    vec![
        shown_by("IS-01", "a hundred retries", &["SX-06"]),
        shown_by("IS-02", "as it stands", &["SX-17", "C7"]),
        shown_by("IS-03", "as it stands", &["SX-18", "C3"]),
        shown_by("IS-04", "differs: the first call after the cooldown half-opens it", &["SX-19"]),
        shown_by("IS-05", "differs: what is refused takes no token, and there is no spacing", &["RL-02", "RL-08"]),
        shown_by("IS-06", "as it stands", &["SX-25"]),
        row!("IS-07", "as it stands", whatever_ends_the_attempts_is_answered_for),
        shown_by("IS-08", "as it stands", &["DS-08", "DS-09", "DS-10"]),
        row!("IS-09", "ten thousand calls", calls_add_no_series),
        row!("IS-10", "here the work is dropped", a_timeout_ends_the_work),
        shown_by("IS-11", "a task-local", &["AS-05"]),
        shown_by("IS-12", "a fallback that is guarded itself is an ordinary call", &["F6"]),
        shown_by("IS-13", "a hundred retries for no limit", &["SX-03"]),
        shown_by("IS-14", "predicates see the error's sources", &["SX-34", "SX-35"]),
        shown_by("IS-15", "every future is awaited", &["RT-28", "FB-16"]),
        refused("IS-16", "does not compile", "bare_number", "is a bare number, and its unit would have to be guessed"),
        shown_by("IS-17", "a queue is one part of a bulkhead, wherever it stands", &["BH-15", "SX-38"]),
        shown_by(
            "IS-18",
            "differs: the narrower scope goes before the wider, wherever the attribute stands",
            &["CF-06"],
        ),
        shown_by("IS-19", "as it stands", &["B4", "SX-28"]),
        shown_by("IS-20", "as it stands", &["B7"]),
        row!("IS-21", "a type that holds itself, as answer and as argument", a_recursive_type_is_a_type_like_any_other),
        row!("IS-22", "every call is guarded, whoever makes it", a_call_from_the_same_type_is_guarded),
    ]
}

#[resilient(
    timeout = "300ms",
    idempotent,
    retry(100, on = any, backoff(constant, first = "1ms", jitter = none), max_duration = "1s", budget = off),
    fallback = || "fallback"
)]
async fn is_07() -> Result<&'static str, AppError> {
    std::future::pending().await
}

async fn whatever_ends_the_attempts_is_answered_for() {
    let clock = Stopwatch::start();
    assert_eq!(is_07().await.unwrap(), "fallback");
    assert!((ms(1_200)..ms(1_220)).contains(&clock.read()), "the fourth attempt is not cut short: {:?}", clock.read());
    assert_eq!(site("is_07").fallback_used, 1);
}

#[resilient(timeout = "1s", bulkhead = "is-09:1", breaker)]
async fn is_09<T>(argument: T) -> Result<T, AppError> {
    Ok(argument)
}

async fn calls_add_no_series() {
    for number in 0..5_000_u32 {
        is_09(number).await.unwrap();
        is_09(number.to_string()).await.unwrap();
    }
    let snapshot = watertight::snapshot();
    let sites: Vec<_> = snapshot.sites.iter().filter(|site| site.name == "is_09").collect();
    assert_eq!((sites.len(), sites[0].ok), (1, 10_000));
    assert_eq!(snapshot.breakers.iter().filter(|breaker| breaker.name == "is_09").count(), 1);
    assert_eq!(snapshot.bulkheads.iter().filter(|bulkhead| bulkhead.name == "is-09").count(), 1);
}

#[resilient(timeout = "100ms")]
async fn is_10(peak: &Peak, late: &Runs) -> Result<(), AppError> {
    let _inside = peak.enter();
    sleep(ms(200)).await;
    late.next();
    Ok(())
}

async fn a_timeout_ends_the_work() {
    let (peak, late) = (Peak::default(), Runs::default());
    is_10(&peak, &late).await.unwrap_err();
    assert_eq!((peak.ever(), peak.now()), (1, 0), "it was dropped");
    sleep(ms(500)).await;
    assert_eq!(late.count(), 0, "and never goes on");
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Node {
    next: Option<Box<Self>>,
}

#[resilient(retry(1, backoff = "1ms..1ms"), fallback = Node::default)]
async fn is_21(node: Node, fails: bool) -> Result<Node, AppError> {
    if fails { Err(TEST) } else { Ok(Node { next: Some(Box::new(node)) }) }
}

async fn a_recursive_type_is_a_type_like_any_other() {
    let two = is_21(Node::default(), false).await.unwrap();
    assert_eq!(two.next.as_deref(), Some(&Node::default()));
    assert_eq!(is_21(two, true).await.unwrap(), Node::default());
}

struct Itself(Arc<Runs>);

impl Itself {
    #[resilient(retry(2, backoff = "1ms..1ms"), name = "is-22")]
    async fn guarded(&self) -> Result<(), AppError> {
        self.0.next();
        Err(TEST)
    }

    async fn calls_itself(&self) -> Result<(), AppError> {
        self.guarded().await
    }
}

async fn a_call_from_the_same_type_is_guarded() {
    let it = Itself(Arc::default());
    it.calls_itself().await.unwrap_err();
    assert_eq!((it.0.count(), site("is-22").calls), (3, 1));
}
