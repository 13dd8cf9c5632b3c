//! `retry(backoff(..), max_duration = .., budget = "NAME:..")`: how long the pauses are, and what ends them.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::Instant;
use watertight::{ErrorKind, StopReason, resilient};
use watertight_tests::{AppError, ms, site};

const DOWN: AppError = AppError::Broken("down");

/// Notes when it is called, and fails.
fn note(calls: &Mutex<Vec<Instant>>) -> Result<(), AppError> {
    calls.lock().unwrap().push(Instant::now());
    Err(DOWN)
}

fn pauses(calls: &Mutex<Vec<Instant>>) -> Vec<u128> {
    calls.lock().unwrap().windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect()
}

macro_rules! paused {
    ($name:ident, $($keys:tt)*) => {
        #[resilient(retry(5, $($keys)*))]
        async fn $name(calls: &Mutex<Vec<Instant>>) -> Result<(), AppError> {
            note(calls)
        }
    };
}

paused!(pause_constant, backoff(constant, first = "100ms", jitter = none));
paused!(pause_linear, backoff(linear, first = "100ms", jitter = none));
paused!(pause_fibonacci, backoff(fibonacci, first = "100ms", jitter = none));
paused!(pause_exponential, backoff(exponential, first = "100ms", cap = "1s", factor = 3, jitter = none));
paused!(pause_long, backoff(constant, first = "10s", jitter = none));

#[tokio::test(start_paused = true)]
async fn each_curve_pauses_as_its_name_says() {
    macro_rules! seen {
        ($function:ident) => {{
            let calls = Mutex::default();
            $function(&calls).await.unwrap_err();
            pauses(&calls)
        }};
    }
    // Tokio's timers end on the next whole millisecond.
    let near = |seen: Vec<u128>, expected: [u128; 5]| {
        assert!(
            seen.len() == 5 && seen.iter().zip(expected).all(|(seen, it)| *seen >= it && *seen <= it + 1),
            "{seen:?}"
        );
    };
    near(seen!(pause_constant), [100; 5]);
    near(seen!(pause_linear), [100, 200, 300, 400, 500]);
    near(seen!(pause_fibonacci), [100, 200, 300, 500, 800]);
    near(seen!(pause_exponential), [100, 300, 900, 1_000, 1_000]);
    near(seen!(pause_long), [10_000; 5]);
}

paused!(pause_equal, backoff(exponential, first = "100ms", jitter = equal), budget = off);
paused!(pause_within, backoff(constant, first = "100ms", jitter = "20ms"), budget = off);
paused!(pause_decorrelated, backoff(decorrelated, first = "100ms", cap = "400ms"), budget = off);

#[tokio::test(start_paused = true)]
async fn jitter_stays_within_its_bounds() {
    for _ in 0..20 {
        let calls = Mutex::default();
        pause_equal(&calls).await.unwrap_err();
        for (pause, bound) in pauses(&calls).into_iter().zip([100, 200, 400, 800, 1_600]) {
            assert!(pause >= bound / 2 && pause <= bound + 1, "{pause} of {bound}");
        }
        let calls = Mutex::default();
        pause_within(&calls).await.unwrap_err();
        assert!(pauses(&calls).into_iter().all(|pause| (80..=121).contains(&pause)), "{:?}", pauses(&calls));
        let calls = Mutex::default();
        pause_decorrelated(&calls).await.unwrap_err();
        assert!(pauses(&calls).into_iter().all(|pause| (100..=401).contains(&pause)), "{:?}", pauses(&calls));
    }
}

#[resilient(retry(90, backoff(exponential, first = "100ms", cap = "900ms", jitter = none), max_duration = "1s"))]
async fn within_a_second(calls: &Mutex<Vec<Instant>>) -> Result<(), AppError> {
    note(calls)
}

#[tokio::test(start_paused = true)]
async fn no_pause_begins_that_ends_after_the_longest_duration() {
    let (calls, begun) = (Mutex::default(), Instant::now());
    let error = within_a_second(&calls).await.unwrap_err();
    assert_eq!(error.broken(), Some("down"), "the body's own error, not one about durations");
    assert_eq!(pauses(&calls).len(), 3, "100, 200 and 400 fit, 800 does not");
    assert!(begun.elapsed() < ms(750), "it gives up at once: {:?}", begun.elapsed());
    assert_eq!(site("within_a_second").stopped_for(StopReason::MaxDuration), 1);
}

#[resilient(
    bulkhead = "waits_count:1/queue:1/wait:10s",
    retry(90, backoff(constant, first = "10ms", jitter = none), max_duration = "1s", budget = off)
)]
async fn waits_count(length: Duration) -> Result<(), AppError> {
    tokio::time::sleep(length).await;
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn the_longest_duration_counts_from_the_first_attempts_wait_for_a_slot() {
    let first = waits_count(ms(2_000));
    let second = waits_count(ms(1));
    let (first, second) = futures::join!(first, second);
    assert_eq!((first.unwrap_err().broken(), second.unwrap_err().broken()), (Some("down"), Some("down")));
    let figures = site("waits_count");
    assert_eq!((figures.retries, figures.stopped_for(StopReason::MaxDuration)), (0, 2));
}

#[resilient(retry(3, backoff = "1ms..1ms", budget = "shared-budget:0%+0.3/s"))]
async fn budget_declared() -> Result<(), AppError> {
    Err(DOWN)
}

#[resilient(retry(3, backoff = "1ms..1ms", budget = "shared-budget"))]
async fn budget_joined() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn functions_that_name_one_budget_share_it() {
    budget_joined().await.unwrap_err();
    budget_declared().await.unwrap_err();
    let retries = [site("budget_joined").retries, site("budget_declared").retries];
    assert_eq!(retries, [3, 0], "three in ten seconds, for both together");
    assert_eq!(site("budget_declared").stopped_for(StopReason::Budget), 1);
}

#[resilient(retry(3, backoff = "1ms..1ms", budget = "torn-budget:50%+0.2/s"))]
async fn budget_torn() -> Result<(), AppError> {
    Err(DOWN)
}

#[resilient(retry(3, backoff = "1ms..1ms", budget = "torn-budget:0%+9/s"))]
async fn budget_torn_too() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn of_two_declarations_of_one_budget_the_stricter_holds_and_the_check_says_so() {
    budget_torn_too().await.unwrap_err();
    budget_torn().await.unwrap_err();
    assert_eq!(
        site("budget_torn_too").retries + site("budget_torn").retries,
        2,
        "nothing for calls, two in ten seconds"
    );
    let report = watertight::check();
    let finding = report.findings.iter().find(|finding| finding.name == "torn-budget").expect("found");
    assert_eq!((finding.strategy, finding.sites.len()), ("budget", 2));
    assert!(finding.remedy.contains("0% of the calls and 0.2 a second"), "{}", finding.remedy);
    assert!(finding.remedy.contains("budget = \"torn-budget\""), "{}", finding.remedy);
}

#[resilient(
    breaker(window = 4, failures = "75%", cooldown = "1s"),
    retry(20, on = [open], backoff(constant, first = "100ms", jitter = none))
)]
async fn waits_for_the_breaker(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[resilient(breaker(window = 4, failures = "75%", cooldown = "1s"), retry(20, backoff = "200ms..200ms"))]
async fn does_not_wait_for_the_breaker(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_is_waited_for_only_where_that_is_named() {
    for _ in 0..4 {
        assert_eq!(waits_for_the_breaker(false).await.unwrap_err().broken(), Some("down"));
    }
    let begun = Instant::now();
    waits_for_the_breaker(true).await.expect("the cooldown ends");
    assert!((ms(900)..=ms(1_120)).contains(&begun.elapsed()), "{:?}", begun.elapsed());

    does_not_wait_for_the_breaker(false).await.unwrap_err();
    let begun = Instant::now();
    let error = does_not_wait_for_the_breaker(true).await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::BreakerOpen));
    assert!(begun.elapsed() < ms(200));
}
