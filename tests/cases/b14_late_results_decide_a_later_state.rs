//! B14. Results of slow calls begun while closed arrived in the open or half-open state and decided it, or stamped the
//! opening anew so that the cooldown never ended.

use futures::future::join_all;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, assert_free, assert_idle, breaker, ms};

/// Takes so long, and then answers or errs.
async fn answer(millis: u64, well: bool) -> Result<(), AppError> {
    sleep(ms(millis)).await;
    if well { Ok(()) } else { Err(AppError::Broken("down")) }
}

macro_rules! old_calls_end_while_half_open {
    ($test:ident, $function:ident, $name:tt, $declared:tt, $old_end_well:tt) => {
        #[resilient(
                    bulkhead = $declared,
                    breaker(name = $name, window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
                )]
        async fn $function(millis: u64, well: bool) -> Result<(), AppError> {
            answer(millis, well).await
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let clock = Stopwatch::start();
            let old: Vec<_> = (0..3).map(|_| tokio::spawn($function(3_000, $old_end_well))).collect();
            tokio::task::yield_now().await;
            join_all((0..5).map(|_| $function(0, false))).await;
            assert_eq!(breaker($name).state, BreakerState::Open);
            advance(ms(2_500)).await;
            let probe = tokio::spawn($function(2_000, true));
            tokio::task::yield_now().await;
            assert_eq!(breaker($name).state, BreakerState::HalfOpen);
            for call in old {
                assert_eq!(call.await.unwrap().is_ok(), $old_end_well);
            }
            clock.assert_reads(ms(3_000));
            let now = breaker($name);
            assert_eq!((now.state, now.opened, now.closed), (BreakerState::HalfOpen, 1, 0), "nothing was decided");
            assert_eq!($function(0, true).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
            probe.await.unwrap().unwrap();
            clock.assert_reads(ms(4_500));
            let end = breaker($name);
            assert_eq!((end.state, end.opened, end.half_opened, end.closed), (BreakerState::Closed, 1, 1, 1));
            assert_eq!((end.failures, end.calls), (0, 0), "and nothing is carried over");
            assert_idle(stringify!($function));
            assert_free!($name, 10);
        }
    };
}

old_calls_end_while_half_open!(old_successes_do_not_close_it, b14_ok, "b14_ok", "b14_ok:10", true);
old_calls_end_while_half_open!(old_failures_do_not_open_it_again, b14_err, "b14_err", "b14_err:10", false);

#[resilient(
    bulkhead = "b14_drip:20",
    breaker(name = "b14_drip", window = 5, min_calls = 5, failures = "100%", cooldown = "1s", probes = 1)
)]
async fn b14_drip(millis: u64, well: bool) -> Result<(), AppError> {
    answer(millis, well).await
}

#[tokio::test(start_paused = true)]
async fn failures_that_drip_in_while_open_do_not_prolong_the_cooldown() {
    let old: Vec<_> = (1..=8).map(|n| tokio::spawn(b14_drip(200 * n, false))).collect();
    tokio::task::yield_now().await;
    join_all((0..5).map(|_| b14_drip(0, false))).await;
    let clock = Stopwatch::start();
    while clock.read() < ms(1_000) {
        sleep(ms(100)).await;
    }
    assert_eq!(breaker("b14_drip").opened, 1);
    b14_drip(0, true).await.expect("the cooldown ended a second after the opening");
    assert_eq!(breaker("b14_drip").state, BreakerState::Closed);
    for call in old {
        call.await.unwrap().unwrap_err();
    }
    let end = breaker("b14_drip");
    assert_eq!((end.state, end.opened, end.failures), (BreakerState::Closed, 1, 0));
    assert_idle("b14_drip");
    assert_free!("b14_drip", 20);
}
