//! Each value, from what is written to what is planned.

use crate::parse::backoff::Backoff;
use crate::parse::breaker::Window;
use crate::parse::bulkhead::Slots;
use crate::parse::hedge::{After, Hedge};
use crate::parse::mode::Strategy;
use crate::parse::on::Kind;
use crate::parse::retry::Budget;
use crate::parse::value::{per_second, share};
use crate::plan::{Origin, Plan};

fn plan(attribute: &str) -> Plan {
    super::plan(attribute).unwrap_or_else(|messages| panic!("{attribute}: {messages:?}"))
}

#[test]
fn durations_are_exact() {
    let nanos = |text: &str| plan(&format!("timeout = \"{text}\"")).timeout;
    assert_eq!(nanos("1ns"), Some(1));
    assert_eq!(nanos("250us"), Some(250_000));
    assert_eq!(nanos("250\u{b5}s"), Some(250_000));
    assert_eq!(nanos("250\u{3bc}s"), Some(250_000));
    assert_eq!(nanos("300ms"), Some(300_000_000));
    assert_eq!(nanos("1.5s"), Some(1_500_000_000));
    assert_eq!(nanos("0.1ms"), Some(100_000));
    assert_eq!(nanos("2m"), Some(120_000_000_000));
    assert_eq!(nanos("1h"), Some(3_600_000_000_000));
    assert_eq!(nanos("262800h"), Some(946_080_000_000_000_000));
}

#[test]
fn shares_and_rates_take_decimals_and_nothing_else() {
    assert_eq!(share("50%"), Some(0.5));
    assert_eq!(share("7%"), Some(0.07));
    assert_eq!(share("0.1%"), Some(0.001));
    assert_eq!(per_second("5/s"), Some(5.0));
    assert_eq!(per_second("0.5/s"), Some(0.5));
    for wrong in ["50", "50 %", "%", ".5%", "5.%", "1e2%", "-5%", "+5%", "inf%", "NaN%"] {
        assert_eq!(share(wrong), None, "{wrong}");
    }
}

#[test]
fn a_bulkhead_may_name_the_pool_behind_it() {
    let guards = |attribute: &str| plan(attribute).guards;
    assert_eq!(guards("bulkhead = \"recs:8\""), None);
    assert_eq!(guards("guards = \"pg\", bulkhead = \"recs\""), Some("pg".into()));
}

#[test]
fn a_bulkhead_is_declared_or_joined() {
    let bulkhead = |text: &str| {
        let bulkhead = plan(&format!("bulkhead = \"{text}\"")).bulkhead.expect("a bulkhead");
        (bulkhead.name, bulkhead.declared.map(|declared| (declared.slots, declared.queue, declared.wait)))
    };
    assert_eq!(bulkhead("recs"), ("recs".into(), None));
    assert_eq!(bulkhead("recs:8"), ("recs".into(), Some((Slots::Fixed(8), None, None))));
    assert_eq!(bulkhead("recs:8/queue:0"), ("recs".into(), Some((Slots::Fixed(8), Some(0), None))));
    assert_eq!(
        bulkhead("a.b-c_1:8/queue:16/wait:5ms"),
        ("a.b-c_1".into(), Some((Slots::Fixed(8), Some(16), Some(5_000_000))))
    );
    assert_eq!(
        bulkhead("recs:8/wait:5ms/queue:16"),
        ("recs".into(), Some((Slots::Fixed(8), Some(16), Some(5_000_000))))
    );
    let fleet =
        |text: &str| plan(&format!("bulkhead = \"{text}\"")).bulkhead.and_then(|it| it.declared).map(|it| it.fleet);
    assert_eq!((fleet("recs:64/fleet/queue:4"), fleet("recs:64")), (Some(true), Some(false)));
    let bounds = |floor, ceiling| Some((Slots::Auto { floor, ceiling }, None, None));
    assert_eq!(bulkhead("recs:auto"), ("recs".into(), bounds(None, None)));
    assert_eq!(bulkhead("recs:auto/floor:4/ceiling:64"), ("recs".into(), bounds(Some(4), Some(64))));
    assert_eq!(bulkhead("recs:auto/ceiling:1"), ("recs".into(), bounds(None, Some(1))));
    assert_eq!(bulkhead("recs:1000000"), ("recs".into(), Some((Slots::Fixed(1_000_000), None, None))));
}

#[test]
fn a_key_is_an_expression_over_the_arguments() {
    let key = |text: &str| {
        let plan = plan(&format!("bulkhead = \"a:1/queue:2/total:8\", key = {text}, timeout = \"1s\""));
        assert_eq!(plan.bulkhead.and_then(|bulkhead| bulkhead.declared).and_then(|it| it.total), Some(8));
        quote::ToTokens::to_token_stream(&plan.key.expect("a key")).to_string()
    };
    assert_eq!(key("id"), "id");
    assert_eq!(key("(id, id % 2)"), "(id , id % 2)");
    assert_eq!(key("id.to_string()"), "id . to_string ()");
    assert_eq!(key("format!(\"{id}\")"), "format ! (\"{id}\")");
    assert!(plan("rate = \"1/s\", key = id").key.is_some(), "a rate alone can have one");
    assert!(plan("bulkhead = \"a\", rate = \"1/s\", key = id").key.is_some());
}

#[test]
fn a_rate_is_the_functions_own_shared_or_joined() {
    const S: u64 = 1_000_000_000;
    let rate = |text: &str| {
        let (_, rate) = plan(&format!("rate = \"{text}\"")).rate.expect("a rate");
        let declared = rate.declared.map(|declared| (declared.count, declared.unit, declared.burst, declared.wait));
        (rate.name, declared)
    };
    assert_eq!(rate("100/s"), (None, Some((100, S, None, None))));
    assert_eq!(rate("600/m"), (None, Some((600, 60 * S, None, None))));
    assert_eq!(rate("1/h/burst:1"), (None, Some((1, 3_600 * S, Some(1), None))));
    assert_eq!(rate("5/10s"), (None, Some((5, 10 * S, None, None))));
    assert_eq!(rate("1000/ms"), (None, Some((1_000, 1_000_000, None, None))));
    assert_eq!(rate("api:100/s"), (Some("api".into()), Some((100, S, None, None))));
    assert_eq!(
        rate("a.b-1:7/1.5s/wait:5ms/burst:2"),
        (Some("a.b-1".into()), Some((7, 1_500_000_000, Some(2), Some(5_000_000))))
    );
    assert_eq!(rate("api"), (Some("api".into()), None));
    let fleet =
        |text: &str| plan(&format!("rate = \"{text}\"")).rate.and_then(|(_, rate)| rate.declared).map(|it| it.fleet);
    assert_eq!((fleet("100/s/fleet/burst:5"), fleet("100/s")), (Some(true), Some(false)));
    assert_eq!(rate("1000000/s").1.map(|declared| declared.0), Some(1_000_000));
}

#[test]
fn a_breaker_says_only_what_was_written() {
    let breaker = |text: &str| plan(text).breaker.expect("a breaker");
    assert!(matches!(breaker("breaker").origin, Origin::Own));
    assert!(matches!(breaker("breaker = \"recs\"").origin, Origin::Join(name) if name == "recs"));
    assert!(matches!(breaker("breaker(name = \"recs\")").origin, Origin::Named(name) if name == "recs"));
    let full = breaker("breaker(window = 50, failures = \"20%\", min_calls = 10, cooldown = \"5s\", probes = 2)");
    assert_eq!((full.window, full.failures, full.min_calls), (Some(Window::Calls(50)), Some(0.2), Some(10)));
    assert_eq!((full.cooldown, full.probes), (Some(5_000_000_000), Some(2)));
    assert!(breaker("breaker(on = |e| e.is_outage())").predicate.is_some());
    assert!(breaker("breaker(on = AppError::is_outage, window = 50)").min_calls.is_none());
}

#[test]
fn a_small_window_is_judged_when_it_is_full() {
    assert_eq!(plan("breaker(window = 5)").breaker.expect("a breaker").min_calls, Some(5));
    assert_eq!(plan("breaker(window = 20)").breaker.expect("a breaker").min_calls, None);
    assert_eq!(plan("breaker(window = 5, min_calls = 2)").breaker.expect("a breaker").min_calls, Some(2));
}

#[test]
fn retry_counts_the_further_attempts() {
    assert_eq!(plan("retry = 2").retry.expect("a retry").times, 2);
    let long = plan("retry(3, backoff = \"50ms..2s\", budget = \"10%\")").retry.expect("a retry");
    assert_eq!((long.times, long.backoff), (3, Some(Backoff::Range(50_000_000, 2_000_000_000))));
    assert!(matches!(long.budget, Some(Budget::Share(part, granted)) if (part, granted) == (0.1, 1.0)));
    let budget = |text: &str| plan(&format!("retry(1, budget = {text})")).retry.expect("a retry").budget;
    assert!(matches!(budget("\"10%+5/s\""), Some(Budget::Share(part, granted)) if (part, granted) == (0.1, 5.0)));
    assert!(matches!(budget("\"0%+0.5/s\""), Some(Budget::Share(part, granted)) if (part, granted) == (0.0, 0.5)));
    assert!(matches!(budget("off"), Some(Budget::Off)));
}

#[test]
fn a_hedge_is_due_after_a_length_or_a_percentile() {
    let hedge = |text: &str| plan(&format!("{text}, idempotent")).hedge.expect("a hedge").when;
    assert_eq!(hedge("hedge = \"50ms\""), Hedge { after: After::Fixed(50_000_000), floor: None });
    assert_eq!(hedge("hedge = \"p95\""), Hedge { after: After::Percentile(950), floor: None });
    assert_eq!(hedge("hedge = \"p99.9\"").after, After::Percentile(999));
    assert_eq!(hedge("hedge = \"p50\"").after, After::Percentile(500));
    let long = Hedge { after: After::Percentile(990), floor: Some(10_000_000) };
    assert_eq!(hedge("hedge(after = \"p99\", floor = \"10ms\")"), long);
    assert_eq!(hedge("hedge(after = \"1ms\",)"), Hedge { after: After::Fixed(1_000_000), floor: None });
}

#[test]
fn what_is_retried_follows_from_the_words() {
    let kinds = |text: &str| plan(text).retry.expect("a retry").kinds;
    assert_eq!(kinds("retry = 1"), [Kind::Error]);
    assert_eq!(kinds("retry = 1, idempotent"), [Kind::Error, Kind::Timeout]);
    assert_eq!(kinds("retry(1, on = is_transient)"), [Kind::Error]);
    assert_eq!(kinds("retry(1, on = |e| e.is_transient()), idempotent"), [Kind::Error, Kind::Timeout]);
    assert_eq!(kinds("idempotent, retry(1, on = [error])"), [Kind::Error]);
    assert_eq!(kinds("idempotent, retry(1, on = [timeout])"), [Kind::Timeout]);
    assert_eq!(kinds("idempotent, retry(1, on = [|e| e.ok(), timeout])"), [Kind::Timeout, Kind::Error]);
    let refusing = "bulkhead = \"a\", rate = \"1/s\", retry(1, on = [full, wait, rate])";
    assert_eq!(kinds(refusing), [Kind::Full, Kind::Wait, Kind::Rate]);
}

#[test]
fn the_mode_is_of_all_strategies_or_of_those_that_are_named() {
    let all = "deadline = \"2s\", retry = 1, breaker, rate = \"1/s\", bulkhead = \"a\", timeout = \"1s\"";
    let observing = |mode: &str| {
        let plan = plan(&format!("{all}, {mode}"));
        let named = Strategy::ALL.into_iter().filter(|(strategy, _)| plan.observe.observes(*strategy));
        let named: Vec<_> = named.map(|(_, word)| word).collect();
        (named.join(" "), plan.refuses.is_some(), plan.runs_again())
    };
    assert_eq!(observing("idempotent"), (String::new(), true, true));
    assert_eq!(observing("mode = enforce"), (String::new(), true, true));
    assert_eq!(observing("mode = observe"), ("deadline retry breaker rate bulkhead timeout".into(), false, false));
    assert_eq!(observing("mode(breaker = observe, retry = enforce)"), ("breaker".into(), true, true));
    assert_eq!(observing("mode(retry = observe,)"), ("retry".into(), true, false));
    let refusing = "mode(deadline = observe, breaker = observe, rate = observe, bulkhead = observe, timeout = observe)";
    assert_eq!(observing(refusing), ("deadline breaker rate bulkhead timeout".into(), false, true));
    // The deadline around the call is observed as well, so it need not have one of its own.
    assert!(plan("timeout = \"1s\", mode(deadline = observe)").refuses.is_some());
}

#[test]
fn the_name_is_the_functions_unless_given() {
    assert_eq!(plan("timeout = \"1s\"").name, "get");
    assert_eq!(plan("timeout = \"1s\", name = \"recs.fetch\"").name, "recs.fetch");
    let raw = super::plan_on("timeout = \"1s\"", "async fn r#match() {}").unwrap_or_else(|all| panic!("{all:?}"));
    assert_eq!(raw.name, "match");
}

#[test]
fn keys_stand_in_any_order_and_may_end_in_a_comma() {
    let plan = plan("fallback = |failure| f(a, b), retry(1,), breaker, timeout = \"1s\", crate = crate::facade::wt,");
    assert!(plan.fallback.is_some() && plan.retry.is_some() && plan.breaker.is_some() && plan.timeout.is_some());
}

#[test]
fn callables_are_paths_and_closures_of_every_kind() {
    for callable in [
        "f",
        "Self::f",
        "a::b::f::<A, B>",
        "<A as B>::f",
        "|| vec![1, 2]",
        "move || x",
        "async || x",
        "|_| { x }",
        "|error: &Failure| -> Vec<u8> { x }",
    ] {
        let plan = plan(&format!("fallback = {callable}, timeout = \"1s\""));
        assert!(plan.fallback.is_some() && plan.timeout.is_some(), "{callable}");
    }
}
