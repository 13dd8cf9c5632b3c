//! B52. The state gauge was stuck, or was a label whose old series kept their 1, or a short opening was never seen.

use tokio::time::advance;
use watertight::export::Publisher;
use watertight::metrics::names;
use watertight::resilient;
use watertight_tests::{AppError, ms};

use crate::{Exporter, Scrape};

#[resilient(breaker(name = "b52", window = 2, failures = "100%", cooldown = "200ms"))]
async fn b52(well: bool) -> Result<(), AppError> {
    tokio::task::yield_now().await;
    if well { Ok(()) } else { Err(AppError::Broken("down")) }
}

const BREAKER: (&str, &str) = ("breaker", "b52");

/// The state that is 1, all others being there at 0.
#[track_caller]
fn state(scrape: &Scrape) -> String {
    let all = scrape.all(names::BREAKER_STATE, &[BREAKER]);
    let states = ["closed", "half_open", "isolated", "open"];
    let mut named: Vec<_> = all.iter().flat_map(|series| &series.labels).filter(|(key, _)| key == "state").collect();
    named.sort();
    assert_eq!(named.iter().map(|(_, state)| state.as_str()).collect::<Vec<_>>(), states);
    let sum: f64 = all.iter().map(|series| series.number()).sum();
    assert!((sum - 1.0).abs() < 1e-9, "exactly one is 1: {all:?}");
    let is = all.iter().find(|series| series.number() > 0.5).expect("one of them");
    is.labels.iter().find(|(key, _)| key == "state").expect("labelled").1.clone()
}

#[tokio::test(start_paused = true)]
async fn exactly_one_state_is_one_at_every_scrape_and_no_opening_is_lost() {
    let (exporter, mut publisher) = (Exporter::new(), Publisher::new());
    let mut scrape = || exporter.publish(&mut publisher);
    b52(true).await.unwrap();
    assert_eq!(state(&scrape()), "closed");
    for _ in 0..2 {
        b52(false).await.unwrap_err();
    }
    assert_eq!(state(&scrape()), "open");
    // The documented value of a quiet one: open, until somebody comes after the cooldown.
    advance(ms(60_000)).await;
    assert_eq!(state(&scrape()), "open");
    let mut probe = Box::pin(b52(true));
    assert!(futures::poll!(&mut probe).is_pending());
    assert_eq!(state(&scrape()), "half_open");
    probe.await.unwrap();
    assert_eq!(state(&scrape()), "closed");
    // An opening of 200 ms between two scrapes fifteen seconds apart.
    let transitions = |scrape: &Scrape, to| scrape.number(names::BREAKER_TRANSITIONS, &[BREAKER, ("to", to)]);
    let before = scrape();
    for _ in 0..2 {
        b52(false).await.unwrap_err();
    }
    advance(ms(200)).await;
    b52(true).await.unwrap();
    advance(ms(14_800)).await;
    let after = scrape();
    assert_eq!((state(&before), state(&after)), ("closed".to_owned(), "closed".to_owned()));
    for to in ["open", "half_open", "closed"] {
        assert!((transitions(&after, to) - transitions(&before, to) - 1.0).abs() < 1e-9, "{to}");
    }
    watertight::breaker::isolate("b52");
    assert_eq!(state(&scrape()), "isolated");
}
