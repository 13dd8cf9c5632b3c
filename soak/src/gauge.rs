//! How many bodies are in a compartment, counted by the bodies.
//!
//! Invariant: a gauge above its bound is noted at that instant and never forgotten ([`crate::verdict`]).

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};

use crate::verdict;

/// Keys are counted by what they are modulo this, which is how many there are.
pub(crate) const KEYS: u32 = 20_000;

/// A compartment as its bodies see it.
#[derive(Debug)]
pub(crate) struct Compartment {
    pub(crate) name: String,
    bound: u32,
    running: AtomicU32,
    /// One per key, with the bound of each.
    keys: Option<(u32, Vec<AtomicU32>)>,
}

impl Compartment {
    /// At most `bound` bodies.
    pub(crate) fn new(name: impl Into<String>, bound: u32) -> Self {
        Self { name: name.into(), bound, running: AtomicU32::new(0), keys: None }
    }

    /// At most `bound` bodies, and `each` of one key.
    pub(crate) fn keyed(name: impl Into<String>, bound: u32, each: u32) -> Self {
        Self { keys: Some((each, (0..KEYS).map(|_| AtomicU32::new(0)).collect())), ..Self::new(name, bound) }
    }

    pub(crate) fn enter(&'static self, key: u32) -> Inside {
        self.up(key);
        Inside { compartment: self, key, counts: true }
    }

    /// Bodies inside.
    pub(crate) fn running(&self) -> u32 {
        self.running.load(Ordering::SeqCst)
    }

    fn up(&self, key: u32) {
        let now = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        verdict::holds(now <= self.bound, || format!("{now} bodies in {}, which has {}", self.name, self.bound));
        if let Some((each, keys)) = &self.keys {
            let now = keys[(key % KEYS) as usize].fetch_add(1, Ordering::SeqCst) + 1;
            verdict::holds(now <= *each, || format!("{now} bodies for key {key} of {}, which has {each}", self.name));
        }
    }

    fn down(&self, key: u32) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        if let Some((_, keys)) = &self.keys {
            keys[(key % KEYS) as usize].fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A body that is inside.
#[derive(Debug)]
pub(crate) struct Inside {
    compartment: &'static Compartment,
    key: u32,
    counts: bool,
}

impl Inside {
    /// Waits for calls of the body's own, during which its slot may be lent to one of them and the body does not count.
    pub(crate) async fn lent<F: Future>(inside: Option<&mut Self>, calls: F) -> F::Output {
        let calls = Box::pin(calls);
        match inside {
            None => calls.await,
            Some(inside) => {
                inside.compartment.down(inside.key);
                inside.counts = false;
                let whole = Lent { calls: Some(calls) }.await;
                inside.counts = true;
                inside.compartment.up(inside.key);
                whole
            }
        }
    }
}

/// The calls, gone before the body counts again.
struct Lent<F> {
    calls: Option<Pin<Box<F>>>,
}

impl<F: Future> Future for Lent<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(calls) = &mut self.calls else { return Poll::Pending };
        let whole = std::task::ready!(calls.as_mut().poll(cx));
        self.calls = None;
        Poll::Ready(whole)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.counts {
            self.compartment.down(self.key);
        }
    }
}
