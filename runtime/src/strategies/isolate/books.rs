//! What is counted about a compartment's threads.
//!
//! Work that nobody waits for any more is the one thing here that no other figure shows: its call has ended and is
//! booked as timed out, and the thread it left behind goes on. So it is counted when it is left (a body that never comes
//! back would otherwise never be counted), and how long it overran when it comes back.
//!
//! Invariant: abandoned and not come back = left - came back, whichever of two racing sides books first.

use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::base::sync::{AtomicI64, AtomicU64, Mutex, Ordering};

#[derive(Debug)]
pub(super) struct Books {
    left: AtomicU64,
    came_back: AtomicU64,
    /// When one of the two last moved.
    moved_at: AtomicI64,
    overran: Mutex<Bands>,
}

impl Books {
    pub(super) fn new() -> Self {
        Self {
            left: AtomicU64::new(0),
            came_back: AtomicU64::new(0),
            moved_at: AtomicI64::new(Moment::LONG_AGO.to_raw()),
            overran: Mutex::new(Bands::default()),
        }
    }

    /// A caller has left code running.
    pub(super) fn abandoned(&self, now: Moment) {
        self.moved_at.store(now.to_raw(), Ordering::Relaxed);
        self.left.fetch_add(1, Ordering::Release);
    }

    /// It came back, so long after its caller had gone.
    pub(super) fn came_back(&self, overran: u64) {
        self.overran.lock().record(overran);
        self.came_back.fetch_add(1, Ordering::Release);
    }

    /// How many threads run what nobody waits for.
    pub(super) fn at_large(&self) -> u64 {
        // In this order: one that is left in between and comes back is then not counted as fewer than none.
        let came_back = self.came_back.load(Ordering::Acquire);
        self.left.load(Ordering::Acquire).saturating_sub(came_back)
    }

    /// Since when that has not grown.
    pub(super) fn moved_at(&self) -> Moment {
        Moment::from_raw(self.moved_at.load(Ordering::Relaxed))
    }

    pub(super) fn all_left(&self) -> u64 {
        self.left.load(Ordering::Acquire)
    }

    pub(super) fn overran(&self) -> Bands {
        self.overran.lock().clone()
    }
}
