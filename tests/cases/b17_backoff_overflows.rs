//! B17. Exponential delay overflowed: retries without a pause, pauses without an end, jitter beyond the cap.
//!
//! The arithmetic has tests of its own beside the code; here whole calls are timed on a paused clock. The attribute
//! allows a hundred attempts after the first, so calls are repeated until there are two thousand pauses.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use watertight::resilient;
use watertight_tests::{AppError, Stopwatch, assert_idle, ms};

/// When each attempt began.
type Times = Arc<Mutex<Vec<Duration>>>;

fn fail(clock: Stopwatch, times: &Times) -> Result<(), AppError> {
    times.lock().unwrap().push(clock.read());
    Err(AppError::Broken("always"))
}

/// The pauses between the attempts of one call, checked against the cap; timers may be a millisecond late.
fn pauses(times: &Times, cap: Duration) -> Vec<Duration> {
    let times = times.lock().unwrap();
    assert_eq!(times.len(), 101, "every attempt was made");
    let pauses: Vec<_> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    for (retry, pause) in pauses.iter().enumerate() {
        assert!(*pause <= cap + ms(2), "pause {retry} is {pause:?}, above the cap of {cap:?}");
    }
    pauses
}

macro_rules! a_hundred_retries {
    ($function:ident, $backoff:tt) => {
        #[resilient(retry(100, backoff = $backoff, budget = off))]
        async fn $function(clock: Stopwatch, times: &Times) -> Result<(), AppError> {
            fail(clock, times)
        }
    };
}

a_hundred_retries!(b17, "2s..30s");

#[tokio::test(start_paused = true)]
async fn two_thousand_pauses_lie_under_the_cap_and_do_not_collapse() {
    let mut late = Vec::new();
    for _ in 0..20 {
        let (clock, times) = (Stopwatch::start(), Times::default());
        b17(clock, &times).await.unwrap_err();
        let pauses = pauses(&times, ms(30_000));
        assert!(pauses[0] <= ms(2_002), "the first lies below the first bound: {:?}", pauses[0]);
        assert!(clock.read() <= 100 * ms(30_002));
        late.extend_from_slice(&pauses[64..]);
    }
    // Drawn evenly up to 30 s: the mean of 720 is 15 s, give or take a third of a second.
    let mean = late.iter().sum::<Duration>() / u32::try_from(late.len()).unwrap();
    assert!(mean > ms(12_000) && mean < ms(18_000), "after the 64th attempt the pauses are {mean:?} on average");
    assert_idle("b17");
}

a_hundred_retries!(b17_tiny, "1ns..30s");
a_hundred_retries!(b17_level, "2s..2s");
a_hundred_retries!(b17_vast, "1h..262800h");

#[tokio::test(start_paused = true)]
async fn a_nanosecond_doubles_up_to_the_cap_and_stays_there() {
    let (clock, times) = (Stopwatch::start(), Times::default());
    b17_tiny(clock, &times).await.unwrap_err();
    let pauses = pauses(&times, ms(30_000));
    assert!(pauses[10] <= ms(2), "a microsecond by then: {:?}", pauses[10]);
    assert!(pauses[64..].iter().any(|pause| *pause > ms(1_000)));
    assert_idle("b17_tiny");
}

#[tokio::test(start_paused = true)]
async fn first_pause_and_cap_may_be_equal() {
    let (clock, times) = (Stopwatch::start(), Times::default());
    b17_level(clock, &times).await.unwrap_err();
    assert!(pauses(&times, ms(2_000)).iter().any(|pause| *pause > ms(200)));
    assert_idle("b17_level");
}

#[tokio::test(start_paused = true)]
async fn pauses_of_years_neither_overflow_nor_panic() {
    let (clock, times) = (Stopwatch::start(), Times::default());
    // Bounded by an outer hand, as thirty years each are more than any clock here can hold.
    let ended = tokio::time::timeout(Duration::from_hours(24), b17_vast(clock, &times)).await;
    assert!(ended.is_err(), "pauses of an hour and more do not end within a day");
    let times = times.lock().unwrap();
    assert!((2..=24).contains(&times.len()), "{} attempts within a day", times.len());
    assert_idle("b17_vast");
}
