//! B27. Per-key state grew with every key ever seen, or was evicted while somebody was entering it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures::poll;
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, Gate, Peak, assert_idle, bulkhead, site};

#[resilient(bulkhead = "b27:4/queue:8", key = tenant)]
async fn b27(tenant: u64) -> Result<u64, AppError> {
    Ok(tenant)
}

#[tokio::test(start_paused = true)]
async fn keys_seen_once_leave_a_bounded_number_of_compartments() {
    let mut most = 0;
    for tenant in 0..100_000 {
        assert_eq!(b27(tenant).await.unwrap(), tenant);
        if tenant % 1_000 == 0 {
            most = most.max(bulkhead("b27").keys.expect("keyed").kept);
        }
    }
    assert!(most <= 512, "{most} at once");
    let figures = bulkhead("b27").keys.expect("keyed");
    assert_eq!(figures.kept, figures.idle);
    assert_idle("b27");
}

#[resilient(bulkhead = "b27_raced:4/queue:8", key = tenant)]
async fn b27_raced(tenant: u64, peak: Option<Arc<Peak>>) -> Result<(), AppError> {
    let _inside = peak.as_ref().map(|peak| peak.enter());
    tokio::task::yield_now().await;
    Ok(())
}

#[test]
fn a_key_that_is_entered_and_left_while_others_are_evicted_never_exceeds_its_slots() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().expect("threads");
    runtime.block_on(async {
        let (peak, over) = (Arc::<Peak>::default(), Arc::new(AtomicBool::new(false)));
        // Every new key evicts an old one, from all shards.
        let crowd = {
            let over = Arc::clone(&over);
            tokio::spawn(async move {
                let mut tenant = 1_000;
                while !over.load(Ordering::Relaxed) {
                    b27_raced(tenant, None).await.unwrap();
                    tenant += 1;
                }
                tenant - 1_000
            })
        };
        let refused = Arc::new(AtomicU32::new(0));
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let (peak, refused) = (Arc::clone(&peak), Arc::clone(&refused));
                tokio::spawn(async move {
                    for _ in 0..6_250 {
                        match b27_raced(1, Some(Arc::clone(&peak))).await {
                            Ok(()) => {}
                            Err(error) if error.kind() == Some(ErrorKind::BulkheadFull) => {
                                refused.fetch_add(1, Ordering::Relaxed);
                                tokio::task::yield_now().await;
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no panic");
        }
        over.store(true, Ordering::Relaxed);
        assert!(crowd.await.expect("no panic") > 1_000, "there was something to evict");
        assert!(peak.most() <= 4, "{}", peak.most());
        assert_eq!((bulkhead("b27_raced").running, bulkhead("b27_raced").queued), (0, 0));
        let figures = site("b27_raced");
        assert_eq!((figures.in_flight, figures.refused), (0, u64::from(refused.load(Ordering::Relaxed))));
    });
}

#[resilient(bulkhead = "b27_odd:1", key = tenant)]
async fn b27_odd(tenant: &str, gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_empty_key_and_a_very_long_one_are_keys_like_any_other() {
    let long = "x".repeat(10_000);
    let gate = Gate::shut();
    for tenant in ["", &long, "a\"b\\c\nd"] {
        let mut holder = Box::pin(b27_odd(tenant, &gate));
        assert!(poll!(&mut holder).is_pending());
        assert_eq!(b27_odd(tenant, &gate).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    }
    let keys = bulkhead("b27_odd").keys.expect("keyed");
    assert_eq!((keys.kept, keys.idle), (3, 3));
    assert!(keys.busiest.iter().all(|count| count.key.len() <= 68), "shown by its beginning");
}
