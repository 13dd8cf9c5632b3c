//! A lane is a number that no other living thread has.
//!
//! Counting is what every call does most, and a counter that two cores write costs each of them 20 to 45 ns a write:
//! the line travels. So a counter here is an array of cells, one per lane, and a thread adds to its own. Because a lane
//! has one writer, adding needs no atomic read-modify-write either: a relaxed load, an addition, a relaxed store.
//! Whoever wants the figure sums the cells.
//!
//! There are [`LANES`] lanes. A thread takes the lowest free one at its first count and gives it back when it ends; the
//! bit mask is released and acquired, so the next owner sees every addition of the last. Threads beyond that number,
//! and code that still counts while its thread is being torn down, use the shared lane, where additions are atomic.
//!
//! Invariants: two living threads never own one lane; nothing that was added is lost when a lane changes hands; a sum
//! is exact once the threads that added have been joined, and never decreases for one reader.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64 as Cell64, Ordering};

use super::sync::AtomicU64;

/// How many threads can own a lane at once.
pub(crate) const LANES: usize = 32;
/// How many cells a counter needs: one per lane and the shared one, which is all that the model checker's threads use.
pub(crate) const CELLS: usize = if cfg!(watertight_loom) { 1 } else { LANES + 1 };

const SHARED: u8 = 32;
const UNKNOWN: u8 = u8::MAX;
const _: () = assert!(SHARED as usize == LANES);

/// A bit per lane; set while a living thread owns it.
static TAKEN: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static HERE: Cell<u8> = const { Cell::new(UNKNOWN) };
    static OWNED: Owned = Owned::take();
}

/// The calling thread's lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(u8);

impl Lane {
    /// The lane of the thread this runs on.
    #[inline]
    pub(crate) fn here() -> Self {
        // The model checker runs all its threads on one, so no lane is anybody's own there.
        if cfg!(watertight_loom) {
            return Self(SHARED);
        }
        match HERE.get() {
            UNKNOWN => Self::first_use(),
            lane => Self(lane),
        }
    }

    #[cold]
    fn first_use() -> Self {
        // Fails only while the thread is being torn down: from then on it counts with the others.
        let lane = OWNED.try_with(|owned| owned.0).unwrap_or(SHARED);
        HERE.set(lane);
        Self(lane)
    }

    /// Which cell of a counter belongs to this lane, less than [`CELLS`].
    #[inline]
    pub(crate) fn cell(self) -> usize {
        if cfg!(watertight_loom) { 0 } else { self.0 as usize }
    }

    /// Whether this thread is the only one that writes there.
    #[inline]
    pub(crate) fn is_own(self) -> bool {
        self.0 != SHARED
    }
}

/// A thread's hold on its lane; the thread's end gives it back.
struct Owned(u8);

impl Owned {
    fn take() -> Self {
        let mut taken = TAKEN.load(Ordering::Relaxed);
        loop {
            let lane = taken.trailing_ones();
            if lane as usize >= LANES {
                return Self(SHARED);
            }
            // Acquire: what the last owner added must be what we add to.
            match TAKEN.compare_exchange_weak(taken, taken | (1 << lane), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Self(u8::try_from(lane).unwrap_or(SHARED)),
                Err(now) => taken = now,
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        HERE.set(SHARED);
        if self.0 != SHARED {
            TAKEN.fetch_and(!(1 << self.0), Ordering::Release);
        }
    }
}

/// One cell of a counter.
#[derive(Debug, Default)]
pub(crate) struct Count(Cell64);

impl Count {
    pub(crate) const fn new() -> Self {
        Self(Cell64::new(0))
    }

    /// Adds; `lane` must be the lane whose cell this is.
    #[inline]
    pub(crate) fn add(&self, lane: Lane, n: u64) {
        if lane.is_own() {
            self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
        } else {
            self.0.fetch_add(n, Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Changes a cell that holds more than a number, such as a count with the second it belongs to.
#[inline]
pub(crate) fn update(cell: &AtomicU64, lane: Lane, change: impl Fn(u64) -> u64) {
    let seen = cell.load(Ordering::Relaxed);
    if lane.is_own() {
        cell.store(change(seen), Ordering::Relaxed);
        return;
    }
    let mut seen = seen;
    while let Err(now) = cell.compare_exchange_weak(seen, change(seen), Ordering::Relaxed, Ordering::Relaxed) {
        seen = now;
    }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::{Arc, Barrier};

    #[test]
    fn living_threads_never_share_an_owned_lane() {
        let threads = LANES * 2;
        let barrier = Arc::new(Barrier::new(threads));
        let seen: Vec<Lane> = (0..threads)
            .map(|_| {
                let barrier = barrier.clone();
                std::thread::spawn(move || {
                    let lane = Lane::here();
                    barrier.wait();
                    assert_eq!(lane, Lane::here());
                    lane
                })
            })
            .collect::<Vec<_>>()
            .into_iter()
            .map(|thread| thread.join().expect("no panic"))
            .collect();
        let owned: Vec<u8> = seen.iter().filter(|lane| lane.is_own()).map(|lane| lane.0).collect();
        assert_eq!(owned.len(), owned.iter().collect::<HashSet<_>>().len());
        assert!(seen.iter().any(|lane| !lane.is_own()), "the surplus threads share");
    }

    #[test]
    fn nothing_is_lost_when_lanes_change_hands() {
        static CELLS_OF_ONE: [Count; CELLS] = [const { Count::new() }; CELLS];
        for _ in 0..50 {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    std::thread::spawn(|| {
                        for _ in 0..100 {
                            let lane = Lane::here();
                            CELLS_OF_ONE[lane.cell()].add(lane, 1);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().expect("no panic");
            }
        }
        assert_eq!(CELLS_OF_ONE.iter().map(Count::get).sum::<u64>(), 50 * 4 * 100);
    }
}
