//! B22. The timeout does not fire: the body never yields, or it is always ready and eats the cooperative budget so that
//! the timer is never polled; and a stuck worker goes on holding its thread.
//!
//! Real time and real threads, since blocking them is the subject.

use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Stopwatch, assert_free, assert_idle, assert_quiet, ms, site};

/// One of each flavour.
fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread(), Builder::new_multi_thread()]
        .map(|mut builder| builder.worker_threads(2).enable_time().build().expect("a runtime"))
}

#[resilient(timeout = "50ms", bulkhead = "b22_blocks:2")]
async fn b22_blocks(length: Duration) -> Result<u8, AppError> {
    #[allow(clippy::disallowed_methods)] // what this is about
    std::thread::sleep(length);
    Ok(7)
}

#[test]
fn a_a_body_that_blocks_its_thread_has_answered_and_is_counted_as_an_overrun() {
    for (number, runtime) in runtimes().into_iter().enumerate() {
        runtime.block_on(async {
            let clock = Stopwatch::start();
            assert_eq!(tokio::spawn(b22_blocks(ms(200))).await.unwrap().unwrap(), 7, "an answer is never thrown away");
            assert!(clock.read() >= ms(200), "and it cannot be had earlier");
            let figures = site("b22_blocks");
            let runs = number as u64 + 1;
            assert_eq!((figures.overruns, figures.ok, figures.timed_out), (runs, runs, 0));
            assert_eq!(figures.latency.count(), runs, "counted as slow too");
            assert!(figures.latency.percentile(100.0).unwrap() >= ms(190));
            assert_free!("b22_blocks", 2);
        });
    }
    assert_idle("b22_blocks");
}

#[resilient(timeout = "50ms", bulkhead = "b22_prompt:2")]
async fn b22_prompt() -> Result<(), AppError> {
    Ok(())
}

#[test]
fn a_a_body_that_is_in_time_is_no_overrun() {
    for runtime in runtimes() {
        runtime.block_on(b22_prompt()).unwrap();
    }
    assert_eq!((site("b22_prompt").ok, site("b22_prompt").overruns), (2, 0));
}

#[resilient(timeout = "100ms", bulkhead = "b22_eats:2")]
async fn b22_eats() -> Result<(), AppError> {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    loop {
        sender.send(()).expect("open");
        receiver.recv().await;
    }
}

#[test]
fn b_a_body_that_is_always_ready_and_eats_the_budget_still_times_out() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let clock = Stopwatch::start();
            let ended = tokio::time::timeout(Duration::from_secs(5), tokio::spawn(b22_eats())).await;
            let error = ended.expect("it ends").unwrap().unwrap_err();
            assert_eq!(error.kind(), Some(ErrorKind::TimedOut));
            let took = clock.read();
            assert!(took >= ms(100) && took < ms(600), "{took:?}");
            assert_free!("b22_eats", 2);
        });
    }
    assert_idle("b22_eats");
}

#[resilient(timeout = "100ms", bulkhead = "b22_hands_off:2")]
async fn b22_hands_off(until: mpsc::Receiver<()>) -> Result<(), AppError> {
    let blocking = tokio::task::spawn_blocking(move || until.recv());
    blocking.await.expect("no panic").map_err(|_| AppError::Broken("hung up"))
}

#[test]
fn c_work_handed_to_a_blocking_thread_times_out_and_frees_the_slot_while_the_thread_goes_on() {
    for runtime in runtimes() {
        let (release, until) = mpsc::channel();
        runtime.block_on(async {
            let clock = Stopwatch::start();
            assert_eq!(b22_hands_off(until).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
            let took = clock.read();
            assert!(took >= ms(100) && took < ms(600), "{took:?}");
            // The thread is still there, and the gauge says what is documented: the slot is the future's.
            assert_quiet("b22_hands_off", 2);
            release.send(()).expect("the thread still listens");
            assert_free!("b22_hands_off", 2);
        });
    }
    assert_eq!(site("b22_hands_off").timed_out, 2);
    assert_idle("b22_hands_off");
}
