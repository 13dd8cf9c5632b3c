//! The same protection by hand, as a careful engineer would write it with tokio alone.
//!
//! A loop of three attempts with a pause, a breaker of two atomics (consecutive failures; far less than ours does), a
//! semaphore of eight with a timeout around waiting for it, and a timeout around the body. The counted form adds what
//! our figures hold: calls and attempts by outcome, a latency histogram and the in-flight gauge, in plain atomics that
//! were looked up once.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use crate::Failed;

/// One function's protection.
pub(crate) struct Guard {
    slots: Semaphore,
    failures: AtomicU64,
    open_until: AtomicU64,
    origin: Instant,
}

impl Guard {
    pub(crate) fn new() -> Self {
        Self {
            slots: Semaphore::new(8),
            failures: AtomicU64::new(0),
            open_until: AtomicU64::new(0),
            origin: Instant::now(),
        }
    }

    fn is_open(&self) -> bool {
        let until = self.open_until.load(Ordering::Acquire);
        until != 0 && u128::from(until) > self.origin.elapsed().as_nanos()
    }

    fn note(&self, ok: bool) {
        if ok {
            if self.failures.load(Ordering::Relaxed) != 0 {
                self.failures.store(0, Ordering::Relaxed);
            }
        } else if self.failures.fetch_add(1, Ordering::Relaxed) > 20 {
            let until = self.origin.elapsed() + Duration::from_secs(5);
            self.open_until.store(u64::try_from(until.as_nanos()).unwrap_or(u64::MAX), Ordering::Release);
        }
    }
}

/// Its figures.
pub(crate) struct Counted {
    calls: AtomicU64,
    in_flight: AtomicU64,
    outcomes: [AtomicU64; 4],
    latency: [AtomicU64; 64],
}

impl Counted {
    pub(crate) fn new() -> Self {
        Self {
            calls: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            outcomes: [const { AtomicU64::new(0) }; 4],
            latency: [const { AtomicU64::new(0) }; 64],
        }
    }
}

async fn body(n: u32) -> Result<u32, Failed> {
    black_box(Ok(n))
}

async fn one_attempt(guard: &Guard, n: u32) -> Result<u32, Failed> {
    if guard.is_open() {
        return Err(Failed);
    }
    let Ok(Ok(_permit)) = timeout(Duration::from_millis(300), guard.slots.acquire()).await else {
        return Err(Failed);
    };
    let outcome = timeout(Duration::from_millis(300), body(n)).await.unwrap_or(Err(Failed));
    guard.note(outcome.is_ok());
    outcome
}

/// Without counting.
pub(crate) async fn call(guard: &Guard, n: u32) -> Result<u32, Failed> {
    for attempt in 0..3_u64 {
        match one_attempt(guard, n).await {
            Ok(answer) => return Ok(answer),
            Err(error) if attempt == 2 => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(50 << attempt)).await,
        }
    }
    Err(Failed)
}

/// With counting.
pub(crate) async fn call_counted(guard: &Guard, counted: &Counted, n: u32) -> Result<u32, Failed> {
    counted.in_flight.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    let outcome = call(guard, n).await;
    let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    counted.latency[63 - nanos.max(1).leading_zeros() as usize].fetch_add(1, Ordering::Relaxed);
    counted.outcomes[usize::from(outcome.is_err())].fetch_add(1, Ordering::Relaxed);
    counted.calls.fetch_add(1, Ordering::Relaxed);
    counted.in_flight.fetch_sub(1, Ordering::Relaxed);
    outcome
}

/// A failed try that is counted as ours are: calls, in flight, refusals.
pub(crate) async fn try_call_counted(slots: &Semaphore, counted: &Counted, n: u32) -> Result<u32, Failed> {
    counted.in_flight.fetch_add(1, Ordering::Relaxed);
    let outcome = try_call(slots, n).await;
    counted.outcomes[2 + usize::from(outcome.is_ok())].fetch_add(1, Ordering::Relaxed);
    counted.calls.fetch_add(1, Ordering::Relaxed);
    counted.in_flight.fetch_sub(1, Ordering::Relaxed);
    outcome
}

/// A bare failed try, as a function with an error to return.
pub(crate) async fn try_call(slots: &Semaphore, n: u32) -> Result<u32, Failed> {
    match slots.try_acquire() {
        Ok(_permit) => body(n).await,
        Err(_) => Err(Failed),
    }
}
