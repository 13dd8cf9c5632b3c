//! `observe`: attempts that run on beyond their limit, so that the tail is known.

#![allow(clippy::no_effect_underscore_binding)] // moved into a body, to see when it is dropped

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::{Instant, sleep};
use watertight::advice::{Advised, Curve};
use watertight::metrics::ObservedFigures;
use watertight::testing::World;
use watertight::{AttemptFate, Error, ErrorKind, Fate, ObservedFate, deadline, resilient, shutdown};
use watertight_tests::{AppError, assert_idle, ms, occupancy, site};

fn observed(name: &str) -> ObservedFigures {
    site(name).observed.unwrap_or_default()
}

#[resilient(timeout = "100ms", bulkhead = "tail_runs_on:1", idempotent, observe = "100%")]
async fn tail_runs_on(millis: u64, ends: Arc<AtomicU32>) -> Result<(), Error> {
    sleep(ms(millis)).await;
    ends.fetch_add(1, Ordering::SeqCst);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_caller_has_its_answer_at_the_limit_and_the_attempt_runs_on_alone() {
    let ends = Arc::new(AtomicU32::new(0));
    let begun = Instant::now();
    let error = tail_runs_on(350, ends.clone()).await.unwrap_err();
    assert_eq!((error.kind(), begun.elapsed()), (ErrorKind::TimedOut, ms(100)));
    assert_eq!(occupancy("tail_runs_on"), (0, 0), "its slot is for callers");
    assert_eq!((observed("tail_runs_on").running, ends.load(Ordering::SeqCst)), (1, 0));
    assert!(tail_runs_on(1, ends.clone()).await.is_ok(), "and the next one has it");
    sleep(ms(300)).await;
    assert_eq!(ends.load(Ordering::SeqCst), 2);
    let figures = site("tail_runs_on");
    assert_eq!((figures.timed_out, figures.ok, figures.calls), (1, 1, 2), "one call has one fate");
    assert_eq!((figures.attempts_by(AttemptFate::TimedOut), figures.attempts()), (1, 2));
    assert_eq!((figures.cut_off.count(), figures.latency.count()), (1, 1), "it was cut off, whatever came later");
    let seen = figures.observed.unwrap();
    assert_eq!((seen.running, seen.watched(), seen.by(ObservedFate::Answered)), (0, 1, 1));
    assert_eq!((seen.answered.sum(), seen.from.sum()), (ms(350), ms(100)));
    assert_idle("tail_runs_on");
}

#[tokio::test(start_paused = true)]
async fn at_the_cap_it_is_dropped_and_kept_as_longer_than_that() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_capped(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }
    #[resilient(timeout = "100ms", idempotent, observe = "100%/cap:250ms")]
    async fn tail_capped_soon() -> Result<(), Error> {
        pending().await
    }

    let held = Arc::new(());
    assert!(tail_capped(held.clone()).await.is_err());
    assert!(tail_capped_soon().await.is_err());
    sleep(ms(795)).await;
    assert_eq!((observed("tail_capped").running, Arc::strong_count(&held)), (1, 2), "ten timeouts");
    sleep(ms(10)).await;
    let seen = observed("tail_capped");
    assert_eq!((seen.running, seen.by(ObservedFate::Capped), Arc::strong_count(&held)), (0, 1, 1));
    assert_eq!((seen.answered.count(), seen.unanswered.sum()), (0, ms(1_000)));
    assert_eq!(observed("tail_capped_soon").unanswered.sum(), ms(250));
}

#[tokio::test(start_paused = true)]
async fn no_more_run_on_than_said_and_the_others_are_dropped_at_the_limit() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_bound(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }
    #[resilient(timeout = "100ms", idempotent, observe = "100%/runs:5")]
    async fn tail_bound_said(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }

    let held = Arc::new(());
    futures::future::join_all((0..20).map(|_| tail_bound(held.clone()))).await;
    let seen = observed("tail_bound");
    assert_eq!((seen.running, seen.by(ObservedFate::NoRoom), Arc::strong_count(&held)), (2, 18, 3));
    let held = Arc::new(());
    futures::future::join_all((0..20).map(|_| tail_bound_said(held.clone()))).await;
    assert_eq!((observed("tail_bound_said").running, Arc::strong_count(&held)), (5, 6));
}

#[tokio::test(start_paused = true)]
async fn the_share_is_that_of_the_attempts_that_are_cut_off() {
    #[resilient(timeout = "10ms", idempotent, observe = "20%/runs:64")]
    async fn tail_share(is_slow: bool) -> Result<(), Error> {
        sleep(ms(if is_slow { 15 } else { 1 })).await;
        Ok(())
    }

    for turn in 0..2_000 {
        let _ = tail_share(turn % 2 == 0).await;
    }
    sleep(ms(20)).await;
    let (figures, seen) = (site("tail_share"), observed("tail_share"));
    assert_eq!((figures.timed_out, figures.ok), (1_000, 1_000));
    assert!((140..260).contains(&seen.watched()), "{} of 1000, and 200 are expected", seen.watched());
    assert_eq!(seen.answered.count(), seen.watched());
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_takes_its_attempt_along() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_cancelled(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }

    let held = Arc::new(());
    assert!(tokio::time::timeout(ms(50), tail_cancelled(held.clone())).await.is_err());
    assert_eq!((observed("tail_cancelled").running, Arc::strong_count(&held)), (0, 1), "cancelled is not cut off");
    assert_eq!(site("tail_cancelled").cancelled, 1);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_of_the_caller_hides_the_tail_as_well() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_deadline() -> Result<Option<std::time::Duration>, Error> {
        sleep(ms(70)).await;
        Ok(deadline::remaining())
    }

    let within = deadline::within(ms(40), tail_deadline()).await;
    assert!(within.is_err() || within.is_ok_and(|inner| inner.is_err()));
    sleep(ms(60)).await;
    let seen = observed("tail_deadline");
    assert_eq!((seen.answered.sum(), seen.from.sum()), (ms(70), ms(40)));
}

#[tokio::test(start_paused = true)]
async fn what_runs_on_has_the_cap_for_a_deadline_and_no_slot_to_lend() {
    static LEFT: AtomicU32 = AtomicU32::new(0);
    static INNER: AtomicU32 = AtomicU32::new(0);

    #[resilient(timeout = "100ms", bulkhead = "tail_inside:1", idempotent, observe = "100%")]
    async fn tail_inside() -> Result<(), Error> {
        sleep(ms(300)).await;
        let left = deadline::remaining().map_or(0, |left| left.as_millis());
        LEFT.store(u32::try_from(left).unwrap_or(u32::MAX), Ordering::SeqCst);
        assert_eq!(watertight::attempt(), 0);
        // A slot of its own, since the one that its call had is somebody else's.
        tail_inner().await?;
        Ok(())
    }
    #[resilient(timeout = "100ms", bulkhead = "tail_inside:1", idempotent)]
    async fn tail_inner() -> Result<(), Error> {
        INNER.store(site("tail_inner").lent.try_into().unwrap_or(9), Ordering::SeqCst);
        Ok(())
    }

    assert!(tail_inside().await.is_err());
    sleep(ms(250)).await;
    assert_eq!((LEFT.load(Ordering::SeqCst), INNER.load(Ordering::SeqCst)), (700, 0));
    assert_eq!(site("tail_inner").ok, 1);
    assert_idle("tail_inside");
}

#[tokio::test(start_paused = true)]
async fn an_error_that_comes_late_is_no_end() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_fails() -> Result<(), AppError> {
        sleep(ms(101)).await;
        Err(AppError::Broken("canceling statement due to statement timeout"))
    }

    assert!(tail_fails().await.is_err());
    sleep(ms(50)).await;
    let seen = observed("tail_fails");
    assert_eq!((seen.by(ObservedFate::Failed), seen.answered.count(), seen.unanswered.sum()), (1, 0, ms(101)));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_what_runs_on_is_counted_and_nobody_elses() {
    #[resilient(timeout = "100ms", breaker(min_calls = 1, window = 1), idempotent, observe = "100%", fallback = || 7)]
    async fn tail_panics() -> u8 {
        sleep(ms(200)).await;
        panic!("on purpose: what runs on has failed")
    }

    assert_eq!(tail_panics().await, 7);
    sleep(ms(150)).await;
    let (figures, seen) = (site("tail_panics"), observed("tail_panics"));
    assert_eq!((seen.by(ObservedFate::Panicked), seen.running, seen.unanswered.sum()), (1, 0, ms(200)));
    assert_eq!((figures.panicked, figures.fate(Fate::TimedOut)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn each_attempt_is_drawn_for_itself_with_clones_of_its_own() {
    #[resilient(timeout = "100ms", retry(2, backoff = "1ms..2ms", budget = off), idempotent, observe = "100%/runs:8")]
    async fn tail_again(mut name: String, ends: Arc<AtomicU32>) -> Result<String, AppError> {
        name.push_str(&watertight::attempt().to_string());
        sleep(ms(150)).await;
        ends.fetch_add(1, Ordering::SeqCst);
        Ok(name)
    }

    let ends = Arc::new(AtomicU32::new(0));
    assert!(tail_again("a".to_owned(), ends.clone()).await.is_err());
    sleep(ms(100)).await;
    assert_eq!((ends.load(Ordering::SeqCst), observed("tail_again").by(ObservedFate::Answered)), (3, 3));
    assert_eq!(site("tail_again").retries, 2);
}

#[tokio::test(start_paused = true)]
async fn of_two_hedged_attempts_the_one_that_is_cut_off_runs_on_and_the_one_that_lost_does_not() {
    static ENDS: AtomicU32 = AtomicU32::new(0);

    #[resilient(timeout = "100ms", hedge = "40ms", idempotent, observe = "100%/runs:8")]
    async fn tail_hedged(first: u64, second: u64) -> Result<u32, AppError> {
        sleep(ms(if watertight::attempt() == 0 { first } else { second })).await;
        ENDS.fetch_add(1, Ordering::SeqCst);
        Ok(watertight::attempt())
    }

    assert_eq!(tail_hedged(80, 10).await.unwrap(), 1);
    sleep(ms(100)).await;
    assert_eq!((ENDS.load(Ordering::SeqCst), observed("tail_hedged").watched()), (1, 0), "the first has lost");
    assert!(tail_hedged(150, 300).await.is_err());
    sleep(ms(500)).await;
    let seen = observed("tail_hedged");
    assert_eq!((ENDS.load(Ordering::SeqCst), seen.by(ObservedFate::Answered)), (3, 2), "both were cut off");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_never_began_does_not_begin_without_its_caller() {
    static BEGUN: AtomicU32 = AtomicU32::new(0);

    #[resilient(bulkhead = "tail_queue:1/queue:4/wait:50ms", timeout = "200ms", idempotent, observe = "100%")]
    async fn tail_queue() -> Result<(), Error> {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        pending().await
    }

    let (first, second) = tokio::join!(tail_queue(), tail_queue());
    assert!(first.is_err() && second.is_err_and(|error| error.kind() == ErrorKind::BulkheadWait));
    assert_eq!((BEGUN.load(Ordering::SeqCst), observed("tail_queue").running), (1, 1));
}

struct Shop(u64);

impl Shop {
    #[resilient(timeout = "100ms", idempotent, observe = "100%", fallback = |_| Ok(name.len() as u64))]
    async fn tail_method(self: Arc<Self>, name: String) -> Result<u64, AppError> {
        sleep(ms(self.0)).await;
        Ok(self.0 + name.len() as u64)
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_that_owns_its_receiver_and_a_fallback_that_names_an_argument() {
    let shop = Arc::new(Shop(150));
    assert_eq!(shop.clone().tail_method("abc".to_owned()).await.unwrap(), 3, "the fallback's answer");
    assert_eq!(Arc::strong_count(&shop), 2, "what runs on holds it");
    sleep(ms(100)).await;
    assert_eq!((Arc::strong_count(&shop), observed("tail_method").watched()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_begins_to_stop_drops_what_runs_on_and_lets_nothing_more() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_stops(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }

    let _world = World::open();
    let held = Arc::new(());
    assert!(tail_stops(held.clone()).await.is_err());
    let late = tokio::spawn(tail_stops(held.clone()));
    sleep(ms(50)).await;
    assert_eq!((observed("tail_stops").running, Arc::strong_count(&held)), (1, 3));
    let drained = shutdown::drain(ms(1_000)).await;
    assert!(drained.is_clean() && drained.took <= ms(150), "it waits for the call and for nobody else: {drained}");
    assert!(late.await.unwrap().is_err());
    let seen = observed("tail_stops");
    assert_eq!((seen.running, seen.watched(), seen.by(ObservedFate::Stopped)), (0, 1, 1), "the second never ran on");
    assert_eq!(Arc::strong_count(&held), 1);
}

#[test]
fn a_runtime_that_ends_ends_what_runs_on() {
    #[resilient(timeout = "100ms", idempotent, observe = "100%")]
    async fn tail_runtime(held: Arc<()>) -> Result<(), Error> {
        let _held = held;
        pending().await
    }

    let held = Arc::new(());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    assert!(runtime.block_on(tail_runtime(held.clone())).is_err());
    assert_eq!((observed("tail_runtime").running, Arc::strong_count(&held)), (1, 2));
    drop(runtime);
    let seen = observed("tail_runtime");
    assert_eq!((seen.running, seen.by(ObservedFate::Stopped), Arc::strong_count(&held)), (0, 1, 1));
}

#[test]
fn the_catalogue_says_it_in_the_attributes_words() {
    #[resilient(timeout = "100ms", idempotent, observe = "2%/runs:4/cap:3s")]
    async fn tail_listed() -> Result<(), Error> {
        Ok(())
    }

    drop(tail_listed());
    let listed =
        watertight::catalogue().sites.into_iter().find(|it| it.identity.name == "tail_listed").expect("listed");
    assert_eq!(listed.to_string(), "timeout = \"100ms\", observe = \"2%/runs:4/cap:3s\", idempotent");
}

/// 97 of 100 about 40 ms, 3 about 350 ms, in milliseconds; the same in every run.
fn synthetic(calls: usize) -> Vec<f64> {
    let mut dice = fastrand::Rng::with_seed(7);
    let mut latency = || {
        let (median, spread) = if dice.f64() < 0.97 { (40.0, 0.6) } else { (350.0, 0.48) };
        let (one, two) = (dice.f64().max(1e-12), dice.f64());
        median * f64::exp(spread * (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos())
    };
    (0..calls).map(|_| latency()).collect()
}

#[resilient(timeout = "300ms", idempotent, observe = "2%")]
async fn tail_synthetic(latency: f64) -> Result<(), Error> {
    sleep(std::time::Duration::from_secs_f64(latency / 1e3)).await;
    Ok(())
}

#[resilient(timeout = "300ms", idempotent)]
async fn tail_synthetic_unobserved(latency: f64) -> Result<(), Error> {
    sleep(std::time::Duration::from_secs_f64(latency / 1e3)).await;
    Ok(())
}

/// The advice for one function, and the curve behind it.
fn known(name: &str) -> (watertight::advice::SiteAdvice, Curve) {
    let figures = site(name);
    let advice = watertight::advise().sites.into_iter().find(|it| it.identity.name == name).expect("called");
    (advice, Curve::observing(&figures.latency, &figures.cut_off, figures.observed.as_ref()))
}

#[tokio::test(start_paused = true)]
async fn two_in_a_hundred_are_enough_to_know_a_tail_that_the_timeout_hides() {
    let mut truth = synthetic(200_000);
    // The draws are the crate's own; this makes them the same in every run.
    fastrand::seed(11);
    for latency in &truth {
        let _ = tail_synthetic(*latency).await;
    }
    sleep(ms(4_000)).await;
    truth.sort_by(f64::total_cmp);
    let (advice, curve) = known("tail_synthetic");
    let figures = site("tail_synthetic").observed.expect("some ran on");
    println!("{advice}{} found no place", figures.by(ObservedFate::NoRoom));
    for (share, within) in [(0.99, 0.1), (0.999, 0.3)] {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let truth = truth[(share * 200_000.0) as usize];
        let estimate = curve.quantile(share).expect("it was observed");
        let [length, low] = [estimate.length, estimate.low].map(|it| it.as_secs_f64() * 1e3);
        let high = estimate.high.map_or(f64::INFINITY, |high| high.as_secs_f64() * 1e3);
        println!("p{}: {length:.0} ms ({low:.0} to {high:.0}), and {truth:.0} in truth", share * 100.0);
        assert!((length / truth - 1.0).abs() < within, "{length} for {truth}");
        assert!(low <= truth && truth <= high, "{low} to {high} holds {truth}");
    }
    assert!(matches!(advice.advised, Advised::Timeout(_)), "{advice}");
    assert!((3_000..5_000).contains(&advice.cut_off) && advice.observed > 50, "{advice}");
}

#[tokio::test(start_paused = true)]
async fn without_it_the_same_tail_is_said_to_be_unknown() {
    for latency in synthetic(20_000) {
        let _ = tail_synthetic_unobserved(latency).await;
    }
    let (advice, curve) = known("tail_synthetic_unobserved");
    assert_eq!((curve.quantile(0.99), curve.quantile(0.999)), (None, None), "nobody was watched beyond 300 ms");
    assert!(matches!(advice.advised, Advised::Unknown { running, .. } if (0.01..0.03).contains(&running)), "{advice}");
    assert!(advice.to_string().contains("nobody has seen how long"), "{advice}");
}
