//! `fallback = last_good("60s")`: the most recent success, up to an age.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::advance;
use watertight::{Error, ErrorKind, FallbackUse, Fate, Refusal, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, ms, site};

const SECOND: Duration = Duration::from_secs(1);

#[resilient(timeout = "50ms", fallback = last_good("60s", shared))]
async fn last_good_rates(answer: Option<u32>) -> Result<u32, AppError> {
    match answer {
        Some(rate) => Ok(rate),
        None => std::future::pending().await,
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_answered_with_the_most_recent_success_up_to_its_age() {
    let error = last_good_rates(None).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::TimedOut), "nothing is kept yet, so the call's own error surfaces");
    assert_eq!(last_good_rates(Some(1)).await.unwrap(), 1);
    advance(SECOND).await;
    assert_eq!(last_good_rates(Some(2)).await.unwrap(), 2);
    advance(40 * SECOND).await;
    let clock = Stopwatch::start();
    assert_eq!(last_good_rates(None).await.unwrap(), 2);
    clock.assert_reads(ms(50));
    advance(20 * SECOND).await;
    assert!(last_good_rates(None).await.is_err(), "older than a minute");
    let figures = site("last_good_rates");
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::LastGood), 1);
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::Failed), 2);
    assert_eq!(
        (figures.last_good_age.count(), figures.fallback_used, figures.fallback_failed, figures.calls),
        (1, 1, 2, 5)
    );
    let age = figures.last_good_age.percentile(50.0).unwrap();
    assert!(age.abs_diff(40 * SECOND) < 2 * SECOND, "as fine as a histogram's bands are: {age:?}");
    assert_eq!(FallbackUse::LastGood.as_str(), "last_good");
}

#[resilient(bulkhead = "last_good_full:1", retry = 1, fallback = last_good("1h", shared))]
async fn last_good_full(gate: Option<Arc<Gate>>) -> Result<&'static str, Error> {
    if let Some(gate) = gate {
        gate.opened().await;
    }
    Ok("kept")
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_answered_too_and_is_no_success_to_be_kept() {
    assert_eq!(last_good_full(None).await.unwrap(), "kept");
    let gate = Arc::new(Gate::shut());
    let mut holder = Box::pin(last_good_full(Some(Arc::clone(&gate))));
    assert!(futures::poll!(&mut holder).is_pending());
    advance(30 * SECOND).await;
    assert_eq!(last_good_full(None).await.unwrap(), "kept");
    advance(30 * SECOND).await;
    assert_eq!(last_good_full(None).await.unwrap(), "kept");
    let figures = site("last_good_full");
    assert_eq!(figures.fate_with(Fate::Refused(Refusal::Full), FallbackUse::LastGood), 2);
    let oldest = figures.last_good_age.percentile(100.0).unwrap();
    assert!(
        oldest.abs_diff(60 * SECOND) < 3 * SECOND,
        "an answer that was served does not become young again: {oldest:?}"
    );
    gate.open();
    holder.await.unwrap();
}

#[resilient(retry(2, backoff = "1ms..1ms", budget = off), fallback = last_good("60s", shared))]
async fn last_good_retried(good: bool) -> Result<u32, AppError> {
    if good { Ok(7) } else { Err(AppError::Broken("down")) }
}

#[tokio::test(start_paused = true)]
async fn the_bodys_own_error_comes_back_untouched_where_nothing_is_kept() {
    assert_eq!(last_good_retried(false).await.unwrap_err().broken(), Some("down"));
    assert_eq!(last_good_retried(true).await.unwrap(), 7);
    assert_eq!(last_good_retried(false).await.unwrap(), 7);
    assert_eq!(site("last_good_retried").attempts(), 7, "asked once per call, after the attempts");
}

#[resilient(timeout = "10ms", fallback = last_good("60s", shared))]
async fn last_good_generic<T: Clone + Send + Sync + 'static>(answer: Option<T>) -> Result<T, Error> {
    match answer {
        Some(answer) => Ok(answer),
        None => std::future::pending().await,
    }
}

#[tokio::test(start_paused = true)]
async fn each_type_of_a_generic_function_is_kept_for_itself() {
    assert_eq!(last_good_generic(Some(1_u8)).await.unwrap(), 1);
    assert!(last_good_generic::<u16>(None).await.is_err());
    assert_eq!(last_good_generic::<u8>(None).await.unwrap(), 1);
}

struct Client;

impl Client {
    #[resilient(timeout = "10ms", fallback = last_good("60s", shared))]
    async fn last_good_method(&self, answer: Option<String>) -> Result<String, Error> {
        match answer {
            Some(answer) => Ok(answer),
            None => std::future::pending().await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_method_keeps_one_for_all_instances_and_its_future_can_be_spawned() {
    Client.last_good_method(Some("here".to_owned())).await.unwrap();
    let spawned = tokio::spawn(async { Client.last_good_method(None).await });
    assert_eq!(spawned.await.unwrap().unwrap(), "here");
}

#[resilient(isolate = "last_good_thread:1", timeout = "1s", retry(1, budget = off), fallback = last_good("60s", shared))]
async fn last_good_isolated(good: bool) -> Result<u32, AppError> {
    if good { Ok(3) } else { Err(AppError::Broken("down")) }
}

#[tokio::test]
async fn what_runs_on_threads_of_its_own_is_kept_as_well() {
    assert_eq!(last_good_isolated(true).await.unwrap(), 3);
    assert_eq!(last_good_isolated(false).await.unwrap(), 3);
    assert_eq!(site("last_good_isolated").last_good_age.count(), 1);
}

#[resilient(timeout = "50ms", fallback = last_good("60s"), key = tenant)]
async fn last_good_keyed(tenant: u32, answer: Option<&'static str>) -> Result<&'static str, AppError> {
    let _ = tenant;
    match answer {
        Some(answer) => Ok(answer),
        None => std::future::pending().await,
    }
}

#[tokio::test(start_paused = true)]
async fn each_key_is_answered_with_its_own_success_and_with_nobody_elses() {
    assert_eq!(last_good_keyed(1, Some("one")).await.unwrap(), "one");
    advance(30 * SECOND).await;
    assert_eq!(last_good_keyed(2, Some("two")).await.unwrap(), "two");
    assert_eq!(last_good_keyed(1, None).await.unwrap(), "one");
    assert_eq!(last_good_keyed(2, None).await.unwrap(), "two");
    assert_eq!(last_good_keyed(3, None).await.unwrap_err().kind(), Some(ErrorKind::TimedOut), "it had none");
    advance(30 * SECOND).await;
    assert!(last_good_keyed(1, None).await.is_err(), "older than a minute");
    assert_eq!(last_good_keyed(2, None).await.unwrap(), "two");
    let figures = site("last_good_keyed");
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::LastGood), 3);
    assert_eq!(figures.fate_with(Fate::TimedOut, FallbackUse::Failed), 2);
}

#[resilient(timeout = "50ms", fallback = last_good("1h"), key = key)]
async fn last_good_crowd(key: u32, well: bool) -> Result<Arc<u32>, AppError> {
    if well { Ok(Arc::new(key)) } else { Err(AppError::Broken("down")) }
}

#[tokio::test(start_paused = true)]
async fn however_many_keys_there_are_only_the_latest_thousands_are_kept() {
    let mut answers = Vec::new();
    for key in 0..20_000 {
        answers.push(last_good_crowd(key, true).await.unwrap());
    }
    let kept = answers.iter().filter(|answer| Arc::strong_count(answer) > 1).count();
    assert_eq!(kept, 4_096);
    assert_eq!(*last_good_crowd(19_999, false).await.unwrap(), 19_999);
    assert_eq!(last_good_crowd(0, false).await.unwrap_err().broken(), Some("down"));
}

struct Shelves;

impl Shelves {
    #[resilient(
        bulkhead = "last_good_all:1/queue:1",
        hedge = "10ms",
        idempotent,
        retry(1, budget = off, backoff = "1ms..1ms"),
        fallback = last_good("60s"),
        key = (tenant, &page)
    )]
    async fn last_good_all(&self, tenant: &str, page: String, well: bool) -> Result<String, AppError> {
        if well { Ok(format!("{tenant} {page}")) } else { Err(AppError::Broken("down")) }
    }

    #[resilient(timeout = "50ms", bulkhead = "last_good_both:9", fallback = last_good("60s", shared), key = tenant)]
    async fn last_good_both(&self, tenant: u32, well: bool) -> Result<u32, AppError> {
        if well { Ok(tenant) } else { Err(AppError::Broken("down")) }
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_serves_everything_that_is_kept_by_key_unless_the_answer_is_for_all() {
    for page in ["a", "b"] {
        Shelves.last_good_all("acme", page.to_owned(), true).await.unwrap();
    }
    assert_eq!(Shelves.last_good_all("acme", "a".to_owned(), false).await.unwrap(), "acme a");
    assert!(Shelves.last_good_all("other", "a".to_owned(), false).await.is_err());
    assert_eq!(Shelves.last_good_both(1, true).await.unwrap(), 1);
    assert_eq!(Shelves.last_good_both(2, false).await.unwrap(), 1, "shared, as it says");
}
