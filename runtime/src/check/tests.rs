//! Findings over whole binaries, which no test binary can be: judged from declarations alone.

use std::time::Duration;

use super::{Finding, Problem, judge_declarations};
use crate::declaration::{Declaration, Observe};
use crate::strategies::{breaker, bulkhead, deadline, isolate, retry, timeout};

const MS: u64 = 1_000_000;

const fn site(name: &'static str) -> Declaration {
    Declaration::new(name, "shop", "src/shop.rs", 7)
}

const fn ms(length: u64) -> timeout::Config {
    timeout::Config::new(length * MS)
}

fn found(declarations: &[&'static Declaration], problem: Problem) -> Vec<Finding> {
    let all = judge_declarations(declarations, None).findings;
    all.into_iter().filter(|finding| finding.problem == problem).collect()
}

#[test]
fn one_bulkhead_for_everything_is_found_and_one_with_another_name_is_enough() {
    const A: Declaration = site("a").timeout(ms(1)).bulkhead(bulkhead::Config::new("all", 8));
    const B: Declaration = site("b").timeout(ms(1)).bulkhead(bulkhead::Config::join("all"));
    const C: Declaration = site("c").timeout(ms(1)).bulkhead(bulkhead::Config::join("all"));
    const D: Declaration = site("d").timeout(ms(1)).bulkhead(bulkhead::Config::new("other", 8));
    const KEYED: Declaration = site("k").timeout(ms(1)).bulkhead(bulkhead::Config::join("all").keyed());
    const PLAIN: Declaration = site("p").timeout(ms(1));
    const THREADS: Declaration = site("t").timeout(ms(1)).isolate(isolate::Config::new("threads", 2));
    let found = |all: &[&'static Declaration]| found(all, Problem::SharedByAll);
    let finding = found(&[&A, &B, &C, &PLAIN]).remove(0);
    assert_eq!((finding.strategy, finding.name, finding.sites.len()), ("bulkhead", "all", 3));
    assert!(finding.to_string().starts_with("bulkhead `all` is the only one, shared by shop::a (src/shop.rs:7) and "));
    assert_eq!(found(&[&A, &B, &C, &D]), []);
    assert_eq!(found(&[&A, &B]), [], "two are a decision");
    assert_eq!(found(&[&A, &B, &KEYED]), []);
    assert_eq!(found(&[&A, &B, &C, &THREADS]), []);
}

#[test]
fn a_sum_beyond_the_deadline_is_found_and_the_deadline_itself_is_not() {
    const TIGHT: Declaration = site("tight")
        .timeout(ms(300))
        .bulkhead(bulkhead::Config::new("recs", 8).queue(16))
        .retry(retry::Config::new(2))
        .deadline(deadline::Config::new(1_949 * MS));
    const NO_QUEUE: Declaration = TIGHT.bulkhead(bulkhead::Config::new("recs", 8));
    const EXACT: Declaration = TIGHT.deadline(deadline::Config::new(1_950 * MS));
    let finding = found(&[&TIGHT], Problem::Overlong).remove(0);
    assert_eq!((finding.strategy, finding.name), ("deadline", "tight"));
    assert!(
        finding.remedy.starts_with(
            "3 attempts of 300ms of waiting and 300ms at work, and 150ms of pauses, come to 1950ms, and its deadline is \
             1949ms"
        ),
        "{finding}"
    );
    assert_eq!(found(&[&EXACT], Problem::Overlong), []);
    // Without a queue nobody waits, and the same is short enough.
    assert_eq!(found(&[&NO_QUEUE], Problem::Overlong), []);
}

#[test]
fn a_deadline_around_everything_is_held_against_every_function() {
    const SHORT: Declaration = site("short").timeout(ms(300));
    const LONG: Declaration = site("long").timeout(ms(3_000)).deadline(deadline::Config::new(3_000 * MS));
    const ENDLESS: Declaration = site("endless").breaker(breaker::Config::own());
    let report = judge_declarations(&[&SHORT, &LONG, &ENDLESS], Some(Duration::from_secs(2)));
    let found: Vec<_> = report.findings.iter().map(|finding| (finding.problem, finding.name)).collect();
    assert_eq!(found, [(Problem::Overlong, "long")], "what has no end of its own has that one");
    assert!(
        report.findings[0].remedy.contains("one attempt of 3s at work comes to 3s, and the deadline around it is 2s")
    );
}

#[test]
fn a_body_that_nothing_ends_is_found_and_one_that_is_tried_out_is_not() {
    const ENDLESS: Declaration = site("endless").breaker(breaker::Config::own());
    const TRIED: Declaration = site("tried").timeout(ms(1)).observing(Observe::NONE.timeout());
    const BOUND: Declaration = site("bound").deadline(deadline::Config::new(1));
    let finding = found(&[&ENDLESS, &TRIED, &BOUND], Problem::Unbounded).remove(0);
    assert_eq!((finding.strategy, finding.name, finding.sites.len()), ("timeout", "endless", 1));
    let text = "timeout of `endless` is missing, and a call can wait for ever, at shop::endless (src/shop.rs:7); ";
    assert!(finding.to_string().starts_with(text), "{finding}");
    assert_eq!(found(&[&TRIED, &BOUND], Problem::Unbounded), []);
}

#[test]
fn what_is_allowed_is_left_out_and_denying_tells_the_rest() {
    const ENDLESS: Declaration = site("endless").breaker(breaker::Config::own());
    let report = judge_declarations(&[&ENDLESS], None);
    assert!(report.clone().allow(Problem::Overlong).deny().is_err());
    assert!(report.clone().allow(Problem::Unbounded).deny().is_ok());
    let told = report.deny().unwrap_err().to_string();
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[cfg(feature = "json")]
#[test]
fn findings_are_data_too() {
    const ENDLESS: Declaration = site("endless").breaker(breaker::Config::own());
    let json: serde_json::Value =
        serde_json::from_str(&judge_declarations(&[&ENDLESS], None).to_json()).expect("an object");
    let finding = &json["findings"][0];
    assert_eq!(finding["problem"], "unbounded");
    assert_eq!(finding["sites"][0]["line"], 7);
    assert!(finding["text"].as_str().is_some_and(|text| text.contains("timeout = \"..\"")));
}
