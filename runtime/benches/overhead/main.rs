//! What a guarded call costs beside a bare one and beside what people write by hand.
//!
//! Every figure is a ratio within one run: machines differ, and so does one machine from hour to hour. The hand-written
//! code is what a careful engineer would write with tokio and nothing else: a loop, a small breaker, a semaphore, a
//! timeout; once without counters and once with counters and a latency histogram of its own, like ours has. See
//! [`hand`] for both.
//!
//! `cargo bench -p watertight` runs it and ends with the table of ratios; nothing here asserts a time.

// The bodies measured are async and ready at once, and criterion's macro makes a public function of its own.
#![allow(clippy::unused_async, missing_docs)]

mod hand;
mod ratios;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use criterion::{Criterion, criterion_group};
use tokio::runtime::Runtime;
use watertight::guard::{Breaker, Bulkhead};
use watertight::{Class, Guard, Verdict, resilient};

/// The user's own error.
#[derive(Debug)]
struct Failed;

impl From<watertight::Error> for Failed {
    fn from(_: watertight::Error) -> Self {
        Self
    }
}

fn every_error(answer: &Result<u32, Failed>) -> Verdict {
    if answer.is_ok() { Verdict::OK } else { Verdict::error(Class::Retryable, None) }
}

async fn bare(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(timeout = "300ms")]
async fn with_timeout(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-alone:8")]
async fn with_bulkhead(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-keyed:8", key = n % 64)]
async fn with_key(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-keyed-text:8", key = tenant)]
async fn with_text_key(tenant: &str, n: u32) -> Result<u32, Failed> {
    let _ = tenant;
    black_box(Ok(n))
}

static NEXT_KEY: AtomicU64 = AtomicU64::new(0);

#[cfg(feature = "rate")]
#[resilient(rate = "1000000/s/burst:1000000000")]
async fn with_rate(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[cfg(feature = "rate")]
#[resilient(rate = "1000000/s/burst:1000000000", key = n % 64)]
async fn with_rate_key(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-keyed-one:8", key = n / 1_000_000)]
async fn with_one_key(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-keyed-new:8", key = n)]
async fn with_new_key(n: u64) -> Result<u32, Failed> {
    black_box(Ok(1))
}

#[resilient(breaker)]
async fn with_breaker(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(breaker(window = "10s"))]
async fn with_breaker_in_time(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(timeout = "300ms", hedge = "p95", idempotent)]
async fn with_hedge(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(retry = 2)]
async fn with_retry(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(deadline = "2s")]
async fn with_deadline(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(retry = 2, breaker, bulkhead = "bench-full-stack:8/queue:16", timeout = "300ms")]
async fn full_stack(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(bulkhead = "bench-refused:1")]
async fn refusing(hang: bool) -> Result<u32, Failed> {
    if hang {
        std::future::pending::<()>().await;
    }
    black_box(Ok(1))
}

#[resilient(breaker(name = "bench-open", window = 1, min_calls = 1, cooldown = "1h"))]
async fn broken() -> Result<u32, Failed> {
    Err(Failed)
}

#[resilient(timeout = "300ms", hedge = "100ms", idempotent)]
async fn pending_hedged() -> Result<(), Failed> {
    tokio::task::yield_now().await;
    Ok(())
}

#[resilient(timeout = "300ms")]
async fn pending_once() -> Result<(), Failed> {
    tokio::task::yield_now().await;
    Ok(())
}

async fn hand_pending_once() -> Result<(), Failed> {
    tokio::time::timeout(Duration::from_millis(300), async {
        tokio::task::yield_now().await;
        Ok(())
    })
    .await
    .unwrap_or(Err(Failed))
}

#[resilient(bulkhead = "bench-contended:8/queue:64")]
async fn contended() -> Result<(), Failed> {
    tokio::task::yield_now().await;
    Ok(())
}

const CALLS: u32 = 1_000;

/// Times a thousand calls in a row on one task, so that entering the runtime does not count.
macro_rules! thousand {
    ($group:ident, $runtime:ident, $name:literal, |$n:ident| $call:expr) => {
        $group.bench_function($name, |bencher| {
            bencher.to_async(&$runtime).iter(|| async {
                for $n in 0..CALLS {
                    let _ = black_box($call.await);
                }
            });
        });
    };
}

// Down here, since it uses the macro.
mod threads;

fn single_thread(criterion: &mut Criterion) {
    let runtime = current_thread();
    let by_hand = hand::Guard::new();
    let counted = hand::Counted::new();
    // The full stack once more, put together by hand.
    let guard = Guard::named("bench-guard").timeout(Duration::from_millis(300)).breaker(Breaker::own()).retry(2);
    let guard = guard.bulkhead(Bulkhead::new("bench-guard", 8).queue(16)).build().expect("a guard").judge(every_error);
    let mut group = criterion.benchmark_group("ready");
    thousand!(group, runtime, "bare", |n| bare(n));
    thousand!(group, runtime, "hand", |n| hand::call(&by_hand, n));
    thousand!(group, runtime, "hand_counted", |n| hand::call_counted(&by_hand, &counted, n));
    thousand!(group, runtime, "full_stack", |n| full_stack(n));
    thousand!(group, runtime, "guard", |n| guard.run(|| bare(n)));
    thousand!(group, runtime, "timeout", |n| with_timeout(n));
    thousand!(group, runtime, "bulkhead", |n| with_bulkhead(n));
    thousand!(group, runtime, "key", |n| with_key(n));
    thousand!(group, runtime, "text_key", |n| with_text_key("tenant-4711", n));
    thousand!(group, runtime, "new_key", |_n| with_new_key(NEXT_KEY.fetch_add(1, Ordering::Relaxed)));
    #[cfg(feature = "rate")]
    thousand!(group, runtime, "rate", |n| with_rate(n));
    #[cfg(feature = "rate")]
    thousand!(group, runtime, "rate_key", |n| with_rate_key(n));
    thousand!(group, runtime, "breaker", |n| with_breaker(n));
    thousand!(group, runtime, "breaker_in_time", |n| with_breaker_in_time(n));
    thousand!(group, runtime, "hedge", |n| with_hedge(n));
    thousand!(group, runtime, "retry", |n| with_retry(n));
    thousand!(group, runtime, "deadline", |n| with_deadline(n));
    group.finish();

    let mut group = criterion.benchmark_group("pending");
    thousand!(group, runtime, "hand_timeout", |_n| hand_pending_once());
    thousand!(group, runtime, "timeout", |_n| pending_once());
    thousand!(group, runtime, "hedge", |_n| pending_hedged());
    group.finish();
}

fn refusals(criterion: &mut Criterion) {
    let runtime = current_thread();
    let semaphore = tokio::sync::Semaphore::new(0);
    let counted = hand::Counted::new();
    let mut held = Box::pin(refusing(true));
    runtime.block_on(async {
        assert!(futures::poll!(held.as_mut()).is_pending());
        assert!(refusing(false).await.is_err() && broken().await.is_err());
    });
    let mut group = criterion.benchmark_group("refused");
    thousand!(group, runtime, "try_acquire", |n| hand::try_call(&semaphore, n));
    thousand!(group, runtime, "try_acquire_counted", |n| hand::try_call_counted(&semaphore, &counted, n));
    thousand!(group, runtime, "bulkhead", |_n| refusing(false));
    thousand!(group, runtime, "breaker", |_n| broken());
    group.finish();
}

fn two_threads(criterion: &mut Criterion) {
    let runtime = multi_thread();
    let by_hand: &'static hand::Guard = Box::leak(Box::new(hand::Guard::new()));
    let counted: &'static hand::Counted = Box::leak(Box::new(hand::Counted::new()));
    let mut group = criterion.benchmark_group("two_threads");
    group.bench_function("hand_counted", |bencher| {
        bencher.to_async(&runtime).iter(|| on_two(move |n| hand::call_counted(by_hand, counted, n)));
    });
    group.bench_function("full_stack", |bencher| bencher.to_async(&runtime).iter(|| on_two(full_stack)));
    group.bench_function("bulkhead", |bencher| bencher.to_async(&runtime).iter(|| on_two(with_bulkhead)));
    group.bench_function("keys", |bencher| bencher.to_async(&runtime).iter(|| on_two(with_key)));
    group.bench_function("one_key", |bencher| bencher.to_async(&runtime).iter(|| on_two(with_one_key)));
    group.finish();
}

fn contention(criterion: &mut Criterion) {
    let runtime = multi_thread();
    let semaphore = Arc::new(tokio::sync::Semaphore::new(8));
    let mut group = criterion.benchmark_group("contended");
    group.bench_function("semaphore", |bencher| {
        bencher.to_async(&runtime).iter(|| {
            let semaphore = semaphore.clone();
            sixty_four(move || {
                let semaphore = semaphore.clone();
                async move {
                    let _permit = semaphore.acquire().await;
                    tokio::task::yield_now().await;
                }
            })
        });
    });
    group.bench_function("bulkhead", |bencher| {
        bencher.to_async(&runtime).iter(|| sixty_four(|| async { assert!(contended().await.is_ok()) }));
    });
    group.finish();
}

async fn on_two<F: Future<Output = Result<u32, Failed>> + Send>(
    call: impl Fn(u32) -> F + Copy + Send + Sync + 'static,
) {
    let tasks: Vec<_> = (0..2)
        .map(|_| {
            tokio::spawn(async move {
                for n in 0..CALLS {
                    let _ = black_box(call(n).await);
                }
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.is_ok());
    }
}

async fn sixty_four<F: Future<Output = ()> + Send>(call: impl Fn() -> F + Clone + Send + Sync + 'static) {
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let call = call.clone();
            tokio::spawn(async move {
                for _ in 0..50 {
                    call().await;
                }
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.is_ok());
    }
}

fn current_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn multi_thread() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = single_thread, refusals, two_threads, contention, threads::all
}

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    ratios::print();
}
