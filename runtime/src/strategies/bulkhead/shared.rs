//! A limit of all processes together, and this one's share of it.
//!
//! The word of a compartment holds the slots that are in force, and entering reads nothing else. Beside it stands the number
//! that was written down, and which share of it this process has. Whoever changes the one or the other has the product put
//! into the word, by the same resize that any change of slots goes through. So a compartment of a fleet costs a call what
//! any other does.
//!
//! **What is wanted** is told from marks that are kept anyway, how many have run and waited at once at most, and from one that
//! is set where somebody is turned away: to use all there is does not say that more is wanted. There are several
//! who ask for the marks since they asked last, so each has them apart: what one takes is kept for the others.
//!
//! **Keys** have a share each while they are among the busiest; those that have none get what the compartment's own share
//! says, which then is an equal part.
//!
//! Invariants: slots in force are the share of what was written down, never more; whoever asks for marks misses none because
//! another has asked.

use super::Bulkhead;
use crate::base::share::Share;
use crate::base::sync::{AtomicU32, AtomicU64, Ordering};

/// A number that was written down, and the share of it that is in force.
#[derive(Debug)]
pub(super) struct Whole {
    slots: AtomicU32,
    share: AtomicU64,
    /// Whether somebody was turned away since this was asked before.
    pressed: AtomicU32,
}

impl Whole {
    pub(super) fn new(slots: u32) -> Self {
        Self { slots: AtomicU32::new(slots), share: AtomicU64::new(Share::Whole.to_raw()), pressed: AtomicU32::new(0) }
    }

    /// Somebody is turned away.
    #[inline]
    pub(super) fn note_refused(&self) {
        if self.share.load(Ordering::Relaxed) != 0 && self.pressed.load(Ordering::Relaxed) == 0 {
            self.pressed.store(1, Ordering::Relaxed);
        }
    }

    pub(super) fn slots(&self) -> u32 {
        self.slots.load(Ordering::Relaxed)
    }

    pub(super) fn share(&self) -> Share {
        Share::from_raw(self.share.load(Ordering::Relaxed))
    }

    /// Changes the one, the other or both; what is in force then. For one at a time.
    pub(super) fn change(&self, slots: Option<u32>, share: Option<Share>) -> u32 {
        let slots = slots.unwrap_or_else(|| self.slots());
        let share = share.unwrap_or_else(|| self.share());
        self.slots.store(slots, Ordering::Relaxed);
        self.share.store(share.to_raw(), Ordering::Relaxed);
        share.of(slots)
    }
}

/// Who asks for the marks since they asked last.
#[cfg(any(feature = "dashboard", feature = "redis"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(feature = "dashboard", feature = "redis")), allow(dead_code))]
pub(crate) enum Asking {
    Dashboard = 1,
    Fleet = 2,
}

/// The marks of running and queued before they were last taken: since ever, and for each who asks.
#[derive(Debug, Default)]
pub(super) struct Peaks([[AtomicU32; 2]; 3]);

impl Peaks {
    /// The highest that were taken.
    pub(super) fn ever(&self) -> [u32; 2] {
        self.0[0].each_ref().map(|mark| mark.load(Ordering::Relaxed))
    }

    /// Keeps marks for everyone, and gives one its own.
    #[cfg(any(feature = "dashboard", feature = "redis"))]
    fn take(&self, asking: Asking, marks: [u32; 2]) -> [u32; 2] {
        for kept in &self.0 {
            for (kept, mark) in kept.iter().zip(marks) {
                kept.fetch_max(mark, Ordering::Relaxed);
            }
        }
        self.0[asking as usize].each_ref().map(|mark| mark.swap(0, Ordering::Relaxed))
    }
}

impl Bulkhead {
    /// The share of what was written down that is in force.
    pub(crate) fn share(&self) -> Share {
        self.whole.share()
    }

    /// Gives it another share. Those that run above it finish; nobody who waits is sent away.
    pub(crate) fn set_share(&self, share: Share) {
        if self.share() != share {
            self.put_in_force(None, Some(share));
        }
    }

    /// Whether somebody was turned away since this was asked before.
    #[cfg(feature = "redis")]
    pub(crate) fn take_pressed(&self) -> bool {
        self.whole.pressed.swap(0, Ordering::Relaxed) != 0
    }

    /// How many have run and waited at once at most since this one asked before; the marks of the whole time stay.
    #[cfg(any(feature = "dashboard", feature = "redis"))]
    pub(crate) fn take_peaks(&self, asking: Asking) -> [u32; 2] {
        let seen = self.word();
        let running = self.front.peak_running.swap(seen.running(), Ordering::Relaxed);
        let queued = self.front.peak_queued.swap(seen.queued(), Ordering::Relaxed);
        self.past.take(asking, [running.max(seen.running()), queued.max(seen.queued())])
    }
}

/// What a key wants of a limit that is a fleet's.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyDemand {
    /// What the key is known by in all processes.
    pub(crate) wide: u64,
    /// How many have run and waited at once at most since this was asked before.
    pub(crate) peak: u32,
    pub(crate) running: u32,
    /// The slots in force.
    pub(crate) slots: u32,
    /// Whether somebody was turned away since.
    pub(crate) pressed: bool,
    /// Whether they were given out, and not an equal part.
    pub(crate) leased: bool,
}
