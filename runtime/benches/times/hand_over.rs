//! From the moment a body ends to the moment at which the one that waited for its slot begins: the slot is given back,
//! the other task is woken, scheduled, and finds that it has been handed the slot. One reading of the clock is in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::Instant;
use watertight::resilient;

use crate::rows::{Failed, one_thread};
use crate::two_threads;

/// When the last body ended, and the sum of the lengths from such an end to the next begin.
struct Watch {
    origin: Instant,
    ended: AtomicU64,
    sum: AtomicU64,
    handed_over: AtomicU64,
}

impl Watch {
    fn new() -> Self {
        Self {
            origin: Instant::now(),
            ended: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            handed_over: AtomicU64::new(0),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The body: the slot is held by one task at a time, so plain stores are enough.
    async fn body(&self) {
        let ended = self.ended.swap(0, Ordering::Relaxed);
        if ended > 0 {
            self.sum.fetch_add(self.now().saturating_sub(ended), Ordering::Relaxed);
            self.handed_over.fetch_add(1, Ordering::Relaxed);
        }
        // So that the other one queues meanwhile.
        yield_now().await;
        yield_now().await;
        self.ended.store(self.now(), Ordering::Relaxed);
    }

    /// The mean since the last time, for so many hand-overs.
    fn take(&self, iterations: u64) -> Duration {
        let handed_over = self.handed_over.swap(0, Ordering::Relaxed).max(1);
        self.ended.store(0, Ordering::Relaxed);
        let mean = self.sum.swap(0, Ordering::Relaxed) as f64 / handed_over as f64;
        Duration::from_secs_f64(mean * iterations as f64 / 1e9)
    }
}

#[resilient(bulkhead = "hand-over:1/queue:8")]
async fn guarded(watch: &Watch) -> Result<(), Failed> {
    watch.body().await;
    Ok(())
}

pub(crate) fn all(criterion: &mut Criterion) {
    for (name, runtime) in
        [("give-back to the next begin", one_thread()), ("give-back to the next begin, two threads", two_threads())]
    {
        let mut group = criterion.benchmark_group(name);
        let watch = Arc::new(Watch::new());
        measure(&mut group, &runtime, &watch, "ours", {
            let watch = watch.clone();
            move || {
                let watch = watch.clone();
                async move { drop(guarded(&watch).await) }
            }
        });
        let semaphore = Arc::new(Semaphore::new(1));
        measure(&mut group, &runtime, &watch, "tokio", {
            let watch = watch.clone();
            move || {
                let (watch, semaphore) = (watch.clone(), semaphore.clone());
                async move {
                    let _permit = semaphore.acquire().await;
                    watch.body().await;
                }
            }
        });
        group.finish();
    }
}

/// Two tasks that hand the slot to each other.
fn measure<F: Future<Output = ()> + Send + 'static>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    watch: &Arc<Watch>,
    name: &str,
    call: impl Fn() -> F + Clone + Send + Sync + 'static,
) {
    group.bench_function(name, |bencher| {
        bencher.iter_custom(|iterations| {
            runtime.block_on(async {
                let one = || {
                    let call = call.clone();
                    async move {
                        for _ in 0..iterations.div_ceil(2).max(64) {
                            call().await;
                        }
                    }
                };
                let (a, b) = tokio::join!(tokio::spawn(one()), tokio::spawn(one()));
                assert!(a.is_ok() && b.is_ok());
            });
            watch.take(iterations)
        });
    });
}
