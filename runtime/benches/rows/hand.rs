//! The same protection by hand, as a careful engineer would write it with tokio alone.
//!
//! A loop of three attempts with a pause, a breaker of two atomics (consecutive failures; far less than ours does), a
//! semaphore of eight with a timeout around waiting for it, and a timeout around the body. The counted form adds what
//! our figures hold: calls and attempts by outcome, a latency histogram and the in-flight gauge, in plain atomics that
//! were looked up once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::{Failed, bare};

const LIMIT: Duration = Duration::from_millis(300);

/// Opens after twenty failures in a row, for five seconds.
pub(crate) struct Breaker {
    failures: AtomicU64,
    open_until: AtomicU64,
    origin: Instant,
}

impl Breaker {
    pub(crate) fn new() -> Self {
        Self { failures: AtomicU64::new(0), open_until: AtomicU64::new(0), origin: Instant::now() }
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

/// One call through a breaker.
pub(crate) async fn through<T>(breaker: &Breaker, body: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    if breaker.is_open() {
        return Err(Failed);
    }
    let outcome = body.await;
    breaker.note(outcome.is_ok());
    outcome
}

/// One function's protection.
pub(crate) struct Guard {
    slots: Semaphore,
    breaker: Breaker,
}

impl Guard {
    pub(crate) fn new() -> Self {
        Self { slots: Semaphore::new(8), breaker: Breaker::new() }
    }
}

/// A slot and a timeout.
pub(crate) async fn slotted<T>(guard: &Guard, body: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    let Ok(Ok(_permit)) = timeout(LIMIT, guard.slots.acquire()).await else {
        return Err(Failed);
    };
    timeout(LIMIT, body).await.unwrap_or(Err(Failed))
}

/// The breaker, a slot and a timeout.
pub(crate) async fn one_attempt<T>(guard: &Guard, body: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    if guard.breaker.is_open() {
        return Err(Failed);
    }
    let Ok(Ok(_permit)) = timeout(LIMIT, guard.slots.acquire()).await else {
        return Err(Failed);
    };
    let outcome = timeout(LIMIT, body).await.unwrap_or(Err(Failed));
    guard.breaker.note(outcome.is_ok());
    outcome
}

/// Three attempts with pauses between them.
pub(crate) async fn retried<T>(mut attempt: impl AsyncFnMut() -> Result<T, Failed>) -> Result<T, Failed> {
    for number in 0..3_u64 {
        match attempt().await {
            Ok(answer) => return Ok(answer),
            Err(error) if number == 2 => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(50 << number)).await,
        }
    }
    Err(Failed)
}

/// All of it, without counting.
pub(crate) async fn call(guard: &Guard, n: u32) -> Result<u32, Failed> {
    // Not by `retried`: what an async closure borrows cannot be shown to be `Send`, and two threads want to call it.
    for number in 0..3_u64 {
        match one_attempt(guard, bare(n)).await {
            Ok(answer) => return Ok(answer),
            Err(error) if number == 2 => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(50 << number)).await,
        }
    }
    Err(Failed)
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

/// With counting.
pub(crate) async fn counted<T, E>(counted: &Counted, call: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    counted.in_flight.fetch_add(1, Ordering::Relaxed);
    let started = Instant::now();
    let outcome = call.await;
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
        Ok(_permit) => bare(n).await,
        Err(_) => Err(Failed),
    }
}
