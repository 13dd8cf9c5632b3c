//! What the attribute refuses the builder refuses too, and what one lets through so does the other.
//!
//! The ranges are one file in both crates; the rules between keys are written twice, once over tokens and once over types. So
//! each rule has a row here with an attribute and a guard that say the same, just inside the bound or just outside of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use watertight::Guard;
use watertight::guard::{Backoff, Breaker, BreakerOn, Budget, Builder, Bulkhead, Hedge, Jitter, Rate, Retry, RetryOn};

use super::plan;

const NS: Duration = Duration::from_nanos(1);
const MS: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);
const THIRTY_YEARS: Duration = Duration::from_secs(30 * 365 * 86_400);

/// An attribute, the same in types, and whether both take it.
type Row = (&'static str, fn(Builder) -> Builder, bool);

/// Each row under a name of its own, since a name is built once.
fn agree(rows: &[Row]) {
    static BUILT: AtomicU32 = AtomicU32::new(0);
    for (attribute, build, fine) in rows {
        let name = format!("limits.{}", BUILT.fetch_add(1, Ordering::Relaxed));
        let (ours, theirs) = (plan(attribute).err(), build(Guard::named(name)).build().err());
        assert_eq!(ours.is_none(), *fine, "the attribute, given {attribute}: {ours:?}");
        assert_eq!(theirs.is_none(), *fine, "the guard, given {attribute}: {theirs:?}");
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            assert_eq!(ours.len(), theirs.mistakes().len(), "{attribute}: {ours:?} and {theirs}");
        }
    }
}

fn slots(slots: u32) -> Bulkhead {
    Bulkhead::new("limits", slots)
}

#[test]
fn lengths_of_time() {
    agree(&[
        ("timeout = \"0ms\"", |it| it.timeout(Duration::ZERO), false),
        ("timeout = \"1ns\"", |it| it.timeout(NS), true),
        ("timeout = \"262800h\"", |it| it.timeout(THIRTY_YEARS), true),
        ("timeout = \"262801h\"", |it| it.timeout(THIRTY_YEARS + HOUR), false),
        ("deadline = \"0s\"", |it| it.deadline(Duration::ZERO), false),
        ("deadline = \"262801h\"", |it| it.deadline(Duration::MAX), false),
        ("breaker(cooldown = \"0s\")", |it| it.breaker(Breaker::own().cooldown(Duration::ZERO)), false),
        ("breaker(slow = \"0s\")", |it| it.breaker(Breaker::own().slow(Duration::ZERO)), false),
        ("retry(1, max_duration = \"0s\")", |it| it.retry(Retry::new(1).max_duration(Duration::ZERO)), false),
        ("bulkhead = \"limits:1/queue:1/wait:0s\"", |it| it.bulkhead(slots(1).queue(1).wait(Duration::ZERO)), false),
        ("bulkhead = \"limits:1/queue:1/wait:1ns\"", |it| it.bulkhead(slots(1).queue(1).wait(NS)), true),
    ]);
}

#[test]
fn names() {
    const LONG: &str = "bulkhead = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1\"";
    agree(&[
        ("bulkhead = \":1\"", |it| it.bulkhead(Bulkhead::new("", 1)), false),
        (LONG, |it| it.bulkhead(Bulkhead::new("a".repeat(64), 1)), true),
        (
            "bulkhead = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1\"",
            |it| it.bulkhead(Bulkhead::new("a".repeat(65), 1)),
            false,
        ),
        ("breaker = \"rec\u{e9}s\"", |it| it.breaker(Breaker::join("rec\u{e9}s")), false),
        ("breaker(name = \"a b\")", |it| it.breaker(Breaker::named("a b")), false),
        ("breaker(name = \"A_b-c.9\")", |it| it.breaker(Breaker::named("A_b-c.9")), true),
        ("retry(1, budget = \"a b:10%\")", |it| it.retry(Retry::new(1).budget(Budget::share(0.1).named("a b"))), false),
        ("retry(1, budget = \"a b\")", |it| it.retry(Retry::new(1).budget(Budget::join("a b"))), false),
        ("timeout = \"1s\", name = \"a b\"", |_| Guard::named("a b").timeout(Duration::from_secs(1)), false),
    ]);
}

#[test]
fn bulkheads() {
    agree(&[
        ("bulkhead = \"limits:0\"", |it| it.bulkhead(slots(0)), false),
        ("bulkhead = \"limits:1\"", |it| it.bulkhead(slots(1)), true),
        ("bulkhead = \"limits:1000000\"", |it| it.bulkhead(slots(1_000_000)), true),
        ("bulkhead = \"limits:1000001\"", |it| it.bulkhead(slots(1_000_001)), false),
        ("bulkhead = \"limits:1/queue:999999\"", |it| it.bulkhead(slots(1).queue(999_999)), true),
        ("bulkhead = \"limits:2/queue:999999\"", |it| it.bulkhead(slots(2).queue(999_999)), false),
        ("bulkhead = \"limits:1/queue:1000001\"", |it| it.bulkhead(slots(1).queue(1_000_001)), false),
        ("bulkhead = \"limits:1/wait:1ms\"", |it| it.bulkhead(slots(1).wait(MS)), false),
        ("bulkhead = \"limits:1/queue:0/wait:1ms\"", |it| it.bulkhead(slots(1).queue(0).wait(MS)), false),
        ("bulkhead = \"limits/queue:1\"", |it| it.bulkhead(Bulkhead::join("limits").queue(1)), false),
        ("bulkhead = \"limits\"", |it| it.bulkhead(Bulkhead::join("limits")), true),
        ("bulkhead = \"limits:auto\"", |it| it.bulkhead(Bulkhead::auto("limits")), true),
        ("bulkhead = \"limits:8/floor:2\"", |it| it.bulkhead(slots(8).floor(2)), false),
        ("bulkhead = \"limits:auto/floor:0\"", |it| it.bulkhead(Bulkhead::auto("limits").floor(0)), false),
        ("bulkhead = \"limits:auto/ceiling:1\"", |it| it.bulkhead(Bulkhead::auto("limits").ceiling(1)), true),
        ("bulkhead = \"limits:auto/floor:128\"", |it| it.bulkhead(Bulkhead::auto("limits").floor(128)), true),
        ("bulkhead = \"limits:auto/floor:129\"", |it| it.bulkhead(Bulkhead::auto("limits").floor(129)), false),
        (
            "bulkhead = \"limits:auto/ceiling:1000000/queue:1\"",
            |it| it.bulkhead(Bulkhead::auto("limits").ceiling(1_000_000).queue(1)),
            false,
        ),
        ("bulkhead = \"limits:64/fleet\"", |it| it.bulkhead(slots(64).fleet()), true),
        ("bulkhead = \"limits:auto/fleet\"", |it| it.bulkhead(Bulkhead::auto("limits").fleet()), false),
        ("bulkhead = \"limits/fleet\"", |it| it.bulkhead(Bulkhead::join("limits").fleet()), false),
        ("idempotent", |it| it.idempotent(), false),
    ]);
}

#[test]
fn pools() {
    agree(&[
        ("bulkhead = \"limits:1\", guards = \"pg\"", |it| it.bulkhead(Bulkhead::new("limits", 1).guards("pg")), true),
        ("bulkhead = \"limits\", guards = \"pg\"", |it| it.bulkhead(Bulkhead::join("limits").guards("pg")), true),
        ("bulkhead = \"limits:1\", guards = \"\"", |it| it.bulkhead(Bulkhead::new("limits", 1).guards("")), false),
        (
            "bulkhead = \"limits:1\", guards = \"a b\"",
            |it| it.bulkhead(Bulkhead::new("limits", 1).guards("a b")),
            false,
        ),
    ]);
}

#[test]
fn rates() {
    agree(&[
        ("rate = \"0/s\"", |it| it.rate(Rate::own(0, 1_000 * MS)), false),
        ("rate = \"1/s\"", |it| it.rate(Rate::own(1, 1_000 * MS)), true),
        ("rate = \"1000000/s\"", |it| it.rate(Rate::own(1_000_000, 1_000 * MS)), true),
        ("rate = \"1000001/s\"", |it| it.rate(Rate::own(1_000_001, 1_000 * MS)), false),
        ("rate = \"1/0s\"", |it| it.rate(Rate::own(1, Duration::ZERO)), false),
        ("rate = \"1/262800h\"", |it| it.rate(Rate::own(1, THIRTY_YEARS)), true),
        ("rate = \"1/262801h\"", |it| it.rate(Rate::own(1, THIRTY_YEARS + HOUR)), false),
        ("rate = \"1/h/burst:262800\"", |it| it.rate(Rate::own(1, HOUR).burst(262_800)), true),
        ("rate = \"1/h/burst:262801\"", |it| it.rate(Rate::own(1, HOUR).burst(262_801)), false),
        ("rate = \"1/s/burst:0\"", |it| it.rate(Rate::own(1, 1_000 * MS).burst(0)), false),
        ("rate = \"1/s/wait:0s\"", |it| it.rate(Rate::own(1, 1_000 * MS).wait(Duration::ZERO)), false),
        ("rate = \":1/s\"", |it| it.rate(Rate::named("", 1, 1_000 * MS)), false),
        ("rate = \"limits:1/s\"", |it| it.rate(Rate::named("limits", 1, 1_000 * MS)), true),
        ("rate = \"limits\"", |it| it.rate(Rate::join("limits")), true),
        ("rate = \"limits:1/s/fleet\"", |it| it.rate(Rate::named("limits", 1, 1_000 * MS).fleet()), true),
        ("rate = \"1/s/fleet\"", |it| it.rate(Rate::own(1, 1_000 * MS).fleet()), true),
        ("rate = \"limits/fleet\"", |it| it.rate(Rate::join("limits").fleet()), false),
        ("rate = \"limits/burst:1\"", |it| it.rate(Rate::join("limits").burst(1)), false),
    ]);
}

#[test]
fn breakers() {
    agree(&[
        ("breaker(window = 0)", |it| it.breaker(Breaker::own().window(0)), false),
        ("breaker(window = 1)", |it| it.breaker(Breaker::own().window(1)), true),
        ("breaker(window = 100000)", |it| it.breaker(Breaker::own().window(100_000)), true),
        ("breaker(window = 100001)", |it| it.breaker(Breaker::own().window(100_001)), false),
        ("breaker(window = \"99ms\")", |it| it.breaker(Breaker::own().window_time(99 * MS)), false),
        ("breaker(window = \"100ms\")", |it| it.breaker(Breaker::own().window_time(100 * MS)), true),
        ("breaker(window = \"1h\")", |it| it.breaker(Breaker::own().window_time(HOUR)), true),
        ("breaker(window = \"61m\")", |it| it.breaker(Breaker::own().window_time(HOUR + MS)), false),
        ("breaker(failures = \"0%\")", |it| it.breaker(Breaker::own().failures(0.0)), false),
        ("breaker(failures = \"0.1%\")", |it| it.breaker(Breaker::own().failures(0.001)), true),
        ("breaker(failures = \"100%\")", |it| it.breaker(Breaker::own().failures(1.0)), true),
        ("breaker(failures = \"101%\")", |it| it.breaker(Breaker::own().failures(1.01)), false),
        ("breaker(failures = \"half\")", |it| it.breaker(Breaker::own().failures(f64::NAN)), false),
        ("breaker(min_calls = 0)", |it| it.breaker(Breaker::own().min_calls(0)), false),
        ("breaker(min_calls = 100)", |it| it.breaker(Breaker::own().min_calls(100)), true),
        ("breaker(min_calls = 101)", |it| it.breaker(Breaker::own().min_calls(101)), false),
        ("breaker(window = 5, min_calls = 6)", |it| it.breaker(Breaker::own().window(5).min_calls(6)), false),
        (
            "breaker(window = \"1s\", min_calls = 100000)",
            |it| it.breaker(Breaker::own().window_time(1_000 * MS).min_calls(100_000)),
            true,
        ),
        ("breaker(slow_rate = \"50%\")", |it| it.breaker(Breaker::own().slow_rate(0.5)), false),
        (
            "breaker(slow = \"1s\", slow_rate = \"0%\")",
            |it| it.breaker(Breaker::own().slow(1_000 * MS).slow_rate(0.0)),
            false,
        ),
        (
            "timeout = \"1s\", breaker(slow = \"1s\")",
            |it| it.timeout(1_000 * MS).breaker(Breaker::own().slow(1_000 * MS)),
            true,
        ),
        (
            "timeout = \"1s\", breaker(slow = \"1001ms\")",
            |it| it.timeout(1_000 * MS).breaker(Breaker::own().slow(1_001 * MS)),
            false,
        ),
        ("breaker(probes = 0)", |it| it.breaker(Breaker::own().probes(0)), false),
        ("breaker(probes = 1000)", |it| it.breaker(Breaker::own().probes(1_000)), true),
        ("breaker(probes = 1001)", |it| it.breaker(Breaker::own().probes(1_001)), false),
        ("breaker(on = [])", |it| it.breaker(Breaker::own().on([])), false),
        (
            "breaker(on = [error, error])",
            |it| it.breaker(Breaker::own().on([BreakerOn::Error, BreakerOn::Error])),
            false,
        ),
        ("breaker(on = [full])", |it| it.breaker(Breaker::own().on([BreakerOn::Full])), false),
        (
            "bulkhead = \"limits:1\", breaker(on = [full, wait])",
            |it| it.bulkhead(slots(1)).breaker(Breaker::own().on([BreakerOn::Full, BreakerOn::Wait])),
            true,
        ),
    ]);
}

#[test]
fn retries() {
    agree(&[
        ("retry = 0", |it| it.retry(0), false),
        ("retry = 1", |it| it.retry(1), true),
        ("retry = 100", |it| it.retry(100), true),
        ("retry = 101", |it| it.retry(101), false),
        ("retry(1, on = [])", |it| it.retry(Retry::new(1).on([])), false),
        ("retry(1, on = [timeout])", |it| it.retry(Retry::new(1).on([RetryOn::Timeout])), false),
        (
            "idempotent, retry(1, on = [timeout])",
            |it| it.idempotent().retry(Retry::new(1).on([RetryOn::Timeout])),
            true,
        ),
        ("retry(1, on = [full])", |it| it.retry(Retry::new(1).on([RetryOn::Full])), false),
        ("retry(1, on = [wait])", |it| it.retry(Retry::new(1).on([RetryOn::Wait])), false),
        ("retry(1, on = [open, open])", |it| it.retry(Retry::new(1).on([RetryOn::Open, RetryOn::Open])), false),
        ("retry(1, on = [rate])", |it| it.retry(Retry::new(1).on([RetryOn::Rate])), false),
        (
            "rate = \"1/s\", retry(1, on = [rate])",
            |it| it.rate(Rate::own(1, 1_000 * MS)).retry(Retry::new(1).on([RetryOn::Rate])),
            true,
        ),
        ("retry(1, budget = \"101%\")", |it| it.retry(Retry::new(1).budget(Budget::share(1.01))), false),
        ("retry(1, budget = \"100%\")", |it| it.retry(Retry::new(1).budget(Budget::share(1.0))), true),
        ("retry(1, budget = \"-1%\")", |it| it.retry(Retry::new(1).budget(Budget::share(-0.01))), false),
        (
            "retry(1, budget = \"1%+1000001/s\")",
            |it| it.retry(Retry::new(1).budget(Budget::share(0.01).per_second(1_000_001.0))),
            false,
        ),
        (
            "retry(1, budget = \"0%+0/s\")",
            |it| it.retry(Retry::new(1).budget(Budget::share(0.0).per_second(0.0))),
            false,
        ),
        ("retry(1, budget = \"0%\")", |it| it.retry(Retry::new(1).budget(Budget::share(0.0))), true),
    ]);
}

#[test]
fn pauses() {
    agree(&[
        ("retry(1, backoff = \"2ms..1ms\")", |it| it.retry(Retry::new(1).backoff(Backoff::between(2 * MS, MS))), false),
        ("retry(1, backoff = \"1ms..1ms\")", |it| it.retry(Retry::new(1).backoff(Backoff::between(MS, MS))), true),
        (
            "retry(1, backoff(linear, first = \"2ms\", cap = \"1ms\"))",
            |it| it.retry(Retry::new(1).backoff(Backoff::linear().first(2 * MS).cap(MS))),
            false,
        ),
        (
            "retry(1, backoff(exponential, factor = 0.9))",
            |it| it.retry(Retry::new(1).backoff(Backoff::exponential().factor(0.9))),
            false,
        ),
        (
            "retry(1, backoff(exponential, factor = 100.0))",
            |it| it.retry(Retry::new(1).backoff(Backoff::exponential().factor(100.0))),
            true,
        ),
        (
            "retry(1, backoff(exponential, factor = 100.1))",
            |it| it.retry(Retry::new(1).backoff(Backoff::exponential().factor(100.1))),
            false,
        ),
        (
            "retry(1, backoff(fibonacci, factor = 2.0))",
            |it| it.retry(Retry::new(1).backoff(Backoff::fibonacci().factor(2.0))),
            false,
        ),
        (
            "retry(1, backoff(constant, cap = \"1s\"))",
            |it| it.retry(Retry::new(1).backoff(Backoff::constant().cap(1_000 * MS))),
            false,
        ),
        (
            "retry(1, backoff(decorrelated, jitter = full))",
            |it| it.retry(Retry::new(1).backoff(Backoff::decorrelated().jitter(Jitter::Full))),
            false,
        ),
        (
            "retry(1, backoff(exponential, jitter = \"0ms\"))",
            |it| it.retry(Retry::new(1).backoff(Backoff::exponential().jitter(Jitter::Within(Duration::ZERO)))),
            false,
        ),
        (
            "retry(1, backoff(exponential, first = \"0ms\"))",
            |it| it.retry(Retry::new(1).backoff(Backoff::exponential().first(Duration::ZERO))),
            false,
        ),
        (
            "retry(1, backoff = \"1ms..5ms\", max_duration = \"5ms\")",
            |it| it.retry(Retry::new(1).backoff(Backoff::between(MS, 5 * MS)).max_duration(5 * MS)),
            false,
        ),
        (
            "retry(1, backoff = \"1ms..5ms\", max_duration = \"6ms\")",
            |it| it.retry(Retry::new(1).backoff(Backoff::between(MS, 5 * MS)).max_duration(6 * MS)),
            true,
        ),
    ]);
}

#[test]
fn hedges_keys_and_what_is_kept() {
    agree(&[
        ("idempotent, hedge = \"1ms\"", |it| it.idempotent().hedge(Hedge::after(MS)), true),
        ("idempotent, hedge = \"999us\"", |it| it.idempotent().hedge(Hedge::after(999_000 * NS)), false),
        ("idempotent, hedge = \"p50\"", |it| it.idempotent().hedge(Hedge::percentile(50.0)), true),
        ("idempotent, hedge = \"p49\"", |it| it.idempotent().hedge(Hedge::percentile(49.0)), false),
        ("idempotent, hedge = \"p99.9\"", |it| it.idempotent().hedge(Hedge::percentile(99.9)), true),
        ("idempotent, hedge = \"p100\"", |it| it.idempotent().hedge(Hedge::percentile(100.0)), false),
        ("hedge = \"p95\"", |it| it.hedge(Hedge::percentile(95.0)), false),
        (
            "idempotent, hedge(after = \"50ms\", floor = \"5ms\")",
            |it| it.idempotent().hedge(Hedge::after(50 * MS).floor(5 * MS)),
            false,
        ),
        (
            "idempotent, timeout = \"300ms\", hedge = \"300ms\"",
            |it| it.idempotent().timeout(300 * MS).hedge(Hedge::after(300 * MS)),
            false,
        ),
        ("bulkhead = \"limits:1\", key = id", |it| it.bulkhead(slots(1)).keyed(), true),
        ("timeout = \"1s\", key = id", |it| it.timeout(1_000 * MS).keyed(), false),
        ("bulkhead = \"limits:auto\", key = id", |it| it.bulkhead(Bulkhead::auto("limits")).keyed(), false),
        ("fallback = last_good(\"1ns\", shared)", |it| it.last_good(NS), true),
        ("fallback = last_good(\"0s\", shared)", |it| it.last_good(Duration::ZERO), false),
        ("fallback = last_good(\"60s\"), key = id", |it| it.last_good(60_000 * MS).keyed(), true),
    ]);
}
