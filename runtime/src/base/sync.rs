//! The one switch between the standard library's atomics and locks and the model checker's.
//!
//! With `--cfg watertight_loom` the bulkhead and the breaker are built on loom's types and every interleaving of their
//! models is tried. The lock is wrapped so that poisoning is no one's business: what our locks protect is changed in
//! steps that cannot panic half-way, and a panic in a user's body never happens under one.
//!
//! Invariants: no lock of this crate is held while user code runs (a waker is cloned before the lock and woken or
//! dropped after it); none is held across an await.

#[cfg(not(watertight_loom))]
mod kind {
    pub(crate) use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
    pub(crate) use std::sync::{Mutex as Inner, MutexGuard};
}

#[cfg(watertight_loom)]
mod kind {
    pub(crate) use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
    pub(crate) use loom::sync::{Mutex as Inner, MutexGuard};
}

pub(crate) use kind::{AtomicI64, AtomicU32, AtomicU64, MutexGuard, Ordering};

/// A lock that does not know poisoning.
#[derive(Debug)]
pub(crate) struct Mutex<T>(kind::Inner<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(kind::Inner::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Puts a value on cache lines of its own, so that a thread writing it does not slow the readers of its neighbours.
///
/// 128 bytes: recent x86 processors fetch lines in pairs, and Apple's have lines of that length.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Apart<T>(pub(crate) T);

impl<T> std::ops::Deref for Apart<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
