//! B13. Half-open let every caller in until the first probe had an answer: a timeout's worth of traffic onto a service
//! that was just coming back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::poll;
use tokio::sync::{Barrier, Notify};
use tokio::time::sleep;
use watertight::metrics::BreakerState;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Gate, Peak, assert_free, assert_idle, breaker, ms};

#[resilient(
    bulkhead = "b13:4/queue:8/wait:20s",
    breaker(name = "b13", window = 5, min_calls = 5, failures = "100%", cooldown = "20ms", probes = 1)
)]
async fn b13(peak: Arc<Peak>, gate: Option<Arc<Gate>>) -> Result<(), AppError> {
    let _inside = peak.enter();
    match gate {
        Some(gate) => {
            gate.opened().await;
            Ok(())
        }
        None => Err(AppError::Broken("down")),
    }
}

/// Calls from so many tasks at once; the gate opens when all have tried. Returns the kinds of those refused at once.
async fn stampede(callers: usize, peak: &Arc<Peak>) -> Vec<ErrorKind> {
    let gate = Arc::new(Gate::shut());
    let start = Arc::new(Barrier::new(callers));
    let tried = Arc::new((AtomicUsize::new(0), Notify::new()));
    let tasks: Vec<_> = (0..callers)
        .map(|_| {
            let (peak, gate, start, tried) =
                (Arc::clone(peak), Arc::clone(&gate), Arc::clone(&start), Arc::clone(&tried));
            tokio::spawn(async move {
                let mut call = Box::pin(b13(peak, Some(gate)));
                start.wait().await;
                let first = poll!(&mut call);
                if tried.0.fetch_add(1, Ordering::SeqCst) + 1 == callers {
                    tried.1.notify_one();
                }
                match first {
                    std::task::Poll::Ready(refused) => Some(refused.expect_err("at once").kind().expect("ours")),
                    std::task::Poll::Pending => {
                        call.await.expect("it got in");
                        None
                    }
                }
            })
        })
        .collect();
    tried.1.notified().await;
    gate.open();
    let mut refused = Vec::new();
    for task in tasks {
        refused.extend(task.await.unwrap());
    }
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_fifty_probes_and_the_bulkhead_caps_the_return() {
    for round in 0..20 {
        for _ in 0..5 {
            b13(Arc::default(), None).await.unwrap_err();
        }
        assert_eq!(breaker("b13").state, BreakerState::Open, "round {round}");
        sleep(ms(21)).await;
        let peak = Arc::<Peak>::default();
        let refused = stampede(50, &peak).await;
        assert_eq!((peak.ever(), refused.len()), (1, 49), "round {round}: one body, the others refused at once");
        assert!(refused.iter().all(|kind| *kind == ErrorKind::BreakerOpen));
        assert_eq!(breaker("b13").state, BreakerState::Closed, "round {round}");
        // All come back in one instant: the breaker lets them, the bulkhead does not.
        let peak = Arc::<Peak>::default();
        let refused = stampede(500, &peak).await;
        assert_eq!((peak.most(), peak.ever(), refused.len()), (4, 12, 488), "round {round}");
        assert!(refused.iter().all(|kind| *kind == ErrorKind::BulkheadFull));
    }
    assert_idle("b13");
    assert_free!("b13", 4);
}
