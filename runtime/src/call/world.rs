//! Which copy of the shared state a call belongs to: the process's own, or that of one test.
//!
//! Bulkheads, breakers, budgets and figures belong to names, and names to the process. That is what production wants and
//! what tests choke on: two tests of one service run side by side in one process, call the same functions, and the hang
//! that one of them provokes fills the compartment under the other. Locking tests against each other makes them slow,
//! and a name per test is what the service's own functions cannot have.
//!
//! So a test may open a *world*: a fresh copy of everything that belongs to names. Calls are sorted into worlds by the
//! tokio runtime that polls them. A test has a runtime of its own (`#[tokio::test]` makes one), whatever it spawns stays
//! on it, and a library in the middle that spawns without asking takes nobody out of it. A task-local would lose every
//! plain spawn, and a thread-local every worker thread.
//!
//! What a call needs of its world it takes when it begins, so a call that outlives its world ends in it all the same.
//! Copies are leaked: a test's process is short.
//!
//! Invariants: without an open world, finding out costs one relaxed load; no lock is held while user code runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Handle, Id};

/// How many worlds are open, so that looking for one is cheap while there are none.
static HOW_MANY: AtomicUsize = AtomicUsize::new(0);
static OPEN: Mutex<Vec<(World, Id)>> = Mutex::new(Vec::new());

/// The number of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct World(u64);

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The runtime that polls the calling code, if one does.
pub(crate) fn runtime() -> Option<Id> {
    Handle::try_current().ok().map(|handle| handle.id())
}

impl World {
    /// The world of the calling code; `None` is the process's own state.
    #[inline]
    pub(crate) fn here() -> Option<Self> {
        if HOW_MANY.load(Ordering::Relaxed) == 0 { None } else { Self::find() }
    }

    #[cold]
    fn find() -> Option<Self> {
        let runtime = runtime()?;
        // The one opened last, where a test has opened two.
        lock(&OPEN).iter().rev().find(|(_, of)| *of == runtime).map(|(world, _)| *world)
    }

    /// A new one, for a runtime.
    pub(crate) fn open(runtime: Id) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let world = Self(NEXT.fetch_add(1, Ordering::Relaxed));
        lock(&OPEN).push((world, runtime));
        HOW_MANY.fetch_add(1, Ordering::Relaxed);
        world
    }

    /// No call begins in it any more.
    pub(crate) fn close(self) {
        lock(&OPEN).retain(|(world, _)| *world != self);
        HOW_MANY.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What each world has a copy of, by the address of the original.
pub(crate) struct Copies<T: 'static>(Mutex<BTreeMap<(World, usize), &'static T>>);

impl<T> Copies<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// The copy of a world, made when it is first asked for.
    pub(crate) fn of(&self, world: World, original: usize, make: impl FnOnce() -> T) -> &'static T {
        lock(&self.0).entry((world, original)).or_insert_with(|| Box::leak(Box::new(make())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_world_is_its_runtimes_and_ends() {
        assert_eq!(World::here(), None);
        let world = World::open(Handle::current().id());
        assert_eq!(World::here(), Some(world));
        assert_eq!(tokio::spawn(async { World::here() }).await.ok(), Some(Some(world)));
        assert_eq!(std::thread::spawn(World::here).join().ok(), Some(None), "no runtime, no world");
        let inner = World::open(Handle::current().id());
        assert_eq!(World::here(), Some(inner), "the last one opened");
        world.close();
        assert_eq!(World::here(), Some(inner));
        inner.close();
        assert_eq!(World::here(), None);
    }

    #[tokio::test]
    async fn copies_are_made_once_a_world() {
        static COPIES: Copies<u64> = Copies::new();
        let (one, two) = (World::open(Handle::current().id()), World::open(Handle::current().id()));
        assert_eq!((*COPIES.of(one, 7, || 1), *COPIES.of(one, 7, || 2), *COPIES.of(two, 7, || 3)), (1, 1, 3));
        one.close();
        two.close();
    }
}
