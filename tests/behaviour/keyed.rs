//! `key`: a compartment for each key, and a bucket.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures::future::join_all;
use futures::poll;
use tokio::time::{Instant, advance, sleep};
use watertight::check::Problem;
use watertight::metrics::KeyFigures;
use watertight::{ErrorKind, Refusal, resilient};
use watertight_tests::{AppError, Gate, assert_idle, bulkhead, caught, ms, panic_quietly, site};

#[resilient(bulkhead = "keyed_apart:1/queue:1", key = tenant)]
async fn keyed_apart(tenant: &str, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

fn keys(name: &str) -> KeyFigures {
    bulkhead(name).keys.expect("it has had a key")
}

#[tokio::test(start_paused = true)]
async fn each_key_has_slots_and_a_queue_of_its_own() {
    let gate = Gate::shut();
    let mut acme: Vec<_> = (0..2).map(|_| Box::pin(keyed_apart("acme", &gate))).collect();
    for call in &mut acme {
        assert!(poll!(call).is_pending());
    }
    let error = keyed_apart("acme", &gate).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::BulkheadFull));
    assert_eq!(
        error.refused().to_string(),
        "keyed_apart: bulkhead `keyed_apart` is full for this key (1 of 1 slots running, 1 of 1 queued)"
    );
    let mut other = Box::pin(keyed_apart("other", &gate));
    assert!(poll!(&mut other).is_pending());
    let now = bulkhead("keyed_apart");
    assert_eq!((now.running, now.queued), (2, 1), "summed over its keys");
    gate.open();
    join_all(acme).await.into_iter().for_each(|answer| answer.unwrap());
    other.await.unwrap();
    let figures = keys("keyed_apart");
    assert_eq!((figures.kept, figures.idle), (2, 2));
    assert_eq!((figures.busiest[0].key.as_str(), figures.busiest[0].count, figures.busiest[0].error), ("acme", 3, 0));
    assert_eq!((figures.most_refused[0].key.as_str(), figures.most_refused[0].count), ("acme", 1));
    assert_eq!(figures.most_refused.len(), 1);
    assert_idle("keyed_apart");
}

/// Shown as in source code, since it says nothing of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Region {
    tenant: u32,
    zone: &'static str,
}

struct Service {
    own: u32,
}

impl Service {
    #[resilient(bulkhead = "keyed_expression:1", key = (self.own, region.tenant, &name[..1]), retry = 1)]
    async fn ask(&self, region: Region, name: String, gate: &Gate) -> Result<String, AppError> {
        gate.opened().await;
        Ok(format!("{name} {}", region.zone))
    }

    #[resilient(bulkhead = "keyed_whole:1", key = region)]
    async fn whole(&mut self, region: Region) -> Result<u32, AppError> {
        self.own += region.tenant;
        Ok(self.own)
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_is_any_expression_over_the_arguments_and_takes_none_of_them_away() {
    let gate = Gate::shut();
    let service = Service { own: 7 };
    let region = |tenant| Region { tenant, zone: "eu" };
    let mut first = Box::pin(service.ask(region(1), "anna".into(), &gate));
    assert!(poll!(&mut first).is_pending());
    let full = service.ask(region(1), "adam".into(), &gate).await;
    assert_eq!(full.unwrap_err().kind(), Some(ErrorKind::BulkheadFull), "the same to the key");
    let mut second = Box::pin(service.ask(region(1), "bert".into(), &gate));
    assert!(poll!(&mut second).is_pending(), "another to the key");
    gate.open();
    assert_eq!(first.await.unwrap(), "anna eu");
    assert_eq!(second.await.unwrap(), "bert eu");
    assert_eq!(keys("keyed_expression").busiest[0].key, "(7, 1, \"a\")");
    let mut service = service;
    assert_eq!(service.whole(region(3)).await.unwrap(), 10);
    assert_eq!(keys("keyed_whole").busiest[0].key, "Region { tenant: 3, zone: \"eu\" }");
}

#[resilient(bulkhead = "keyed_shared:1", key = tenant)]
async fn keyed_shared(tenant: u64, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[resilient(bulkhead = "keyed_shared", key = order.0)]
async fn keyed_joins(order: (u64, &str)) -> Result<usize, AppError> {
    Ok(order.1.len())
}

#[tokio::test(start_paused = true)]
async fn functions_that_name_one_bulkhead_share_a_keys_compartment() {
    let gate = Gate::shut();
    let mut holder = Box::pin(keyed_shared(1, &gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(keyed_joins((1, "x")).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    assert_eq!(keyed_joins((2, "xy")).await.unwrap(), 2);
}

#[resilient(bulkhead = "keyed_total:4/queue:100/total:6", key = tenant)]
async fn keyed_total(tenant: &str, served: &Mutex<Vec<String>>) -> Result<(), AppError> {
    served.lock().expect("whole").push(tenant.to_owned());
    sleep(ms(10)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn under_a_total_a_loud_key_cannot_starve_the_quiet_ones() {
    let served = Mutex::default();
    let loud = (0..90).map(|_| keyed_total("loud", &served));
    let quiet = ["a", "b", "c"].into_iter().flat_map(|tenant| vec![tenant; 4]);
    let quiet = quiet.map(|tenant| keyed_total(tenant, &served));
    let all = tokio::time::timeout(ms(10_000), join_all(loud.chain(quiet)));
    assert!(all.await.expect("all in time").iter().all(Result::is_ok));
    let served = served.into_inner().expect("whole");
    assert_eq!(served.len(), 102);
    let last_quiet = served.iter().rposition(|tenant| tenant != "loud").expect("served");
    assert!(last_quiet < 24, "twelve quiet calls behind ninety loud ones, the last is number {last_quiet}");
    let now = bulkhead("keyed_total");
    assert_eq!((now.running, now.peak_running, now.total), (0, 6, Some(6)));
}

#[resilient(bulkhead = "keyed_total_full:2/total:2", key = tenant)]
async fn keyed_total_full(tenant: u8, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_total_says_so() {
    let gate = Gate::shut();
    let mut holders = Vec::new();
    for tenant in 0..2 {
        holders.push(Box::pin(keyed_total_full(tenant, &gate)));
        assert!(poll!(holders.last_mut().expect("one")).is_pending());
    }
    let error = keyed_total_full(3, &gate).await.unwrap_err();
    assert_eq!(
        error.refused().to_string(),
        "keyed_total_full: bulkhead `keyed_total_full` is full (2 of 2 slots of all keys running, 0 of 0 queued for this key)"
    );
}

#[resilient(bulkhead = "keyed_wait:1/queue:2/wait:50ms", key = tenant)]
async fn keyed_wait(tenant: u8, gate: &Gate) -> Result<Instant, AppError> {
    gate.opened().await;
    Ok(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn waits_are_bounded_counted_and_left_as_in_any_bulkhead() {
    let gate = Gate::shut();
    let mut holder = Box::pin(keyed_wait(1, &gate));
    assert!(poll!(&mut holder).is_pending());
    let mut dropped = Box::pin(keyed_wait(1, &gate));
    assert!(poll!(&mut dropped).is_pending());
    let mut waits = Box::pin(keyed_wait(1, &gate));
    assert!(poll!(&mut waits).is_pending());
    drop(dropped);
    assert_eq!(waits.await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
    assert_eq!(keys("keyed_wait").most_refused[0].count, 1);
    let mut next = Box::pin(keyed_wait(1, &gate));
    assert!(poll!(&mut next).is_pending());
    gate.open();
    holder.await.unwrap();
    next.await.unwrap();
    assert_idle("keyed_wait");
    assert_eq!((keys("keyed_wait").kept, keys("keyed_wait").idle), (1, 1));
}

#[resilient(bulkhead = "keyed_nested:1/wait:1s/queue:1", key = tenant)]
async fn keyed_nested(tenant: u8, depth: u8) -> Result<u8, AppError> {
    if depth == 0 { Ok(0) } else { Ok(1 + Box::pin(keyed_nested(tenant, depth - 1)).await?) }
}

#[resilient(bulkhead = "keyed_nested", key = from)]
async fn keyed_other(from: u8, to: u8) -> Result<u8, AppError> {
    keyed_nested(to, 3).await
}

#[tokio::test(start_paused = true)]
async fn the_same_key_nested_borrows_its_slot_and_another_takes_its_own() {
    assert_eq!(keyed_nested(1, 5).await.unwrap(), 5);
    assert_eq!(site("keyed_nested").lent, 5);
    assert_eq!(keyed_other(1, 2).await.unwrap(), 3);
    assert_eq!(keyed_other(1, 1).await.unwrap(), 3);
    let both = [Box::pin(keyed_other(3, 3)), Box::pin(keyed_other(4, 4))];
    join_all(both).await.into_iter().for_each(|answer| assert_eq!(answer.unwrap(), 3));
    assert_eq!(bulkhead("keyed_nested").running, 0);
}

#[resilient(rate = "2/s", key = tenant)]
async fn keyed_rate(tenant: &str) -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rate_with_a_key_gives_each_key_tokens_of_its_own() {
    for tenant in ["a", "b"] {
        keyed_rate(tenant).await.unwrap();
        keyed_rate(tenant).await.unwrap();
        let error = keyed_rate(tenant).await.unwrap_err();
        assert_eq!(error.refused().retry_after(), Some(ms(500)));
    }
    advance(ms(500)).await;
    keyed_rate("a").await.unwrap();
    let snapshot = watertight::snapshot();
    let figures = snapshot.rate("keyed_rate").and_then(|rate| rate.keys.clone()).expect("it has had a key");
    assert_eq!((figures.kept, figures.idle), (2, 2));
    assert_eq!((figures.most_refused[0].count, figures.most_refused[1].count), (1, 1));
}

#[resilient(rate = "keyed_pace:10/s/burst:1/wait:10s", key = tenant)]
async fn keyed_pace(tenant: u8) -> Result<Instant, AppError> {
    Ok(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn each_key_waits_in_a_line_of_its_own() {
    let start = Instant::now();
    let calls = (0..3).flat_map(|_| [1, 2]).map(keyed_pace);
    let started: Vec<_> = join_all(calls).await.into_iter().map(|at| (at.unwrap() - start).as_millis()).collect();
    assert_eq!(started, [0, 0, 100, 100, 200, 200]);
}

#[resilient(rate = "1/h", bulkhead = "keyed_both:1", key = tenant)]
async fn keyed_both(tenant: &str, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn with_both_a_key_has_a_compartment_and_a_bucket_and_its_token_comes_back() {
    let (shut, open) = (Gate::shut(), Gate::shut());
    open.open();
    // Two calls that find no token, and two that find no slot.
    let mut holder = Box::pin(keyed_both("a", &shut));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(keyed_both("a", &open).await.unwrap_err().kind(), Some(ErrorKind::RateLimited));
    drop(holder);
    assert_eq!(keyed_both("a", &open).await.unwrap_err().kind(), Some(ErrorKind::RateLimited), "a body had begun");
    keyed_both("b", &open).await.unwrap();
    assert_eq!(site("keyed_both").refused_for(Refusal::Rate), 2);
    // A token cannot be had anew by others crowding the bucket out.
    for tenant in 0..2_000 {
        keyed_both(&tenant.to_string(), &open).await.unwrap();
    }
    assert_eq!(keyed_both("a", &open).await.unwrap_err().kind(), Some(ErrorKind::RateLimited));
    advance(ms(3_600_000)).await;
    keyed_both("a", &open).await.unwrap();
}

#[resilient(bulkhead = "keyed_half:2", key = tenant)]
async fn keyed_half(tenant: u8) -> Result<(), AppError> {
    Ok(())
}

#[resilient(bulkhead = "keyed_half")]
async fn keyed_other_half() -> Result<(), AppError> {
    Ok(())
}

#[resilient(bulkhead = "keyed_totals:2/total:8", key = tenant)]
async fn keyed_totals(tenant: u8) -> Result<(), AppError> {
    Ok(())
}

#[resilient(bulkhead = "keyed_totals:2/total:4", key = tenant)]
async fn keyed_other_totals(tenant: u8) -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_check_finds_names_that_are_keyed_by_half_and_totals_that_differ() {
    keyed_half(1).await.unwrap();
    keyed_other_half().await.unwrap();
    keyed_totals(1).await.unwrap();
    keyed_other_totals(1).await.unwrap();
    let report = watertight::check();
    let find = |name: &str| report.findings.iter().find(|finding| finding.name == name).expect("found");
    let half = find("keyed_half");
    assert_eq!((half.problem, half.sites.len(), half.sites[0].name), (Problem::KeyedByHalf, 1, "keyed_other_half"));
    let totals = find("keyed_totals");
    assert_eq!(totals.problem, Problem::Conflict);
    assert!(totals.remedy.contains("2 slots, queue of 0, total of 4"), "{}", totals.remedy);
    assert_eq!(bulkhead("keyed_totals").total, Some(4), "the smaller holds");
}

#[resilient(bulkhead = "keyed_panics:1", key = tenant)]
async fn keyed_panics(tenant: u8, panics: bool) -> Result<(), AppError> {
    if panics { panic_quietly() } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn a_panic_gives_back_the_slot_and_the_key() {
    for _ in 0..100 {
        assert!(caught(keyed_panics(1, true)).await.is_err());
    }
    keyed_panics(1, false).await.unwrap();
    let figures = keys("keyed_panics");
    assert_eq!((figures.kept, figures.idle, bulkhead("keyed_panics").running), (1, 1, 0));
}

#[resilient(bulkhead = "keyed_counts:1000", key = tenant)]
async fn keyed_counts(tenant: u32) -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_busiest_keys_are_known_by_name_and_within_their_error() {
    let mut truth = BTreeMap::new();
    for n in 0..20_000_u32 {
        // Three loud tenants, one call in five each, among thousands that come a few times.
        let tenant = if n % 5 < 3 { n % 5 } else { 1_000 + n.wrapping_mul(2_654_435_761) % 5_000 };
        *truth.entry(tenant.to_string()).or_insert(0_u64) += 1;
        keyed_counts(tenant).await.unwrap();
    }
    let figures = keys("keyed_counts");
    assert_eq!(figures.busiest.len(), 10);
    let mut loud: Vec<_> = figures.busiest[..3].iter().map(|count| count.key.as_str()).collect();
    loud.sort_unstable();
    assert_eq!(loud, ["0", "1", "2"]);
    for count in &figures.busiest {
        let truth = truth[&count.key];
        assert!(count.count >= truth && count.count - count.error <= truth, "{count:?} and {truth}");
    }
    assert!(figures.kept <= 600, "{}", figures.kept);
}

#[resilient(bulkhead = "keyed_observed:1/queue:1", rate = "2/h", key = tenant, mode = observe)]
async fn keyed_observed(tenant: u8, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn who_observes_is_followed_by_key_and_refused_nothing() {
    let gate = Gate::shut();
    let mut calls: Vec<_> = [1, 1, 2, 3].into_iter().map(|tenant| Box::pin(keyed_observed(tenant, &gate))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    let figures = site("keyed_observed");
    assert_eq!((figures.would_queue, figures.would_refuse_for(Refusal::Rate)), (1, 0), "only the key that came twice");
    let mut third = Box::pin(keyed_observed(1, &gate));
    assert!(poll!(&mut third).is_pending());
    assert_eq!(site("keyed_observed").would_refuse_for(Refusal::Rate), 1, "its third within the hour");
    gate.open();
    join_all(calls).await.into_iter().for_each(|answer| answer.unwrap());
    third.await.unwrap();
    let keys = bulkhead("keyed_observed@observe").keys.expect("its keys are the twin's");
    assert_eq!((keys.kept, keys.idle), (3, 3));
    assert_idle("keyed_observed");
}

/// A key that cannot be read.
#[derive(PartialEq, Eq, Hash)]
struct Unreadable;

impl std::fmt::Display for Unreadable {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        panic_quietly()
    }
}

#[resilient(bulkhead = "keyed_raises:1", rate = "100/s", key = if is_readable { tenant } else { panic_quietly() })]
async fn keyed_raises(tenant: u32, is_readable: bool) -> Result<(), AppError> {
    Ok(())
}

#[resilient(bulkhead = "keyed_unreadable:1", rate = "100/s", key = key)]
async fn keyed_unreadable(key: &Unreadable) -> Result<(), AppError> {
    let _ = key;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_key_that_panics_is_a_panic_of_the_call_and_loses_nothing() {
    caught(keyed_raises(1, false)).await.expect_err("a panic surfaces");
    keyed_raises(1, true).await.unwrap();
    caught(keyed_unreadable(&Unreadable)).await.expect_err("a panic surfaces");
    for (name, calls) in [("keyed_raises", 2), ("keyed_unreadable", 1)] {
        let figures = site(name);
        assert_eq!((figures.calls, figures.panicked, figures.cancelled, figures.in_flight), (calls, 1, 0, 0), "{name}");
        assert_eq!(figures.attempts(), calls - 1, "{name}: no body was begun");
        assert_idle(name);
    }
}

struct Uncopyable;

impl Clone for Uncopyable {
    fn clone(&self) -> Self {
        panic_quietly()
    }
}

#[resilient(bulkhead = "clone_panics:1", retry(2, budget = off, backoff = "1ms..1ms"))]
async fn clone_panics(what: Uncopyable) -> Result<(), AppError> {
    let _ = what;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_argument_that_panics_when_it_is_cloned_is_a_panic_of_the_call() {
    caught(clone_panics(Uncopyable)).await.expect_err("a panic surfaces");
    let figures = site("clone_panics");
    assert_eq!((figures.calls, figures.panicked, figures.cancelled, figures.attempts()), (1, 1, 0, 0));
    assert_idle("clone_panics");
}
