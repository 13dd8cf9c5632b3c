//! # `cargo run --release --example ten_million [THREADS]`
//!
//! Ten million calls over twenty functions, and nobody watches: no dashboard, no recorder, no scrape. What do the figures cost
//! in memory, does it grow, and what does the first reader wait? The answers are in `docs/performance.md`.
//!
//! Each thread first takes every function through whatever takes memory once: attempts that are cut off, waits for a slot,
//! failures that are tried again. Bytes are counted by the allocator, per thread, as what was asked for and not given back.
//!
//! Invariants:
//! * nothing reads a figure before the ten millionth call has ended;
//! * exit code 1 when memory has grown, or a function takes more than 64 KiB.

use std::future::pending;
use std::process::ExitCode;
use std::time::Duration;

use allocation_counter::measure;
use tokio::time::{Instant, sleep};
use watertight::{Error, resilient};

const CALLS: u64 = 10_000_000;
const FUNCTIONS: u64 = 20;
const MOST: i64 = 64 * 1024;

#[derive(Clone, Copy)]
enum Day {
    Good,
    Bad,
    Hung,
}

#[derive(Debug)]
struct Trouble;

impl From<Error> for Trouble {
    fn from(_: Error) -> Self {
        Self
    }
}

async fn work(day: Day) -> Result<u64, Trouble> {
    match day {
        Day::Good => Ok(1),
        Day::Bad => Err(Trouble),
        Day::Hung => pending().await,
    }
}

macro_rules! functions {
    ($($name:ident $bulkhead:literal)+) => {
        $(#[resilient(timeout = "10ms", deadline = "1s", bulkhead = $bulkhead, breaker, retry(1, backoff = "1ms..1ms"), fallback = || Ok(0))]
        async fn $name(day: Day) -> Result<u64, Trouble> {
            work(day).await
        })+

        /// Each of them once.
        async fn each(day: Day) {
            $(let _ = $name(day).await;)+
        }

        /// More calls of each than it has slots.
        async fn crowd() {
            $(let _ = futures::future::join_all((0..10).map(|turn| $name(if turn < 9 { Day::Hung } else { Day::Good }))).await;)+
        }
    };
}

functions! {
    f0 "f0:8/queue:16" f1 "f1:8/queue:16" f2 "f2:8/queue:16" f3 "f3:8/queue:16" f4 "f4:8/queue:16" f5 "f5:8/queue:16"
    f6 "f6:8/queue:16" f7 "f7:8/queue:16" f8 "f8:8/queue:16" f9 "f9:8/queue:16" f10 "f10:8/queue:16" f11 "f11:8/queue:16"
    f12 "f12:8/queue:16" f13 "f13:8/queue:16" f14 "f14:8/queue:16" f15 "f15:8/queue:16" f16 "f16:8/queue:16"
    f17 "f17:8/queue:16" f18 "f18:8/queue:16" f19 "f19:8/queue:16"
}

/// Bytes of the first calls, bytes of all others, and how long those took.
fn one_thread(rounds: u64) -> (i64, i64, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let first = measure(|| {
        runtime.block_on(async {
            each(Day::Good).await;
            each(Day::Bad).await;
            crowd().await;
            for _ in 0..300 {
                each(Day::Good).await;
                sleep(Duration::from_millis(5)).await;
            }
        });
    });
    let begun = Instant::now();
    let later = measure(|| {
        runtime.block_on(async {
            for round in 0..rounds {
                each(if round % 1_000 == 7 { Day::Bad } else { Day::Good }).await;
            }
        });
    });
    (first.bytes_current, later.bytes_current, begun.elapsed())
}

fn main() -> ExitCode {
    let threads = std::env::args().nth(1).and_then(|it| it.parse().ok()).unwrap_or(4_u64).clamp(1, 64);
    let rounds = CALLS / FUNCTIONS / threads;
    let working: Vec<_> = (0..threads).map(|_| std::thread::spawn(move || one_thread(rounds))).collect();
    let done: Vec<_> = working.into_iter().map(|it| it.join().expect("it ends")).collect();
    let (first, later) = done.iter().fold((0, 0), |(first, later), it| (first + it.0, later + it.1));
    let longest = done.iter().map(|it| it.2).max().unwrap_or_default();

    let begun = Instant::now();
    let seen = watertight::snapshot();
    let read = begun.elapsed();
    let begun = Instant::now();
    let text = watertight::export::prometheus();
    let scraped = begun.elapsed();

    let calls: u64 = seen.sites.iter().map(|site| site.calls).sum();
    let a_function = first / i64::try_from(FUNCTIONS).unwrap_or(1);
    println!("{calls} calls of {FUNCTIONS} functions on {threads} threads, the last {CALLS} in {longest:.2?}");
    println!("memory of a function: {:.1} KiB, over all threads", a_function as f64 / 1024.0);
    println!("memory added by the last {CALLS} calls: {later} bytes");
    println!("first read: {read:.2?}; first scrape: {scraped:.2?} for {} KiB of text", text.len() / 1024);
    // Sixty-four bytes for each function and thread come later than the first calls, once; what grows would come to thousands.
    let grew = later.abs() > 2 * 1024 * i64::try_from(threads).unwrap_or(1);
    if grew || a_function > MOST || calls < CALLS { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
