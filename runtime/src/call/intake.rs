//! Whether new work is taken in: always, until the process is to stop.
//!
//! Stopping has two steps. While it is *draining*, calls from outside are refused and whatever was begun before goes on, with
//! everything that it calls: a request that is half answered must not find its database gone. Once it is *closed*, nothing
//! begins any more, no retry and no nested call, and whoever waits in a line is sent away.
//!
//! What is from outside is told by the ambient context: a call that is made inside another one, or inside a request that a
//! server's layer has let in ([`Entered`]), belongs to what was begun. A layer counts its requests here, so that between two
//! calls of one request nobody believes that all is over.
//!
//! **It costs a call one relaxed load.** The stage is kept in each site's tally, beside what its call reads anyway, and
//! changes at most twice in a process's life; this file is asked when that says that it has changed.
//!
//! Invariants: a stage never goes back; what has entered is counted until it is dropped.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::context::Ambient;
#[cfg(feature = "testing")]
use super::world::{Copies, World};

/// How far stopping has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Open,
    Draining,
    Closed,
}

/// A stage that many threads read.
#[derive(Debug)]
pub(crate) struct Shown(AtomicU8);

impl Shown {
    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(Stage::Open as u8))
    }

    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Stage::Open as u8
    }

    pub(crate) fn read(&self) -> Stage {
        match self.0.load(Ordering::Acquire) {
            0 => Stage::Open,
            1 => Stage::Draining,
            _ => Stage::Closed,
        }
    }

    /// Goes on to a stage, never back.
    pub(crate) fn advance(&self, to: Stage) {
        self.0.fetch_max(to as u8, Ordering::AcqRel);
    }

    /// Whether the calling code may begin something that is (or is not) a further step of what it has begun.
    #[cold]
    pub(crate) fn lets_in(&self, is_further: bool) -> bool {
        match self.read() {
            Stage::Open => true,
            Stage::Draining => is_further || Ambient::is_inside(),
            Stage::Closed => false,
        }
    }
}

/// The process's own, or that of one test.
#[derive(Debug)]
pub(crate) struct Intake {
    pub(crate) stage: Shown,
    inside: AtomicU64,
}

impl Intake {
    const fn new() -> Self {
        Self { stage: Shown::new(), inside: AtomicU64::new(0) }
    }

    /// The one that the calling code belongs to.
    pub(crate) fn here() -> &'static Self {
        static PROCESS: Intake = Intake::new();
        #[cfg(feature = "testing")]
        if let Some(world) = World::here() {
            static COPIES: Copies<Intake> = Copies::new();
            return COPIES.of(world, 0, Self::new);
        }
        &PROCESS
    }

    /// Lets a request in, unless it is too late.
    #[cfg(any(feature = "http", feature = "tonic"))]
    pub(crate) fn enter(&'static self) -> Option<Entered> {
        // Counted first, so that whoever closes and then counts cannot miss it.
        self.inside.fetch_add(1, Ordering::AcqRel);
        let entered = Entered(self);
        self.stage.lets_in(false).then_some(entered)
    }

    /// How many requests are inside.
    pub(crate) fn inside(&self) -> u64 {
        self.inside.load(Ordering::Acquire)
    }
}

/// A request that was let in, until it is dropped.
#[cfg(any(feature = "http", feature = "tonic"))]
#[derive(Debug)]
pub(crate) struct Entered(&'static Intake);

#[cfg(any(feature = "http", feature = "tonic"))]
impl Drop for Entered {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stopping_never_goes_back() {
        let shown = Shown::new();
        assert!(shown.is_open() && shown.lets_in(false));
        shown.advance(Stage::Draining);
        assert!(!shown.is_open() && !shown.lets_in(false) && shown.lets_in(true));
        let inside = Ambient { call: 7, ..Ambient::here() }.enter();
        assert!(shown.lets_in(false), "a call inside another");
        shown.advance(Stage::Closed);
        assert!(!shown.lets_in(true));
        drop(inside);
        shown.advance(Stage::Draining);
        assert_eq!(shown.read(), Stage::Closed);
    }
}
