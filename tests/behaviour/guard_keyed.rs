//! Guards by key, with hedges and with the most recent success: what an attribute reads off its function, a run says.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::guard::{Bulkhead, Hedge, Rate};
use watertight::{ErrorKind, Failure, FallbackUse, Fate, Guard, HedgeFate, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, assert_idle, bulkhead, ms, site};

fn down() -> io::Error {
    io::Error::other("down")
}

/// The kind of a refusal.
fn kind<T, E>(answer: &Result<T, Failure<E>>) -> Option<ErrorKind> {
    answer.as_ref().err().and_then(Failure::refusal).map(watertight::Error::kind)
}

#[resilient(bulkhead = "guard_keyed:1", key = tenant)]
async fn guard_keyed_function(tenant: &str, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_guard_and_a_function_share_the_compartments_of_their_keys() {
    let gate = Gate::shut();
    let guard = Guard::named("guard-keyed").bulkhead(Bulkhead::join("guard_keyed")).keyed().build().unwrap();
    let mut acme = Box::pin(guard_keyed_function("acme", &gate));
    assert!(poll!(&mut acme).is_pending());
    let quick = || async { Ok::<_, io::Error>(1) };
    assert_eq!(kind(&guard.key("acme").run(quick).await), Some(ErrorKind::BulkheadFull));
    assert_eq!(guard.key(&"other".to_owned()).run(quick).await.unwrap(), 1);
    assert_eq!(guard.key("other").run_into(async || Ok::<_, AppError>(2)).await.unwrap(), 2);
    gate.open();
    acme.await.unwrap();
    assert_eq!(guard.key("acme").run(quick).await.unwrap(), 1);
    let keys = bulkhead("guard_keyed").keys.expect("by key");
    assert_eq!((keys.kept, keys.idle), (2, 2));
    for name in ["guard-keyed", "guard_keyed_function"] {
        assert_idle(name);
    }
}

#[tokio::test(start_paused = true)]
async fn each_key_has_a_bucket_of_its_own() {
    let rate = Rate::own(1, ms(1_000));
    let guard = Guard::named("guard-keyed-rate").rate(rate).keyed().build().unwrap();
    let quick = || async { Ok::<_, io::Error>(()) };
    for key in [1, 2] {
        guard.key(&key).run(quick).await.unwrap();
        assert_eq!(kind(&guard.key(&key).run(quick).await), Some(ErrorKind::RateLimited));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_answered_with_the_keys_own_most_recent_success() {
    let guard = Guard::named("guard-last-good").last_good(ms(60_000)).timeout(ms(50)).keyed().build().unwrap();
    for tenant in ["acme", "other"] {
        let answer = guard.key(tenant).run_or_last_good(|| async { Ok::<_, io::Error>(tenant.to_owned()) });
        assert_eq!(answer.await.unwrap(), tenant);
    }
    let hang = std::future::pending::<Result<String, io::Error>>;
    advance(ms(30_000)).await;
    assert_eq!(guard.key("acme").run_or_last_good(hang).await.unwrap(), "acme");
    assert_eq!(guard.key("other").run_or_last_good(|| async { Err::<String, _>(down()) }).await.unwrap(), "other");
    assert_eq!(kind(&guard.key("new").run_or_last_good(hang).await), Some(ErrorKind::TimedOut), "as it was");
    advance(ms(31_000)).await;
    assert_eq!(kind(&guard.key("acme").run_or_last_good(hang).await), Some(ErrorKind::TimedOut), "too old");
    let figures = site("guard-last-good");
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::LastGood), 1);
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::LastGood), 1);
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::Failed), 2);
    assert_eq!((figures.last_good_age.count(), figures.ok), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn without_a_key_there_is_one_for_all_and_other_fallbacks_are_counted_as_what_they_are() {
    let guard = Guard::named("guard-last-good-all").last_good(ms(60_000)).build().unwrap();
    assert_eq!(guard.run_or_last_good(|| async { Ok::<_, io::Error>(1_u32) }).await.unwrap(), 1);
    assert_eq!(guard.run_or_last_good(|| async { Err::<u32, _>(down()) }).await.unwrap(), 1);
    assert_eq!(guard.run_or_else(|| async { Err::<u32, _>(down()) }, |_| 7).await, 7);
    let figures = site("guard-last-good-all");
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::LastGood), 1);
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Used), 1);
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_runs_beside_a_slow_one_and_the_first_good_answer_wins() {
    let hedge = Hedge::after(ms(20));
    let slots = Bulkhead::new("guard_hedged", 2);
    let guard = Guard::named("guard-hedged").bulkhead(slots).hedge(hedge).idempotent().keyed().build().unwrap();
    let begun = AtomicU32::new(0);
    let slow_first = || async {
        let nth = begun.fetch_add(1, Ordering::SeqCst);
        sleep(if nth == 0 { ms(500) } else { ms(5) }).await;
        Ok::<_, io::Error>(nth)
    };
    let clock = Stopwatch::start();
    assert_eq!(guard.key("acme").run_hedged(slow_first).await.unwrap(), 1);
    clock.assert_reads(ms(25));
    assert_eq!(guard.run_hedged(slow_first).await.unwrap(), 2, "a quick one is not hedged");
    assert_eq!(guard.run(slow_first).await.unwrap(), 3);
    let figures = site("guard-hedged");
    assert_eq!((figures.hedges_by(HedgeFate::Won), figures.calls, figures.ok), (1, 3, 3));
    assert_idle("guard-hedged");
    let spawned = tokio::spawn(async move { guard.run_hedged(|| async { Ok::<_, io::Error>(9) }).await });
    assert_eq!(spawned.await.unwrap().unwrap(), 9, "its future can be spawned");
}

#[tokio::test(start_paused = true)]
async fn keyed_calls_hold_nothing_of_their_keys_when_they_are_over() {
    let guard =
        Guard::named("guard-keyed-many").bulkhead(Bulkhead::new("guard_keyed_many", 1)).keyed().build().unwrap();
    let calls = (0..5_000).map(|key| async move { guard.key(&key).run(|| async { Ok::<_, io::Error>(key) }).await });
    for (key, answer) in join_all(calls).await.into_iter().enumerate() {
        assert_eq!(answer.unwrap(), i32::try_from(key).unwrap());
    }
    let keys = bulkhead("guard_keyed_many").keys.expect("by key");
    assert_eq!(keys.kept, keys.idle);
    assert!(keys.kept <= 600, "{}", keys.kept);
}

#[test]
fn what_the_attribute_refuses_the_builder_refuses() {
    let said = |builder: watertight::guard::Builder| builder.build().unwrap_err().mistakes().join("\n");
    let named = || Guard::named("guard-mistaken").timeout(ms(50));
    assert!(said(named().keyed()).starts_with("nothing of this guard is kept by key"));
    assert!(
        said(named().bulkhead(Bulkhead::auto("mistaken")).keyed()).starts_with("slots that are found by measuring")
    );
    assert!(said(named().hedge(Hedge::after(ms(10)))).starts_with("a hedge runs the closure a second time"));
    assert!(said(named().hedge(Hedge::after(ms(50))).idempotent()).contains("cut off by the `timeout`"));
    assert!(said(named().hedge(Hedge::percentile(40.0)).idempotent()).starts_with("the percentile 40 is no hedge"));
    assert!(said(named().hedge(Hedge::percentile(95.0)).idempotent().observe()).starts_with("what only observes"));
    assert!(said(named().last_good(ms(0))).starts_with("`last_good` is 0ns"));
}
