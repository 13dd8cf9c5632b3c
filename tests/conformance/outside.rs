//! Rows of other sections that need settings from outside the code.
//!
//! Invariants: each has a world, and so settings, of its own.

use std::sync::Arc;

use tokio::time::sleep;
use watertight::guard::{Backoff, Budget, Retry};
use watertight::settings::in_force;
use watertight::testing::World;
use watertight::{ErrorKind, Guard, resilient};
use watertight_tests::{AppError, Stopwatch, breaker, bulkhead, ms, occupancy, site};

use crate::held::{Post, assert_slots};
use crate::letters::{Service, letters};
use crate::support::{Runs, TEST, set, settle, try_set};

#[resilient(timeout = "1s")]
async fn to_17() -> Result<(), AppError> {
    sleep(ms(500)).await;
    Ok(())
}

async fn cut_at_two_hundred(id: &str, text: &str) {
    let _world = World::open();
    set(id, text, &[]);
    let clock = Stopwatch::start();
    assert_eq!(to_17().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(200));
}

pub(crate) async fn a_timeout_for_all() {
    cut_at_two_hundred("TO-17", "[defaults]\ntimeout = \"200ms\"\n").await;
}

pub(crate) async fn a_timeout_for_the_function() {
    cut_at_two_hundred("TO-18", "[site.to_17]\ntimeout = \"200ms\"\n").await;
}

#[resilient(bulkhead = "bh-23:3")]
async fn bh_23(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

#[resilient(bulkhead = "bh-24:5")]
async fn bh_24(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

#[resilient(bulkhead = "bh-25:1/queue:5/wait:1m")]
async fn bh_25(post: Arc<Post>) -> Result<(), AppError> {
    post.stay().await
}

pub(crate) async fn five_slots() {
    let _world = World::open();
    set("BH-23", "[bulkhead.bh-23]\nslots = 5\n", &[]);
    assert_slots(|post| Box::pin(bh_23(post)), 5).await;
}

pub(crate) async fn one_slot() {
    let _world = World::open();
    set("BH-24", "", &[("WATERTIGHT_BULKHEAD__BH_24__SLOTS", "1")]);
    assert_slots(|post| Box::pin(bh_24(post)), 1).await;
}

pub(crate) async fn a_queue_of_one() {
    let _world = World::open();
    set("BH-25", "[bulkhead.bh-25]\nqueue = 1\n", &[]);
    let post = Arc::new(Post::default());
    let first = tokio::spawn(bh_25(Arc::clone(&post)));
    let second = tokio::spawn(bh_25(Arc::clone(&post)));
    settle().await;
    assert_eq!(occupancy("bh-25"), (1, 1));
    assert_eq!(bh_25(Arc::clone(&post)).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    first.abort();
    second.abort();
}

macro_rules! breakers {
    ($($function:ident [$($breaker:tt)*])*) => {
        $(#[resilient(breaker($($breaker)*))]
        async fn $function(service: &Service) -> Result<(), AppError> {
            service.serve()
        })*
    };
}

breakers! {
    cb_12 [window = 4, failures = "75%", min_calls = 4, probes = 1, cooldown = "1s"]
    cb_13 [window = 4, failures = "75%", min_calls = 4, probes = 1, cooldown = "1s"]
    cb_16 [window = 2, failures = "50%", min_calls = 2, cooldown = "20us"]
    cb_17 [window = 2, failures = "100%"]
    cb_18 [window = 10, failures = "100%", min_calls = 10, cooldown = "50s"]
    cb_19 [window = 10, failures = "100%", min_calls = 10, probes = 4, cooldown = "1s"]
}

pub(crate) async fn a_cooldown_for_all() {
    let _world = World::open();
    set("CB-12", "[defaults.breaker]\ncooldown = \"200ms\"\n", &[]);
    let service = Service::well_at(&[5]);
    assert_eq!(letters(5, async || cb_12(&service).await).await, "TTTTO");
    sleep(ms(500)).await;
    assert_eq!(letters(6, async || cb_12(&service).await).await, "kTTTTO");
}

pub(crate) async fn a_cooldown_for_the_function() {
    let _world = World::open();
    set("CB-13", "[site.cb_13.breaker]\ncooldown = \"200ms\"\n", &[]);
    let service = Service::well_at(&[5]);
    assert_eq!(letters(5, async || cb_13(&service).await).await, "TTTTO");
    sleep(ms(500)).await;
    assert_eq!(letters(6, async || cb_13(&service).await).await, "kTTTTO");
}

pub(crate) async fn a_longer_cooldown() {
    let _world = World::open();
    set("CB-16", "[site.cb_16.breaker]\ncooldown = \"1000ms\"\n", &[]);
    let service = Service::well_after(2);
    assert_eq!(letters(3, async || cb_16(&service).await).await, "TTO");
    let clock = Stopwatch::start();
    while cb_16(&service).await.is_err() {
        sleep(ms(10)).await;
    }
    assert!((ms(800)..ms(2_000)).contains(&clock.read()), "{:?}", clock.read());
}

pub(crate) async fn a_larger_window() {
    let _world = World::open();
    set("CB-17", "[site.cb_17.breaker]\nwindow = 4\nmin_calls = 4\n", &[]);
    let service = Service::down();
    assert_eq!(letters(5, async || cb_17(&service).await).await, "TTTTO");
}

pub(crate) async fn a_smaller_share() {
    let _world = World::open();
    set("CB-18", "[site.cb_18.breaker]\nfailures = \"80%\"\n", &[]);
    let service = Service::well_at(&[3, 7]);
    assert_eq!(letters(11, async || cb_18(&service).await).await, "TTkTTTkTTTO");
}

pub(crate) async fn fewer_probes() {
    let _world = World::open();
    set("CB-19", "[site.cb_19.breaker]\nprobes = 2\n", &[]);
    let service = Service::well_at(&[11, 12, 23]);
    assert_eq!(letters(11, async || cb_19(&service).await).await, "TTTTTTTTTTO");
    sleep(ms(1_000)).await;
    assert_eq!(
        letters(13, async || cb_19(&service).await).await,
        "kkTTTTTTTTTTO",
        "closed after two, and a whole window"
    );
    sleep(ms(1_000)).await;
    assert_eq!(letters(3, async || cb_19(&service).await).await, "kTO");
    assert_eq!(breaker("cb_19").opened, 3);
}

macro_rules! limited {
    ($($function:ident $rate:literal)*) => {
        $(#[resilient(rate = $rate)]
        async fn $function() -> Result<(), AppError> {
            Ok(())
        })*
    };
}

limited! { rl_21 "100/s" rl_21_window "3/h" }

pub(crate) async fn a_rate_from_outside() {
    let _world = World::open();
    set("RL-21", "[site.rl_21]\nrate = \"3/s\"\n[site.rl_21_window]\nrate = \"3/100ms\"\n", &[]);
    for _ in 0..3 {
        rl_21().await.unwrap();
    }
    assert_eq!(rl_21().await.unwrap_err().kind(), Some(ErrorKind::RateLimited));
    for _ in 0..3 {
        rl_21_window().await.unwrap();
    }
    sleep(ms(500)).await;
    rl_21_window().await.unwrap();
}

#[resilient(retry(1, on = any, budget = off), idempotent)]
async fn sx_41_one(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    Err(TEST)
}

#[resilient(retry(2, on = any, budget = off), idempotent)]
async fn sx_41_two(runs: &Runs) -> Result<(), AppError> {
    runs.next();
    Err(TEST)
}

pub(crate) async fn what_is_in_force_can_be_read() {
    let _world = World::open();
    set("SX-41", "[defaults.retry]\nbackoff = \"10ms..10ms\"\n", &[]);
    let all = in_force();
    for (name, max) in [("sx_41_one", "1"), ("sx_41_two", "2")] {
        let site = all.iter().find(|site| site.identity.name == name).expect("listed");
        let figure = |key| site.figure(key).map(|it| (it.value.as_str(), it.origin.as_str()));
        assert_eq!(figure("retry"), Some((max, "code")));
        assert_eq!(figure("retry.backoff"), Some(("\"10ms..10ms\"", "file")));
    }
    let runs = Runs::default();
    sx_41_one(&runs).await.unwrap_err();
    sx_41_two(&runs).await.unwrap_err();
    assert_eq!(runs.count(), 5);
}

pub(crate) async fn killed_a_guard_still_falls_back() {
    let _world = World::open();
    let retry = Retry::new(3).backoff(Backoff::between(ms(1), ms(1))).budget(Budget::off());
    let guard = Guard::named("sx-43").retry(retry).build().expect("no mistakes");
    set("SX-43", "kill_switch = true\n", &[]);
    let runs = Runs::default();
    let body = || {
        runs.next();
        async { Err::<&str, AppError>(TEST) }
    };
    assert_eq!(guard.run_or_else(body, |_| "fallback").await, "fallback");
    assert_eq!(runs.count(), 1);
}

#[resilient(timeout = "1s")]
async fn k_4() -> Result<(), AppError> {
    std::future::pending().await
}

pub(crate) async fn a_change_holds_for_the_next_call() {
    let _world = World::open();
    for (text, limit) in
        [("", 1_000), ("[site.k_4]\ntimeout = \"200ms\"\n", 200), ("[site.k_4]\ntimeout = \"3s\"\n", 3_000)]
    {
        set("K4", text, &[]);
        let clock = Stopwatch::start();
        k_4().await.unwrap_err();
        clock.assert_reads(ms(limit));
    }
}

pub(crate) async fn a_key_for_nothing() {
    let _world = World::open();
    set("K5", "[defaults]\ndeadline = \"100ms\"\n[module.\"conformance::outside\".bulkhead]\nwait = \"1ms\"\n", &[]);
    let clock = Stopwatch::start();
    assert_eq!(k_4().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(1_000));
    let mistakes = try_set("K5", "[site.k_4]\nretry = 3\n", &[]).unwrap_err().to_string();
    assert!(mistakes.contains("has no `retry`; add `retry` to its attribute first"), "{mistakes}");
}

pub(crate) async fn whatever_is_wrong_is_told_and_changes_nothing() {
    let _world = World::open();
    set("K6", "[site.k_4]\ntimeout = \"200ms\"\n", &[]);
    let wrong = [
        "timeout = -1",
        "timeout = \"-1s\"",
        "timeout = \"0s\"",
        "timeout = \"whatever\"",
        "timeout.enabled = \"whatever\"",
        "timeuot = \"1s\"",
        "timeout = [1]",
    ];
    for line in wrong {
        let mistakes = try_set("K6", &format!("[site.k_4]\n{line}\n"), &[]).expect_err(line);
        assert!(mistakes.to_string().contains("conformance-K6.toml:2: "), "{mistakes}");
    }
    let clock = Stopwatch::start();
    k_4().await.unwrap_err();
    clock.assert_reads(ms(200));
}

#[resilient(bulkhead = "k-7:1")]
async fn k_7() -> Result<(), AppError> {
    Ok(())
}

pub(crate) async fn counts_go_on() {
    let _world = World::open();
    k_7().await.unwrap();
    set("K7", "[site.k_7.bulkhead]\nenabled = false\n", &[]);
    k_7().await.unwrap();
    assert_eq!((site("k_7").ok, bulkhead("k-7").slots), (2, 1));
}
