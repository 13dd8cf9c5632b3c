//! Each key that can be set, through the attribute it changes.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::Instant;
use watertight::testing::World;
use watertight::{Error, ErrorKind, resilient, settings};
use watertight_tests::{AppError, bulkhead, ms};

use crate::load;

#[resilient(timeout = "300ms")]
async fn keys_timeout() -> Result<(), Error> {
    std::future::pending().await
}

#[resilient(deadline = "2s")]
async fn keys_deadline() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn lengths_of_time_are_those_of_the_file() {
    let _world = World::open();
    load("lengths", "[site.keys_timeout]\ntimeout = \"50ms\"\n[site.keys_deadline]\ndeadline = \"80ms\"\n").unwrap();
    let began = Instant::now();
    assert_eq!(keys_timeout().await.unwrap_err().to_string(), "keys_timeout: timed out after 50ms (timeout)");
    assert!((50..=52).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    assert_eq!(keys_deadline().await.unwrap_err().kind(), ErrorKind::Deadline);
    assert!((130..=134).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
}

#[resilient(bulkhead = "keys_added:1")]
async fn keys_added() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_limit_in_time_can_be_added_where_there_is_a_place_for_refusals() {
    let _world = World::open();
    load("added", "[site.keys_added]\ntimeout = \"50ms\"\n").unwrap();
    assert_eq!(keys_added().await.unwrap_err().kind(), ErrorKind::TimedOut);
}

#[resilient(retry(5, backoff(constant, first = "1s", jitter = none), on = any, budget = off), idempotent)]
async fn keys_retry(runs: &AtomicU32) -> Result<(), AppError> {
    runs.fetch_add(1, Ordering::SeqCst);
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn retries_are_fewer_or_more_and_their_pauses_others() {
    let _world = World::open();
    let runs = AtomicU32::new(0);
    load("retries", "[site.keys_retry]\nretry = { max = 2, backoff = \"100ms..100ms\" }\n").unwrap();
    let began = Instant::now();
    keys_retry(&runs).await.unwrap_err();
    assert_eq!(runs.swap(0, Ordering::SeqCst), 3);
    assert!((200..=204).contains(&began.elapsed().as_millis()), "two pauses of 100 ms: {:?}", began.elapsed());
    load("retries", "[site.keys_retry.retry]\nmax = 7\nmax_duration = \"3500ms\"\n").unwrap();
    keys_retry(&runs).await.unwrap_err();
    assert_eq!(runs.swap(0, Ordering::SeqCst), 4, "after 0, 1, 2 and 3 seconds");
}

#[resilient(bulkhead = "keys_slots:1", timeout = "1s")]
async fn keys_slots() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_figures_of_a_name_are_those_of_the_file_as_a_string_or_as_a_table() {
    let _world = World::open();
    for text in ["[bulkhead]\nkeys_slots = \"3/queue:2\"\n", "[bulkhead.keys_slots]\nslots = 3\nqueue = 2\n"] {
        load("slots", text).unwrap();
        let figures = bulkhead("keys_slots");
        assert_eq!((figures.slots, figures.queue), (3, 2), "{text}");
    }
    let calls: Vec<_> = (0..6).map(|_| tokio::spawn(keys_slots())).collect();
    let mut refused = 0;
    for call in calls {
        refused += u32::from(call.await.unwrap().unwrap_err().kind() == ErrorKind::BulkheadFull);
    }
    assert_eq!(refused, 1);
    load("slots", "").unwrap();
    assert_eq!((bulkhead("keys_slots").slots, bulkhead("keys_slots").queue), (1, 0), "what is written again");
}

#[resilient(breaker(name = "keys_breaker", window = 10, min_calls = 10))]
async fn keys_breaker() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[resilient(breaker(window = 10, min_calls = 10))]
async fn keys_own_breaker() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn a_breaker_goes_by_the_rules_of_its_name_or_of_its_function() {
    let _world = World::open();
    let text = "[breaker.keys_breaker]\nwindow = 2\n[site.keys_own_breaker.breaker]\nwindow = 3\n";
    load("breakers", text).unwrap();
    for _ in 0..2 {
        assert!(keys_breaker().await.unwrap_err().broken().is_some());
    }
    assert!(keys_breaker().await.unwrap_err().broken().is_none(), "open after two");
    for _ in 0..3 {
        assert!(keys_own_breaker().await.unwrap_err().broken().is_some());
    }
    assert!(keys_own_breaker().await.unwrap_err().broken().is_none(), "open after three");
}

#[resilient(rate = "keys_rate:1/s")]
async fn keys_rate() -> Result<(), Error> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rate_is_that_of_the_file() {
    let _world = World::open();
    load("rates", "[rate]\nkeys_rate = \"3/s\"\n").unwrap();
    for _ in 0..3 {
        keys_rate().await.unwrap();
    }
    assert_eq!(keys_rate().await.unwrap_err().kind(), ErrorKind::RateLimited);
}

#[resilient(bulkhead = "keys_wait:1/queue:4/wait:10s", timeout = "60s")]
async fn keys_wait() -> Result<(), Error> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_the_functions_and_follows_its_timeout_where_it_has_none_of_its_own() {
    let _world = World::open();
    load("waits", "[site.keys_wait.bulkhead]\nwait = \"70ms\"\n").unwrap();
    let _holder = tokio::spawn(keys_wait());
    tokio::task::yield_now().await;
    let began = Instant::now();
    assert_eq!(keys_wait().await.unwrap_err().kind(), ErrorKind::BulkheadWait);
    assert!((70..=72).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    assert_eq!(settings::in_force().iter().filter(|site| site.is_set()).count(), 1);
}

#[resilient(hedge = "10s", idempotent, timeout = "30s")]
async fn keys_hedge(runs: &AtomicU32) -> Result<u32, Error> {
    let run = runs.fetch_add(1, Ordering::SeqCst);
    if run == 0 { std::future::pending().await } else { Ok(run) }
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_comes_when_the_file_says() {
    let _world = World::open();
    load("hedges", "[site.keys_hedge]\nhedge = \"40ms\"\n").unwrap();
    let (runs, began) = (AtomicU32::new(0), Instant::now());
    assert_eq!(keys_hedge(&runs).await.unwrap(), 1);
    assert!(began.elapsed() < ms(50), "{:?}", began.elapsed());
}
