//! B03. When the waiter at the head of the line was cancelled, those behind it stalled with a slot free.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::poll;
use tokio::time::{advance, sleep, timeout};
use watertight::{Error, resilient};
use watertight_tests::{Stopwatch, assert_free, assert_idle, ms, occupancy};

type Started = Arc<Mutex<Vec<(char, Duration)>>>;

#[resilient(bulkhead = "b03:1/queue:3")]
async fn b03(who: char, clock: Stopwatch, started: Started) -> Result<(), Error> {
    started.lock().unwrap().push((who, clock.read()));
    sleep(ms(200)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_second_in_line_starts_when_the_head_was_dropped() {
    let (clock, started) = (Stopwatch::start(), Started::default());
    let tasks = ['a', 'b', 'c', 'd'].map(|who| tokio::spawn(b03(who, clock, Arc::clone(&started))));
    sleep(ms(50)).await;
    assert_eq!(occupancy("b03"), (1, 3));
    tasks[1].abort();
    tokio::task::yield_now().await;
    assert_eq!(occupancy("b03"), (1, 2));
    for (who, task) in ['a', 'b', 'c', 'd'].into_iter().zip(tasks) {
        assert_eq!(task.await.is_ok(), who != 'b');
    }
    let started = started.lock().unwrap().clone();
    let order: String = started.iter().map(|(who, _)| who).collect();
    assert_eq!(order, "acd");
    let late = started[1].1.saturating_sub(ms(200));
    assert!(late <= ms(5), "c started {late:?} after a had ended");
    assert_idle("b03");
    assert_free!("b03", 1);
}

#[resilient(bulkhead = "b03_granted:1/queue:3")]
async fn b03_granted() -> Result<(), Error> {
    sleep(ms(200)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_slot_granted_to_one_who_never_looked_passes_on() {
    let (mut a, mut b) = (Box::pin(b03_granted()), Box::pin(b03_granted()));
    assert!(poll!(&mut a).is_pending());
    assert!(poll!(&mut b).is_pending());
    let c = tokio::spawn(b03_granted());
    tokio::task::yield_now().await;
    assert_eq!(occupancy("b03_granted"), (1, 2));
    advance(ms(200)).await;
    assert!(poll!(&mut a).is_ready());
    assert_eq!(occupancy("b03_granted"), (1, 1), "the slot is b's, who has not looked yet");
    drop(b);
    assert_eq!(occupancy("b03_granted"), (1, 0), "and now c's");
    // Nothing else happens from here on: c has to be woken by what has happened already.
    timeout(ms(205), c).await.expect("c was woken").unwrap().unwrap();
    assert_idle("b03_granted");
    assert_free!("b03_granted", 1);
}
