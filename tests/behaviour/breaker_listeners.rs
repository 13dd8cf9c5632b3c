//! `breaker::on_change`: being told of every change of state, in order, with its reason.

use std::sync::{Arc, Mutex};

use tokio::time::advance;
use watertight::breaker::{self, Cause, Change, State};
use watertight::resilient;
use watertight_tests::{AppError, ms};

const DOWN: AppError = AppError::Broken("down");

fn listening(name: &str) -> Arc<Mutex<Vec<Change>>> {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = heard.clone();
    breaker::on_change(name, move |change| notes.lock().unwrap().push(*change));
    heard
}

#[resilient(breaker(name = "listened", window = 4, cooldown = "1s"))]
async fn listened(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn a_listener_hears_each_change_with_the_figures_that_caused_it() {
    let heard = listening("listened");
    for well in [true, true, false, false] {
        let _ = listened(well).await;
    }
    advance(ms(1_000)).await;
    listened(false).await.unwrap_err();
    advance(ms(1_000)).await;
    listened(true).await.unwrap();
    breaker::isolate("listened");
    breaker::reset("listened");
    let heard = heard.lock().unwrap();
    assert!(heard.windows(2).all(|pair| pair[0].to == pair[1].from), "{heard:?}");
    let causes: Vec<_> = heard.iter().map(|change| change.cause).collect();
    assert_eq!(
        causes,
        [
            Cause::Failures,
            Cause::CooldownOver,
            Cause::ProbeFailed,
            Cause::CooldownOver,
            Cause::ProbesSucceeded,
            Cause::ByHand,
            Cause::ByHand,
        ]
    );
    assert_eq!((heard[0].calls, heard[0].failures, heard[0].slow), (4, 2, 0));
    assert_eq!((heard[0].from, heard[0].to), (State::Closed, State::Open));
}

#[resilient(breaker(name = "listened_by_a_panic", window = 1))]
async fn listened_by_a_panic() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_panic_in_a_listener_reaches_no_caller() {
    breaker::on_change("listened_by_a_panic", |_| panic!("the listener's"));
    let heard = listening("listened_by_a_panic");
    let error = listened_by_a_panic().await.unwrap_err();
    assert_eq!(error.broken(), Some("down"));
    assert_eq!(heard.lock().unwrap().len(), 1, "and the next listener is told all the same");
}

#[resilient(breaker(name = "listened_and_reset", window = 1))]
async fn listened_and_reset() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_listener_may_act_on_the_breaker_it_hears_about() {
    breaker::on_change("listened_and_reset", |change| {
        if change.to == State::Open {
            assert_eq!(breaker::reset(change.name), 1);
        }
    });
    let heard = listening("listened_and_reset");
    for _ in 0..3 {
        assert_eq!(listened_and_reset().await.unwrap_err().broken(), Some("down"), "never refused");
    }
    assert_eq!(heard.lock().unwrap().len(), 6);
}
