//! B06. Look-then-take lets concurrent callers all see the last slot; a release on two paths gives the slot back twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::poll;
use tokio::sync::Barrier;
use watertight::{AttemptFate, Refusal, resilient};
use watertight_tests::{AppError, Gate, Peak, assert_free, assert_idle, assert_quiet, panic_quietly, site};

/// How a call that was let in comes to its end.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Value,
    Error,
    Panic,
    /// Polled to its answer, and the future kept for a while before it is dropped.
    DroppedAfterReady,
    DroppedHalfWay,
}

const ENDINGS: [Ending; 5] =
    [Ending::Value, Ending::Error, Ending::Panic, Ending::DroppedAfterReady, Ending::DroppedHalfWay];

#[resilient(bulkhead = "b06:4/queue:0")]
async fn b06(peak: Arc<Peak>, gate: Arc<Gate>, ending: Ending) -> Result<(), AppError> {
    let _inside = peak.enter();
    gate.opened().await;
    match ending {
        Ending::Value | Ending::DroppedAfterReady => Ok(()),
        Ending::Error => Err(AppError::Broken("asked to")),
        Ending::Panic => panic_quietly(),
        Ending::DroppedHalfWay => std::future::pending().await,
    }
}

/// One round's shared parts.
struct Round {
    peak: Arc<Peak>,
    gate: Arc<Gate>,
    start: Barrier,
    tried: AtomicUsize,
    refused: AtomicUsize,
}

impl Round {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            peak: Arc::default(),
            gate: Arc::default(),
            start: Barrier::new(64),
            tried: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
        })
    }

    /// One of sixty-four: tries, and if it is in, holds on until all have tried.
    async fn run(self: Arc<Self>, ending: Ending) {
        let mut call = Box::pin(b06(Arc::clone(&self.peak), Arc::clone(&self.gate), ending));
        self.start.wait().await;
        let first = poll!(&mut call);
        if first.is_ready() {
            self.refused.fetch_add(1, Ordering::SeqCst);
        }
        if self.tried.fetch_add(1, Ordering::SeqCst) == 63 {
            self.gate.open();
        }
        if first.is_ready() {
            return;
        }
        self.gate.opened().await;
        match ending {
            Ending::DroppedHalfWay => {
                let _ = poll!(&mut call);
                drop(call);
            }
            Ending::DroppedAfterReady => {
                call.as_mut().await.expect("a value");
                tokio::task::yield_now().await;
                drop(call);
            }
            _ => drop(call.await),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn four_of_sixty_four_run_in_every_round_whatever_the_endings() {
    const ROUNDS: usize = 1_000;
    for number in 0..ROUNDS {
        let round = Round::new();
        let tasks: Vec<_> =
            (0..64).map(|n| tokio::spawn(Arc::clone(&round).run(ENDINGS[(n + number) % ENDINGS.len()]))).collect();
        for task in tasks {
            // A panic is one of the endings.
            let _ = task.await;
        }
        assert_eq!(round.peak.most(), 4, "round {number}");
        assert_eq!(round.peak.ever(), 4, "round {number}");
        assert_eq!(round.refused.load(Ordering::SeqCst), 60, "round {number}");
        assert_eq!(round.peak.now(), 0, "round {number}");
    }
    let figures = site("b06");
    assert_eq!(figures.refused_for(Refusal::Full), 60 * ROUNDS as u64);
    assert_eq!(figures.calls, 64 * ROUNDS as u64);
    for fate in [AttemptFate::Ok, AttemptFate::Error, AttemptFate::Panicked, AttemptFate::Cancelled] {
        assert!(figures.attempts_by(fate) > 0, "{fate:?} was among the endings");
    }
    assert_idle("b06");
    assert_free!("b06", 4);
}

#[resilient(bulkhead = "b06_timed:4/queue:0", timeout = "10ms")]
async fn b06_timed(peak: Arc<Peak>) -> Result<(), AppError> {
    let _inside = peak.enter();
    std::future::pending().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn a_slot_that_comes_back_by_timeout_comes_back_once() {
    for round in 0..40 {
        let peak = Arc::<Peak>::default();
        let start = Arc::new(Barrier::new(64));
        let tasks: Vec<_> = (0..64)
            .map(|_| {
                let (peak, start) = (Arc::clone(&peak), Arc::clone(&start));
                tokio::spawn(async move {
                    start.wait().await;
                    b06_timed(peak).await.expect_err("timed out or refused").kind().expect("ours")
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(peak.most(), 4, "round {round}");
        assert_quiet("b06_timed", 4);
    }
    assert!(site("b06_timed").timed_out >= 160);
    assert_idle("b06_timed");
    assert_free!("b06_timed", 4);
}
