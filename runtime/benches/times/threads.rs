//! What it costs to have a body run on a thread of its own, beside the other ways to get there.
//!
//! Two switches of threads a call are what dominates in all of them. By hand means one thread that takes boxed closures
//! from a channel, and a oneshot channel back: no bound, no queue, no timeout, no figures. The plain function is compared
//! with the same thread and a channel back, and with the wait that a runtime of our own would be, for its timer.

use std::hint::black_box;
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use watertight::resilient;

use crate::CALLS;
use crate::rows::{Failed, one_thread};

#[resilient(isolate = "bench-isolate:1", timeout = "300ms")]
async fn isolated(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

#[resilient(isolate = "bench-isolate-plain:1", timeout = "300ms")]
fn plain(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

type Work = Box<dyn FnOnce() + Send>;

/// A thread that does what it is sent.
static HAND: LazyLock<Sender<Work>> = LazyLock::new(|| {
    let (sender, receiver) = channel::<Work>();
    std::thread::spawn(move || receiver.iter().for_each(|work| work()));
    sender
});

fn send(work: impl FnOnce() + Send + 'static) {
    assert!(HAND.send(Box::new(work)).is_ok());
}

fn by_oneshot(n: u32) -> oneshot::Receiver<u32> {
    let (answer, receiver) = oneshot::channel();
    send(move || {
        let _ = answer.send(black_box(n));
    });
    receiver
}

/// Without a timeout: a channel back.
fn plain_hand(n: u32) -> Result<u32, Failed> {
    let (answer, receiver) = sync_channel(1);
    send(move || {
        let _ = answer.send(black_box(n));
    });
    receiver.recv_timeout(Duration::from_millis(300)).map_err(|_| Failed)
}

/// The wait as a runtime of our own would do it.
fn plain_runtime(runtime: &Runtime, n: u32) -> Result<u32, Failed> {
    let answer = runtime.block_on(async { tokio::time::timeout(Duration::from_millis(300), by_oneshot(n)).await });
    answer.map_err(|_| Failed).and_then(|answer| answer.map_err(|_| Failed))
}

pub(crate) fn all(criterion: &mut Criterion) {
    let runtime = one_thread();
    let mut group = criterion.benchmark_group("threads");
    group.throughput(Throughput::Elements(u64::from(CALLS)));
    asynchronous(&mut group, &runtime, "isolated", async |n| drop(black_box(isolated(n).await)));
    asynchronous(&mut group, &runtime, "hand", async |n| drop(black_box(by_oneshot(n).await)));
    asynchronous(&mut group, &runtime, "spawn_blocking", async |n| {
        drop(black_box(tokio::task::spawn_blocking(move || black_box(n)).await));
    });
    for (name, call) in [("plain", plain as fn(u32) -> Result<u32, Failed>), ("plain_hand", plain_hand)] {
        group.bench_function(name, |bencher| {
            bencher.iter(|| (0..CALLS).for_each(|n| drop(black_box(call(n)))));
        });
    }
    group.bench_function("plain_runtime", |bencher| {
        bencher.iter(|| (0..CALLS).for_each(|n| drop(black_box(plain_runtime(&runtime, n)))));
    });
    group.finish();
}

fn asynchronous(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    name: &str,
    mut call: impl AsyncFnMut(u32),
) {
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                for n in 0..CALLS {
                    call(n).await;
                }
            });
        });
    });
}
