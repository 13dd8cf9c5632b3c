//! B05. A burst of exactly slots + queue calls was now and then refused: one just admitted still stood in line.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures::poll;
use tokio::sync::{Barrier, Notify};
use watertight::{Error, ErrorKind, resilient};
use watertight_tests::{Gate, assert_free, assert_idle};

#[resilient(bulkhead = "b05:10/queue:10/wait:20s")]
async fn b05(gate: Arc<Gate>) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

/// While fewer run than may, nobody waits: looked at from outside, all the time.
fn watch_the_queue(stop: Arc<AtomicBool>) -> std::thread::JoinHandle<usize> {
    std::thread::spawn(move || {
        let mut looks = 0;
        while !stop.load(Ordering::Relaxed) {
            if let Some(now) = watertight::snapshot().bulkhead("b05") {
                assert!(now.queued == 0 || now.running == 10, "{} wait while {} run", now.queued, now.running);
                looks += 1;
            }
            std::thread::yield_now();
        }
        looks
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn twenty_are_accepted_and_the_twenty_first_refused_in_every_round() {
    let stop = Arc::new(AtomicBool::new(false));
    let watching = watch_the_queue(Arc::clone(&stop));
    for round in 0..500 {
        let gate = Arc::new(Gate::shut());
        let start = Arc::new(Barrier::new(20));
        let tried = Arc::new((AtomicUsize::new(0), Notify::new()));
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let (gate, start, tried) = (Arc::clone(&gate), Arc::clone(&start), Arc::clone(&tried));
                tokio::spawn(async move {
                    let mut call = Box::pin(b05(gate));
                    start.wait().await;
                    let first = poll!(&mut call);
                    if tried.0.fetch_add(1, Ordering::SeqCst) == 19 {
                        tried.1.notify_one();
                    }
                    assert!(first.is_pending(), "refused: {first:?}");
                    call.await
                })
            })
            .collect();
        tried.1.notified().await;
        let refused = b05(Arc::clone(&gate)).await.expect_err("the twenty-first");
        assert_eq!(refused.kind(), ErrorKind::BulkheadFull, "round {round}");
        gate.open();
        for task in tasks {
            task.await.unwrap_or_else(|_| panic!("round {round}: one of twenty was refused")).unwrap();
        }
    }
    stop.store(true, Ordering::Relaxed);
    assert!(watching.join().expect("nobody waited while a slot was free") > 0);
    assert_idle("b05");
    assert_free!("b05", 10);
}
