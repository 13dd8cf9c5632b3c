//! Declarations in the attribute's words, and worst cases by hand.

use std::time::Duration;

use super::*;
use crate::declaration::Observe;
use crate::strategies::{breaker, bulkhead, deadline, fallback, hedge, isolate, retry, timeout};

const MS: u64 = 1_000_000;

const fn site() -> Declaration {
    Declaration::new("f", "m", "src/m.rs", 1)
}

fn said(declaration: &Declaration) -> String {
    Listed::of(declaration, &[declaration]).to_string()
}

fn worst(declaration: &Declaration) -> WorstCase {
    WorstCase::of(declaration, &[declaration])
}

#[test]
fn every_strategy_is_said_in_the_words_of_the_attribute_and_defaults_are_not() {
    let full = site()
        .timeout(timeout::Config::new(300 * MS))
        .deadline(deadline::Config::new(2_000 * MS))
        .bulkhead(bulkhead::Config::new("recs", 8).queue(16).wait(100 * MS).guards("pg"))
        .breaker(breaker::Config::named("recs").window(50).failures(0.2).cooldown(1_000 * MS).slow(200 * MS))
        .retry(retry::Config::new(3).backoff(10 * MS, 1_000 * MS).budget(0.1, 5.0).on_timeout().on_full())
        .fallback(fallback::Config::new().last_good(60_000 * MS))
        .idempotent();
    assert_eq!(
        said(&full),
        "fallback = last_good(\"1m\"), deadline = \"2s\", \
         retry(3, backoff = \"10ms..1s\", on = [error, timeout, full], budget = \"10%+5/s\"), \
         breaker(name = \"recs\", window = 50, failures = \"20%\", slow = \"200ms\", slow_rate = \"80%\", cooldown = \"1s\"), \
         bulkhead = \"recs:8/queue:16/wait:100ms\", guards = \"pg\", timeout = \"300ms\", idempotent"
    );
    let short = site()
        .bulkhead(bulkhead::Config::auto("recs").keyed())
        .breaker(breaker::Config::own())
        .retry(retry::Config::new(2))
        .hedge(hedge::Config::percentile(955))
        .observing(Observe::NONE.breaker());
    assert_eq!(
        said(&short),
        "retry = 2, hedge = \"p95.5\", breaker, bulkhead = \"recs:auto/floor:2/ceiling:128\", key, mode = observe(breaker)"
    );
    let narrowed = fallback::Config::new().on_nothing().on_full().on_timeout().limit(8);
    assert_eq!(said(&site().fallback(narrowed)), "fallback(.., on = [timeout, full], limit = 8)");
    let refused = fallback::Config::new().last_good(MS).on_nothing().on_refused();
    assert_eq!(said(&site().fallback(refused)), "fallback(last_good(\"1ms\"), on = [refused])");
    let joined = site().breaker(breaker::Config::join("pg")).bulkhead(bulkhead::Config::join("recs"));
    assert_eq!(said(&joined), "breaker = \"pg\", bulkhead = \"recs\"");
    let curved = retry::Config::new(1).linear().first(20 * MS).jitter_within(5 * MS).no_budget().max_duration(MS);
    assert_eq!(
        said(&site().retry(curved)),
        "retry(1, backoff(linear, first = \"20ms\", cap = \"2s\", jitter = \"5ms\"), max_duration = \"1ms\", budget = off)"
    );
}

#[test]
fn a_worst_case_is_every_wait_every_run_and_every_pause() {
    let queued = site().timeout(timeout::Config::new(300 * MS)).bulkhead(bulkhead::Config::new("a", 1).queue(1));
    assert_eq!(worst(&queued).longest(), Some(Duration::from_millis(600)), "it waits as long as its timeout");
    let retried = queued.retry(retry::Config::new(2));
    assert_eq!(worst(&retried).longest(), Some(Duration::from_millis(3 * 600 + 50 + 100)));
    let bounded = queued.retry(retry::Config::new(2).max_duration(100 * MS));
    assert_eq!(worst(&bounded).longest(), Some(Duration::from_millis(100 + 600)), "no attempt begins later");
    let hedged = site().timeout(timeout::Config::new(300 * MS)).hedge(hedge::Config::fixed(50 * MS));
    assert_eq!(worst(&hedged).longest(), Some(Duration::from_millis(350)));
    let threads =
        site().timeout(timeout::Config::new(300 * MS)).isolate(isolate::Config::new("t", 1).queue(1).wait(MS));
    assert_eq!(worst(&threads).longest(), Some(Duration::from_millis(301)));
    let endless = site().retry(retry::Config::new(2));
    assert_eq!(worst(&endless).longest(), None);
    assert_eq!(worst(&endless.deadline(deadline::Config::new(MS))).longest(), Some(Duration::from_millis(1)));
    assert_eq!(worst(&retried.observing(Observe::ALL)).longest(), None, "what observes bounds nothing");
    assert_eq!(worst(&retried.observing(Observe::NONE.retry())).longest(), Some(Duration::from_millis(600)));
}

#[test]
fn a_queue_that_stands_elsewhere_is_waited_in_too() {
    let joins = site().timeout(timeout::Config::new(MS)).bulkhead(bulkhead::Config::join("b"));
    let declares = site().bulkhead(bulkhead::Config::new("b", 1).queue(3));
    assert_eq!(WorstCase::of(&joins, &[&joins]).wait, Duration::ZERO, "a name that nobody declares has no queue");
    assert_eq!(WorstCase::of(&joins, &[&joins, &declares]).wait, Duration::from_millis(1));
}
