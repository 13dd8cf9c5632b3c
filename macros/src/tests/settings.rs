//! What the attribute takes in a figure a settings file takes too, and what one refuses the other does.
//!
//! Lengths, shares and percentiles have one reader in both crates (`units`). What is put together from them is read twice, over tokens
//! here and over values there, so each form has rows: well inside, at the bound, just outside, and the usual slips.

use watertight::__private::setting_reads;

use super::plan;

const LENGTHS: &[&str] = &[
    "300ms",
    "1.5s",
    "1ns",
    "2m",
    "24h",
    "262800h",
    "262801h",
    "0ms",
    "0s",
    "300",
    "ms",
    "",
    "-1s",
    "1 s",
    "1s ",
    "1m30s",
    "1d",
    "1sec",
    "1.s",
    ".5s",
    "1.0000000001s",
    "+1s",
    "1e3ms",
    "\u{b5}s",
    "3\u{b5}s",
    "999999999999999999999h",
];

/// An attribute with `{}` for the figure, and the key of settings that means the same.
fn agree(attribute: &str, key: &str, figures: &[&str]) {
    for figure in figures {
        let written = attribute.replace("{}", figure);
        let bare = figure.trim_matches('"');
        let quoted = if attribute.contains("\"{}") { format!("\"{bare}\"") } else { (*figure).to_owned() };
        let (ours, theirs) = (plan(&written).is_ok(), setting_reads(key, &quoted));
        assert_eq!(
            ours,
            theirs,
            "the attribute {} {written}, and settings do not agree on {key} = {quoted}",
            if ours { "takes" } else { "refuses" }
        );
    }
}

#[test]
fn lengths_of_time() {
    agree("timeout = \"{}\"", "timeout", LENGTHS);
    agree("deadline = \"{}\"", "deadline", LENGTHS);
    agree("breaker(cooldown = \"{}\")", "breaker.cooldown", LENGTHS);
    agree("breaker(slow = \"{}\")", "breaker.slow", LENGTHS);
    agree("retry(1, max_duration = \"{}\")", "retry.max_duration", LENGTHS);
    agree("bulkhead = \"recs:8/queue:16/wait:{}\"", "bulkhead.wait", &LENGTHS[..14]);
}

#[test]
fn whole_numbers() {
    agree("retry = {}", "retry", &["1", "2", "100", "101", "0", "-1", "\"2\"", "2.5"]);
    agree("bulkhead = \"recs:{}\"", "bulkhead.slots", &[]);
    for slots in ["1", "8", "1000000", "1000001", "0"] {
        agree(&format!("bulkhead = \"recs:{slots}\""), "bulkhead.slots", &[]);
        assert_eq!(
            plan(&format!("bulkhead = \"recs:{slots}\"")).is_ok(),
            setting_reads("bulkhead.slots", slots),
            "{slots}"
        );
    }
    for queue in ["0", "16", "999999", "1000001", "-1"] {
        let taken = plan(&format!("bulkhead = \"recs:1/queue:{queue}\"")).is_ok();
        assert_eq!(taken, setting_reads("bulkhead.queue", queue), "{queue}");
    }
    agree("breaker(probes = {})", "breaker.probes", &["1", "1000", "1001", "0", "-1", "\"1\""]);
    agree("breaker(window = {})", "breaker.window", &["1", "100", "100000", "100001", "0"]);
    agree("breaker(window = \"{}\")", "breaker.window", &["99ms", "100ms", "10s", "1h", "61m", "10", "0s"]);
}

#[test]
fn shares_and_budgets() {
    let shares = ["50%", "0.1%", "100%", "101%", "0%", "0.05%", "half", "50", "%", "5 %", "-5%", ".5%", "5.%"];
    agree("breaker(failures = \"{}\")", "breaker.failures", &shares);
    agree("breaker(slow = \"1s\", slow_rate = \"{}\")", "breaker.slow_rate", &shares);
    let budgets =
        ["10%", "10%+5/s", "0%+1/s", "100%+0/s", "0%+0/s", "101%", "10%+1000001/s", "10", "5/s", "10%+5", "10%+5/m"];
    agree("retry(1, budget = \"{}\")", "retry.budget", &budgets);
}

#[test]
fn pauses_percentiles_and_rates() {
    let pauses =
        ["50ms..2s", "1s..1s", "2s..50ms", "50ms", "50..2s", "..2s", "50ms..", "0ms..2s", "50ms...2s", "50ms .. 2s"];
    agree("retry(1, backoff = \"{}\")", "retry.backoff", &pauses);
    let hedges =
        ["p95", "p50", "p99.9", "p49", "p100", "p99.99", "95", "P95", "p", "50ms", "1ms", "999us", "0s", "95%", "p95 "];
    agree("idempotent, hedge = \"{}\"", "hedge", &hedges);
    let rates = [
        "100/s",
        "1/h",
        "600/m",
        "5/10s",
        "100/s/burst:10",
        "1000000/s",
        "1000001/s",
        "0/s",
        "/s",
        "100",
        "100/",
        "1.5/s",
        "100/sec",
        "100/s/burst:0",
        "100/s/burst",
        "100/s/burst:10/burst:20",
        "1/h/burst:262800",
        "1/h/burst:262801",
        "100/s/queue:3",
        "-1/s",
        "100 /s",
        "100/0s",
    ];
    agree("rate = \"{}\"", "rate", &rates);
}
