//! Every mistake, and what is said about it.
//!
//! The table is read in review: a message says what is wrong and why, and below it what to write.

use expect_test::{Expect, expect};

use super::{plan, plan_on, tokens};
use crate::attribute::expansion;

/// What the attribute is told on a function that is right.
fn says(attribute: &str, expected: &Expect) {
    expected.assert_eq(&told(plan(attribute).err()));
}

fn told(messages: Option<Vec<String>>) -> String {
    let lines = messages.unwrap_or_else(|| vec!["nothing".into()]);
    lines.into_iter().flat_map(|message| [message, "\n".into()]).collect()
}

/// One mistake each.
const MISTAKES: &[&str] = &[
    "timout = \"1s\"",
    "timeout = 300",
    "timeout = \"300\"",
    "timeout = \"300 ms\"",
    "timeout = \"1m30s\"",
    "timeout = \"0s\"",
    "timeout = \"31000000h\"",
    "timeout = \"\"",
    "timeout = \"-1s\"",
    "timeout = \"0.1ns\"",
    "timeout = \"5sec\"",
    "timeout = \"1d\"",
    "timeout",
    "timeout(\"1s\")",
    "timeout =",
    "timeout = LIMIT",
    "timeout = \"1s\" junk",
    "timeout = \"1s\", timeout = \"2s\"",
    ", timeout = \"1s\"",
    "timeout = \"1s\", idempotent, observe",
    "timeout = \"1s\", idempotent, observe = 2",
    "timeout = \"1s\", idempotent, observe = \"few\"",
    "timeout = \"1s\", idempotent, observe = \"0%\"",
    "timeout = \"1s\", idempotent, observe = \"2%/runs:0\"",
    "timeout = \"1s\", idempotent, observe = \"2%/cap:3\"",
    "timeout = \"1s\", idempotent, observe = \"2%/queue:3\"",
    "observe = \"2%\"",
    "bulkhead = \"recs:0\"",
    "bulkhead = \"recs:-1/queue:2\"",
    "bulkhead = \"recs:8/queue\"",
    "bulkhead = \"recs:8/wait:1s\"",
    "bulkhead = \"recs:8/qeue:1\"",
    "bulkhead = \"recs:8/queue:1/queue:2\"",
    "bulkhead = \"recs:999999/queue:2\"",
    "bulkhead = \"recs/queue:1\"",
    "bulkhead = \"recs: 8\"",
    "bulkhead = \"a/b\"",
    "bulkhead = \":8\"",
    "bulkhead = \"rec\u{e9}s:8\"",
    "bulkhead = \"recs:automatic\"",
    "bulkhead = \"recs:8/floor:2\"",
    "bulkhead = \"recs:auto/floor:9/ceiling:4\"",
    "bulkhead = \"recs:auto/floor:200\"",
    "bulkhead = \"recs:auto/floor:0\"",
    "bulkhead = \"recs:auto/ceiling\"",
    "bulkhead = \"recs:auto/floor:1/floor:2\"",
    "bulkhead = \"recs:8/\"",
    "bulkhead = \"recs:8/queue:1/wait:5\"",
    "bulkhead = 8",
    "isolate = \"reports:0\"",
    "isolate = \"reports:2000\"",
    "isolate = \"reports:auto\"",
    "isolate = \"reports/queue:1\"",
    "isolate = \"reports:4/wait:1s\"",
    "isolate = \"reports:4/qeue:1\"",
    "isolate = \"reports:4/queue:1/wait:5\"",
    "isolate = 4",
    "isolate = \"reports:4\", bulkhead = \"db:8\"",
    "bulkhead = \"recs:8/total:64\"",
    "bulkhead = \"recs:8/total:4\", key = id",
    "bulkhead = \"recs:8/total:0\", key = id",
    "bulkhead = \"recs:auto\", key = id",
    "bulkhead = \"recs:8\", key = \"id\"",
    "bulkhead = \"recs:8\", key = other",
    "bulkhead = \"recs:8\", key =",
    "bulkhead = \"recs:8\", key",
    "bulkhead = \"recs:8\", key = id +",
    "timeout = \"1s\", key = id",
    "rate = \"100\"",
    "rate = \"100/\"",
    "rate = \"0/s\"",
    "rate = \"2.5/s\"",
    "rate = \"-1/s\"",
    "rate = \"api/s\"",
    "rate = \"api:/s\"",
    "rate = \":5/s\"",
    "rate = \"100/sec\"",
    "rate = \"100/day\"",
    "rate = \"100/5\"",
    "rate = \"100/0s\"",
    "rate = \"100/burst:5\"",
    "rate = \"100/s/burst:0\"",
    "rate = \"100/s/burst\"",
    "rate = \"100/s/brust:5\"",
    "rate = \"100/s/queue:5\"",
    "rate = \"100/s/burst:1/burst:2\"",
    "rate = \"100/s/wait:0s\"",
    "rate = \"100/s/wait:5\"",
    "rate = \"2000000/s\"",
    "rate = \"1/h/burst:300000\"",
    "rate = \"100 / s\"",
    "rate = 100",
    "breaker()",
    "breaker = 5",
    "breaker(windw = 5)",
    "breaker(failures = \"0%\")",
    "breaker(failures = \"200%\")",
    "breaker(failures = 50)",
    "breaker(min_calls = 101)",
    "breaker(window = 10, min_calls = 11)",
    "breaker(window = 0)",
    "breaker(cooldown = \"0s\")",
    "breaker(probes = 1001)",
    "breaker(on = 5)",
    "retry = 0",
    "retry = \"2\"",
    "retry = 101",
    "retry = -1",
    "retry",
    "retry(backoff = \"1ms..2ms\")",
    "retry(2, backoff = \"50ms\")",
    "retry(2, backoff = \"2s..50ms\")",
    "retry(2, backoff = \"50..2s\")",
    "retry(2, budget = \"10\")",
    "retry(2, budget = \"200%\")",
    "retry(2, budget = \"10%+5\")",
    "retry(2, budget = \"0%+0/s\")",
    "retry(2, budget = of)",
    "retry(2, jitter = 1)",
    "retry(2, on = [])",
    "retry(2, on = timeout)",
    "retry(2, on = [timeout])",
    "retry(2, on = [timout])",
    "retry(2, on = [error, error])",
    "retry(2, on = [f, g])",
    "retry(2, on = [full])",
    "retry(2, on)",
    "retry(2, on = 5)",
    "hedge",
    "hedge = 50",
    "hedge = \"50\"",
    "hedge = \"95\"",
    "hedge = \"95%\"",
    "hedge = \"P95\"",
    "hedge = \"p\"",
    "hedge = \"p99.95\"",
    "hedge = \"p40\", idempotent",
    "hedge = \"p100\", idempotent",
    "hedge = \"500us\", idempotent",
    "hedge = \"-5ms\", idempotent",
    "hedge(), idempotent",
    "hedge(after = \"50ms\", floor = \"5ms\"), idempotent",
    "hedge(after = \"p95\", max = 2), idempotent",
    "hedge(after = \"p95\", floor = 5), idempotent",
    "hedge = \"p95\"",
    "hedge = \"50ms\", timeout = \"50ms\", idempotent",
    "hedge(after = \"p95\", floor = \"2s\"), deadline = \"1s\", idempotent",
    "hedge = \"p95\", isolate = \"reports:4\", idempotent",
    "hedge = \"p95\", timeout = \"1s\", mode = observe, idempotent",
    "fallback",
    "fallback = 5",
    "fallback = |a, b| 5",
    "fallback()",
    "fallback(on = refused)",
    "timeout = \"1s\", fallback(5, on = refused)",
    "timeout = \"1s\", fallback(f on = refused)",
    "timeout = \"1s\", fallback(f, onn = refused)",
    "timeout = \"1s\", fallback(f, on)",
    "timeout = \"1s\", fallback(f, on = refusd)",
    "timeout = \"1s\", fallback(f, on = [timout])",
    "timeout = \"1s\", fallback(f, on = [])",
    "timeout = \"1s\", fallback(f, on = [timeout, timeout])",
    "timeout = \"1s\", fallback(f, on = refused, on = timeout)",
    "timeout = \"1s\", fallback(f, on = [any])",
    "timeout = \"1s\", fallback(f, on = [a, b])",
    "bulkhead = \"a:1\", fallback(f, on = [refused, full])",
    "timeout = \"1s\", fallback(f, on = full)",
    "timeout = \"1s\", fallback(f, on = rate)",
    "timeout = \"1s\", fallback(f, on = open)",
    "retry = 1, fallback(f, on = timeout)",
    "retry = 1, fallback(f, on = [refused, error])",
    "timeout = \"1s\", fallback(f, limit = 0)",
    "timeout = \"1s\", fallback(f, limit = \"8\")",
    "timeout = \"1s\", fallback(last_good(\"60s\", shared), limit = 8)",
    "fallback = last_good()",
    "fallback = last_good(60)",
    "fallback = last_good(\"60\")",
    "fallback = last_good(\"0s\")",
    "fallback = last_good(\"60s\", all)",
    "fallback = last_good(\"60s\")",
    "timeout = \"1s\", mode",
    "timeout = \"1s\", mode()",
    "timeout = \"1s\", mode = observed",
    "timeout = \"1s\", mode = \"observe\"",
    "timeout = \"1s\", mode = dark",
    "timeout = \"1s\", mode = observe, mode = enforce",
    "timeout = \"1s\", mode(bulkhead = observe)",
    "timeout = \"1s\", mode(timeot = observe)",
    "timeout = \"1s\", mode(idempotent = observe)",
    "timeout = \"1s\", mode(timeout)",
    "timeout = \"1s\", mode(timeout = on)",
    "timeout = \"1s\", mode(timeout = observe, timeout = enforce)",
    "timeout = \"1s\", fallback = f, mode(fallback = observe)",
    "fallback = f, mode = observe",
    "isolate = \"a:1\", timeout = \"1s\", mode = observe",
    "mode = observe",
    "timeout = \"1s\", guards = \"pg\"",
    "bulkhead = \"a:1\", guards = \"pg:10\"",
    "bulkhead = \"a:1\", guards = pg",
    "bulkhead = \"a:1\", guards = \"\"",
    "timeout = \"1s\", idempotent = true",
    "timeout = \"1s\", name = \"a b\"",
    "timeout = \"1s\", name = 5",
    "timeout = \"1s\", crate = \"wt\"",
    "",
    "idempotent",
    "circuit_breaker",
    "retries = 2",
    "xyz = 5",
];

#[test]
fn one_mistake_is_one_message() {
    let mut all = String::new();
    for attribute in MISTAKES {
        let messages = plan(attribute).err().unwrap_or_else(|| panic!("accepted: {attribute}"));
        assert_eq!(messages.len(), 1, "{attribute}: {messages:#?}");
        assert_eq!(messages[0].lines().count(), 2, "{attribute}: what and remedy: {messages:?}");
        all.extend(["#[resilient(", attribute, ")]\n", &messages[0], "\n\n"]);
    }
    expect_test::expect_file!["../../tests/snapshots/messages.txt"].assert_eq(&all);
}

#[test]
fn all_mistakes_are_told_at_once() {
    says(
        "timout = \"1s\", bulkhead = \"recs:0\", retry(0, backoff = \"2s..1s\"), fallback = 5",
        &expect![[r#"
            `timout` is no key of this attribute
            did you mean `timeout`? The keys are `fallback`, `deadline`, `retry`, `hedge`, `breaker`, `rate`, `bulkhead`, `isolate`, `timeout`, `observe`, `key`, `mode`, `guards`, `idempotent`, `name` and `crate`
            `bulkhead = "recs:0"`: no call could ever run in 0 slots
            write how many may run at once, 1 or more; to shut a function off, isolate its breaker
            `backoff = "2s..1s"`: the first pause is longer than the longest one
            write them the other way round: "1s..2s"
            `retry = 0` tries nothing again
            leave the key out, or write 1 or more; `retry = off` takes away what the `impl` block says
            `fallback = 5` is neither a path nor a closure nor a call, so nothing can be asked
            write `fallback = || 5`
        "#]],
    );
}

#[test]
fn items_that_cannot_be_guarded() {
    let items = [
        "struct S(u8);",
        "enum E { A }",
        "trait T { fn f(); }",
        "mod m {}",
        "static S: u8 = 5;",
        "fn sync() -> u8 { 5 }",
        "async fn bodiless();",
        "fn bodiless(&self);",
        "const fn c() {}",
        "extern \"C\" fn e() {}",
        "async fn never() -> ! { loop {} }",
        "fn steps(a: u8) -> impl Future<Output = u8> { let b = a; async move { b } }",
        "async fn traced() { let __tracing_attr_span = (); }",
        "fn rewritten<'async_trait>() -> Pin<Box<dyn Future<Output = ()>>> { Box::pin(async move { other() }) }",
    ];
    let mut all = String::new();
    for item in items {
        let messages = plan_on("timeout = \"1s\", retry = 1", item).err().unwrap_or_else(|| panic!("accepted: {item}"));
        assert_eq!(messages.len(), 1, "{item}: {messages:#?}");
        all.extend([item, "\n", &messages[0], "\n\n"]);
    }
    expect_test::expect_file!["../../tests/snapshots/items.txt"].assert_eq(&all);
}

#[test]
fn functions_whose_bodies_could_not_run_side_by_side() {
    let items = [
        "async fn get(&mut self) -> u8 { 5 }",
        "async fn get(self) -> u8 { 5 }",
        "async fn get(mut self) -> u8 { 5 }",
        "async fn get(self: Arc<Self>) -> u8 { 5 }",
        "async fn get(page: &mut Vec<u8>) -> u8 { 5 }",
        "async fn get((id, page): (u8, &mut Vec<u8>)) -> u8 { 5 }",
        "async fn get(Page(ref mut page): Page) -> u8 { 5 }",
        "fn steps(a: u8) -> impl Future<Output = u8> { let b = a; async move { b } }",
    ];
    let mut all = String::new();
    for item in items {
        let messages = plan_on("hedge = \"p95\", idempotent", item).err().unwrap_or_else(|| panic!("accepted: {item}"));
        assert_eq!(messages.len(), 1, "{item}: {messages:#?}");
        all.extend([item, "\n", &messages[0], "\n\n"]);
    }
    expect_test::expect_file!["../../tests/snapshots/not_side_by_side.txt"].assert_eq(&all);
    let shared = "async fn get(&self, self_less: &str, callback: fn(&mut u8), (a, b): (u8, String)) -> u8 { 5 }";
    assert!(plan_on("hedge = \"p95\", idempotent", shared).is_ok());
}

#[test]
fn a_broken_signature_is_left_to_the_parsers_own_words() {
    assert_eq!(plan_on("timeout = \"1s\"", "async fn f(a: ) {}").err().map_or(0, |messages| messages.len()), 1);
}

#[test]
fn the_function_survives_any_mistake() {
    let item = "async fn f(a: u8) -> u8 { let x = a. }";
    let out = expansion(tokens("timout = \"1s\""), tokens(item)).to_string();
    assert!(out.contains("compile_error"), "{out}");
    assert!(out.ends_with(&tokens(item).to_string()), "{out}");
    assert_eq!(out.matches("compile_error").count(), 1, "{out}");
}

#[test]
fn a_bug_of_ours_is_told_as_one() {
    let out = crate::recover::guarded(tokens("fn f() {}"), |_| panic!("out of range"));
    expect![[r#":: core :: compile_error ! { "the attribute `resilient` failed on this function, which is a bug in watertight and not in your code: out of range\nplease report it with the function's signature; until then, remove the attribute here" } fn f () { }"#]].assert_eq(&out.to_string());
}
