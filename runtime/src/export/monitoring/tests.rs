//! Rules and dashboard by hand: names that exist, thresholds that are declared, text that stays text.

use std::collections::BTreeSet;
use std::time::Duration;

use super::*;
use crate::declaration::Observe;
use crate::metrics::names::{self, Kind};
use crate::strategies::{breaker, bulkhead, fallback, isolate, retry, timeout};

const MS: u64 = 1_000_000;

const fn site(name: &'static str) -> Declaration {
    Declaration::new(name, "shop::recs", "src/recs.rs", 12)
}

fn leaked(all: &[Declaration]) -> Vec<&'static Declaration> {
    all.iter().map(|it| &*Box::leak(Box::new(*it))).collect()
}

fn written(watch: &Monitoring, all: &[Declaration]) -> String {
    let all = leaked(all);
    write::file(watch, &all, &all)
}

fn rules_of(all: &[Declaration]) -> String {
    written(&Monitoring::new(), all)
}

/// Everything that can be declared.
fn full() -> Declaration {
    site("recs")
        .timeout(timeout::Config::new(300 * MS))
        .bulkhead(bulkhead::Config::new("recs", 8).queue(16))
        .breaker(breaker::Config::own().failures(0.03).min_calls(7).cooldown(60_000 * MS))
        .retry(retry::Config::new(2).budget(0.004, 1.0).on_timeout())
        .fallback(fallback::Config::new())
        .idempotent()
}

fn threads() -> Declaration {
    site("report").isolate(isolate::Config::new("reports", 4)).timeout(timeout::Config::new(MS))
}

/// The block of one alert.
fn alert<'a>(rules: &'a str, name: &str) -> &'a str {
    let start = rules.find(&format!("- alert: {name}\n")).unwrap_or_else(|| panic!("no {name} in {rules}"));
    let rest = &rules[start + 2..];
    &rest[..rest.find("  - ").or(rest.find("\n- name")).unwrap_or(rest.len())]
}

/// What a query asks for: words outside of quotes and braces that are series of ours.
fn series(query: &str) -> BTreeSet<String> {
    let unquoted: String = query.split('"').step_by(2).collect();
    let words = unquoted.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
    words.filter(|word| word.contains("watertight")).map(str::to_owned).collect()
}

fn is_there(name: &str, recorded: &str) -> bool {
    let own = names::ALL.iter().any(|it| match it.kind {
        Kind::Histogram => name.strip_suffix("_bucket") == Some(it.name),
        _ => name == it.name,
    });
    own || recorded.contains(&format!("- record: {name}\n"))
}

#[test]
fn every_query_of_the_rules_asks_for_series_that_are_there() {
    let rules = rules_of(&[full(), threads(), site("endless")]);
    let mut asked = BTreeSet::new();
    let mut lines = rules.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() == "expr: |-" {
            while let Some(query) = lines.next_if(|line| line.starts_with("      ")) {
                asked.extend(series(query));
            }
        }
    }
    assert!(asked.len() > 15, "queries were found: {asked:?}");
    let missing: Vec<_> = asked.iter().filter(|name| !is_there(name, &rules)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn thresholds_are_those_that_the_function_declares() {
    let rules = rules_of(&[full()]);
    let fail = alert(&rules, "WatertightCallsFail");
    assert!(fail.contains("> 0.03 and"), "its breaker opens at 3 %, which is less than 5 %: {fail}");
    assert!(fail.contains("* 300 >= 7)"), "its breaker decides from seven results on: {fail}");
    assert!(fail.contains("severity: \"critical\"") && fail.contains("for: 2m\n"));
    assert!(fail.contains("recs (src/recs.rs:12)"), "{fail}");
    assert!(alert(&rules, "WatertightTimeoutCuts").contains("> 0.004 and"), "what its budget pays for");
    assert!(alert(&rules, "WatertightTimeoutCuts").contains("its timeout of 300ms"));
    assert!(alert(&rules, "WatertightRetriesRefused").contains("> 0.004 and"));
    let open = alert(&rules, "WatertightBreakerOpen");
    assert!(open.contains("for: 3m\n") && open.contains("function: \"recs\""), "three cooldowns: {open}");
    let slots = alert(&rules, "WatertightNoSlot");
    assert!(slots.contains("8 slots and a queue of 16") && slots.contains("{bulkhead=\"recs\"} >= 0.9"), "{slots}");
    assert!(!rules.contains("WatertightHangs"), "it has limits");

    let plain = rules_of(&[site("endless")]);
    assert!(alert(&plain, "WatertightCallsFail").contains("> 0.05 and"));
    assert!(alert(&plain, "WatertightCallsFail").contains("* 300 >= 20)"));
    assert!(alert(&plain, "WatertightHangs").contains("write one"));
    for absent in ["CallsFallBack", "NoSlot", "TimeoutCuts", "RetriesRefused", "BreakerOpen", "ThreadsStuck"] {
        assert!(!plain.contains(absent), "it declares nothing of the kind: {absent}");
    }
}

#[test]
fn a_function_may_be_allowed_more_and_a_test_may_shorten_everything() {
    let watch = Monitoring::new()
        .may_fail(|it| (it.name == "recs").then_some(0.5))
        .window(Duration::from_secs(10))
        .hold(Duration::from_millis(1_500))
        .process_labels(["host", "not a label", "9"]);
    // In the order of their names, so that the first alert is that of `recs`.
    let rules = written(&watch, &[full(), site("zone")]);
    let fail = alert(&rules, "WatertightCallsFail");
    assert!(fail.contains("ratio_rate10s{function=\"recs\",module=\"shop::recs\"} > 0.5 and"), "{fail}");
    assert!(fail.contains("* 10 >= 7)") && fail.contains("for: 1500ms"), "{fail}");
    assert!(rules.contains("> 0.05 and"), "the other one is not");
    assert!(rules.contains("sum without (fate, reason, fallback, host) ("), "{rules}");
}

#[test]
fn what_observes_raises_no_alert_and_what_moves_is_judged_by_refusals_alone() {
    let observing = rules_of(&[full().observing(Observe::ALL)]);
    for absent in ["NoSlot", "TimeoutCuts", "RetriesRefused", "BreakerOpen"] {
        assert!(!observing.contains(absent), "{absent}");
    }
    let keyed = site("keyed").bulkhead(bulkhead::Config::new("tenants", 4).keyed());
    let slots = rules_of(&[keyed]);
    assert!(!alert(&slots, "WatertightNoSlot").contains("0.9"), "slots of one key say nothing about all");
    assert!(slots.contains("4 slots for each key"));
}

#[test]
fn a_shared_breaker_is_one_alert_that_names_all_its_functions() {
    let shares = |name| site(name).breaker(breaker::Config::named("pg").cooldown(1_000 * MS));
    let rules = rules_of(&[shares("load"), shares("save"), threads()]);
    assert_eq!(rules.matches("WatertightBreakerOpen").count(), 1);
    let open = alert(&rules, "WatertightBreakerOpen");
    assert!(open.contains("load (src/recs.rs:12), save (src/recs.rs:12)") && open.contains("for: 2m\n"), "{open}");
    assert!(!open.contains("function:"), "it is nobody's alone");
    assert!(alert(&rules, "WatertightThreadsStuck").contains("function: \"report\""));
}

#[test]
fn functions_that_are_one_series_are_one_group_with_every_place() {
    let rules = rules_of(&[site("get"), Declaration::new("get", "shop::recs", "src/other.rs", 3)]);
    assert_eq!(rules.matches("WatertightCallsFail").count(), 1);
    assert!(rules.contains("get (src/recs.rs:12, src/other.rs:3)"), "{rules}");
}

#[test]
fn any_text_can_be_a_name() {
    let hostile = Declaration::new("a\"} or vector(1) # {{ $value }}\n- alert: x", "m\\\u{2028}", "f.rs", 1);
    let rules = rules_of(&[hostile]);
    assert!(!rules.contains("\n- alert") && !rules.contains('\u{2028}'), "{rules}");
    assert!(
        rules.contains(r#"{function="a\"} or vector(1) # {{ $value }}\n- alert: x",module="m\\\u2028"}"#),
        "{rules}"
    );
    assert!(rules.contains(r#"function: "a\"} or vector(1) # {{ \"{{\" }} $value }}\n- alert: x""#), "{rules}");
}

#[cfg(feature = "json")]
#[test]
fn the_dashboard_asks_for_series_that_are_there_and_has_a_row_for_each_function() {
    let all = leaked(&[full(), threads(), Declaration::new("odd|`na$me`", "m", "f.rs", 1)]);
    let watch = Monitoring::new();
    let board = board::dashboard(&watch, &all, &all);
    let mut queries = Vec::new();
    let mut titles = Vec::new();
    let rows = board["panels"].as_array().unwrap();
    let inner = rows.iter().flat_map(|it| it["panels"].as_array().into_iter().flatten());
    let mut ids = BTreeSet::new();
    for panel in rows.iter().chain(inner) {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "an identity of its own: {panel}");
        titles.push(panel["title"].as_str().unwrap());
        for target in panel["targets"].as_array().into_iter().flatten() {
            queries.push(target["expr"].as_str().unwrap());
        }
    }
    for variable in board["templating"]["list"].as_array().unwrap() {
        queries.push(variable["query"].as_str().unwrap());
    }
    assert!(queries.len() > 25, "queries were found: {}", queries.len());
    let rules = write::file(&watch, &all, &all);
    for name in queries.iter().flat_map(|query| series(query)) {
        assert!(is_there(&name, &rules), "{name}");
    }
    let repeated: Vec<_> = rows.iter().filter(|row| row["repeat"] == "function").collect();
    assert_eq!(repeated.len(), 1, "one row for each function, by the variable");
    assert_eq!(repeated[0]["type"], "row");
    assert!(titles.contains(&"How calls ended"), "{titles:?}");
    let text = board.to_string();
    assert!(text.contains("src/recs.rs:12") && text.contains("odd\\\\| na\u{ff04}me "), "{text}");
}
