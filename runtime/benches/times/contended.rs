//! Two threads: on one site, through one bulkhead, with a key each; and 64 tasks through eight slots.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use do_over::policy::Policy as _;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use watertight::resilient;

use crate::rows::{Failed, bare, hand, keyed, stacks};
use crate::{CALLS, two_threads};

const WAIT: Duration = Duration::from_secs(1);
/// Tasks, and calls of each in one iteration.
const TASKS: u32 = 64;
const ROUNDS: u32 = 50;

#[resilient(bulkhead = "two-threads:8")]
async fn with_slots(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(bulkhead = "two-threads-keyed:8", key = n / 1_000_000)]
async fn with_one_key(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(bulkhead = "contended:8/queue:64")]
async fn contended(yields: bool) -> Result<u32, Failed> {
    body(yields).await
}

async fn body(yields: bool) -> Result<u32, Failed> {
    if yields {
        yield_now().await;
    }
    bare(1).await
}

pub(crate) fn all(criterion: &mut Criterion) {
    on_one_site(criterion);
    for (name, yields) in [("64 tasks, 8 slots, two threads", true), ("64 tasks, 8 slots, two threads, ready", false)] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(u64::from(TASKS * ROUNDS)));
        through_eight_slots(&mut group, yields);
        group.finish();
    }
}

fn on_one_site(criterion: &mut Criterion) {
    let runtime = two_threads();
    let by_hand: &'static hand::Guard = Box::leak(Box::new(hand::Guard::new()));
    let counted: &'static hand::Counted = Box::leak(Box::new(hand::Counted::new()));
    let mut group = criterion.benchmark_group("stack of 4, two threads");
    // Of one thread: what the other costs it is what is asked.
    group.throughput(Throughput::Elements(u64::from(CALLS)));
    pair(&mut group, &runtime, "ours", stacks::four);
    pair(&mut group, &runtime, "hand", move |n| hand::call(by_hand, n));
    pair(&mut group, &runtime, "hand, counted", move |n| hand::counted(counted, hand::call(by_hand, n)));
    group.finish();
    let mut group = criterion.benchmark_group("bulkhead, two threads");
    group.throughput(Throughput::Elements(u64::from(CALLS)));
    pair(&mut group, &runtime, "ours", with_slots);
    let semaphore: &'static Semaphore = Box::leak(Box::new(Semaphore::new(8)));
    pair(&mut group, &runtime, "tokio", move |n| async move {
        let _permit = semaphore.acquire().await;
        bare(n).await
    });
    pair(&mut group, &runtime, "ours, 64 keys", keyed::by_number);
    pair(&mut group, &runtime, "ours, one key", with_one_key);
    group.finish();
}

/// Two tasks that make a thousand calls each.
fn pair<F: Future<Output = Result<u32, Failed>> + Send + 'static>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    name: &str,
    call: impl Fn(u32) -> F + Copy + Send + Sync + 'static,
) {
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let one = move || async move {
                    for n in 0..CALLS {
                        let _ = black_box(call(n).await);
                    }
                };
                let (a, b) = tokio::join!(tokio::spawn(one()), tokio::spawn(one()));
                assert!(a.is_ok() && b.is_ok());
            });
        });
    });
}

fn through_eight_slots(group: &mut BenchmarkGroup<'_, WallTime>, yields: bool) {
    let runtime = two_threads();
    crowd(group, &runtime, "ours", move || contended(yields));
    let slots = Arc::new(Semaphore::new(8));
    let semaphore = slots.clone();
    crowd(group, &runtime, "tokio", move || {
        let semaphore = semaphore.clone();
        async move {
            let _permit = semaphore.acquire().await;
            body(yields).await
        }
    });
    crowd(group, &runtime, "hand", move || {
        let semaphore = slots.clone();
        async move {
            match tokio::time::timeout(WAIT, semaphore.acquire()).await {
                Ok(Ok(_permit)) => body(yields).await,
                _ => Err(Failed),
            }
        }
    });
    let service = ServiceBuilder::new().concurrency_limit(8).service_fn(move |_: u32| body(yields));
    crowd(group, &runtime, "tower", move || serve(service.clone()));
    let layer = tower_resilience::bulkhead::BulkheadLayer::builder().max_concurrent_calls(8).max_wait_duration(WAIT);
    let service = layer.build().expect("a bulkhead").layer(service_fn(move |_: u32| body(yields)));
    crowd(group, &runtime, "tower-resilience", move || serve(service.clone()));
    let policy = do_over::bulkhead::Bulkhead::new(8).with_queue_timeout(WAIT);
    crowd(group, &runtime, "do-over", move || {
        let policy = policy.clone();
        async move {
            let over = || async { body(yields).await.map_err(do_over::error::DoOverError::Inner) };
            policy.execute(over).await.map_err(|_| Failed)
        }
    });
}

async fn serve<S: Service<u32, Response = u32>>(mut service: S) -> Result<u32, Failed> {
    let Ok(service) = service.ready().await else { return Err(Failed) };
    service.call(1).await.map_err(|_| Failed)
}

/// Sixty-four tasks of fifty calls each; none may be refused.
fn crowd<F: Future<Output = Result<u32, Failed>> + Send + 'static>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    name: &str,
    call: impl Fn() -> F + Clone + Send + Sync + 'static,
) {
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let tasks: Vec<_> = (0..TASKS)
                    .map(|_| {
                        let call = call.clone();
                        tokio::spawn(async move {
                            for _ in 0..ROUNDS {
                                assert!(call().await.is_ok(), "nobody should be refused");
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    assert!(task.await.is_ok());
                }
            });
        });
    });
}
