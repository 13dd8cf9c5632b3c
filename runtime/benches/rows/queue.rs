//! Waiting for a slot, on one thread, where the order of steps is always the same: 64 tasks through 8 slots, and two tasks
//! that hand one slot to and fro. The body is pending once, so that somebody always waits.
//!
//! *A call of the second family* is one hand-over: to queue, to be handed the slot as the other's call ends, to wake, to
//! run. `tokio` is its semaphore, whose wait has no bound; `hand` puts tokio's timeout around the wait, as ours has one.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use do_over::policy::Policy as _;
use tokio::sync::Semaphore;
use tokio::task::{LocalSet, yield_now};
use tower::{Layer, ServiceBuilder, service_fn};
use watertight::resilient;

use super::alone::serve;
use super::{Failed, Row, Run, one_thread};

const WAIT: Duration = Duration::from_secs(1);

async fn yielding(n: u32) -> Result<u32, Failed> {
    yield_now().await;
    Ok(n)
}

#[resilient(bulkhead = "queue:8/queue:64")]
async fn eight(n: u32) -> Result<u32, Failed> {
    yielding(n).await
}

#[resilient(bulkhead = "hand-over:1/queue:64")]
async fn one(n: u32) -> Result<u32, Failed> {
    yielding(n).await
}

/// So many tasks that make the calls together.
fn together<R: 'static, F: Future<Output = R> + 'static>(tasks: u32, call: impl Fn(u32) -> F + 'static) -> Run {
    let runtime = one_thread();
    let set = LocalSet::new();
    let call = Rc::new(call);
    Box::new(move |calls| {
        let left = Rc::new(Cell::new(calls));
        set.block_on(&runtime, async {
            let tasks: Vec<_> = (0..tasks)
                .map(|_| {
                    let (call, left) = (call.clone(), left.clone());
                    tokio::task::spawn_local(async move {
                        while let Some(n) = left.get().checked_sub(1) {
                            left.set(n);
                            std::hint::black_box(call(n).await);
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("a task that ends");
            }
        });
    })
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![Row::new("64 tasks, 8 slots", "ours", || together(64, eight))];
    rows.extend(others("64 tasks, 8 slots", 64, 8));
    rows.push(Row::new("hand-over", "ours", || together(2, one)));
    rows.extend(others("hand-over", 2, 1));
    rows
}

fn others(name: &'static str, tasks: u32, slots: usize) -> Vec<Row> {
    vec![
        Row::new(name, "tokio", move || {
            let semaphore = Arc::new(Semaphore::new(slots));
            together(tasks, move |n| {
                let semaphore = semaphore.clone();
                async move {
                    let _permit = semaphore.acquire().await;
                    yielding(n).await
                }
            })
        }),
        Row::new(name, "hand", move || {
            let semaphore = Arc::new(Semaphore::new(slots));
            together(tasks, move |n| {
                let semaphore = semaphore.clone();
                async move {
                    match tokio::time::timeout(WAIT, semaphore.acquire()).await {
                        Ok(Ok(_permit)) => yielding(n).await,
                        _ => Err(Failed),
                    }
                }
            })
        }),
        Row::new(name, "tower", move || {
            let service = ServiceBuilder::new().concurrency_limit(slots).service_fn(yielding);
            together(tasks, move |n| {
                let mut service = service.clone();
                async move { serve(&mut service, n).await }
            })
        }),
        Row::new(name, "tower-resilience", move || {
            let layer = tower_resilience::bulkhead::BulkheadLayer::builder().max_concurrent_calls(slots);
            let service = layer.max_wait_duration(WAIT).build().expect("a bulkhead").layer(service_fn(yielding));
            together(tasks, move |n| {
                let mut service = service.clone();
                async move { serve(&mut service, n).await }
            })
        }),
        Row::new(name, "do-over", move || {
            let policy = do_over::bulkhead::Bulkhead::new(slots).with_queue_timeout(WAIT);
            together(tasks, move |n| {
                let policy = policy.clone();
                async move {
                    policy.execute(|| async { yielding(n).await.map_err(do_over::error::DoOverError::Inner) }).await
                }
            })
        }),
    ]
}
