//! For tests of code that blocks: a place to block in, and waiting for what another thread does.
//!
//! Threads are the subject here, so these wait for real, in steps of a millisecond and never longer than
//! `PATIENCE`.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use watertight::metrics::IsolateFigures;

use crate::{PATIENCE, ms};

/// The figures of a set of threads.
///
/// # Panics
///
/// When there is none of that name.
#[track_caller]
pub fn isolate(name: &str) -> IsolateFigures {
    let snapshot = watertight::snapshot();
    snapshot.isolate(name).unwrap_or_else(|| panic!("no isolate `{name}`")).clone()
}

/// How many threads are taken, by abandoned work, and how many callers wait.
#[track_caller]
pub fn taken(name: &str) -> (u32, u64, u32) {
    let figures = isolate(name);
    (figures.running, figures.running_abandoned, figures.queued)
}

/// Blocks this thread, for real.
#[allow(clippy::disallowed_methods)] // blocking is the subject
pub fn block_for(length: Duration) {
    std::thread::sleep(length);
}

/// Waits until something has come true on another thread.
///
/// # Panics
///
/// When it does not.
#[track_caller]
pub fn until(what: impl Fn() -> bool) {
    let begun = Instant::now();
    while !what() {
        assert!(begun.elapsed() < PATIENCE, "it never came true");
        block_for(ms(1));
    }
}

/// A place where threads block until it is cleared.
#[derive(Debug, Default)]
pub struct Jam {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    inside: u32,
    cleared: bool,
}

impl Jam {
    /// Blocks this thread until the jam is cleared.
    ///
    /// # Panics
    ///
    /// When nobody clears it.
    pub fn block(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.inside += 1;
        self.bell.notify_all();
        let waited = self.bell.wait_timeout_while(state, PATIENCE, |state| !state.cleared);
        let (mut state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timed_out.timed_out(), "nobody cleared it");
        state.inside -= 1;
    }

    /// Waits until so many threads are stuck.
    ///
    /// # Panics
    ///
    /// When they never are.
    #[track_caller]
    pub fn holds(&self, threads: u32) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.bell.wait_timeout_while(state, PATIENCE, |state| state.inside < threads);
        let (state, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timed_out.timed_out(), "{} of {threads} threads came", state.inside);
    }

    /// Lets everyone go, for good.
    pub fn clear(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).cleared = true;
        self.bell.notify_all();
    }
}
