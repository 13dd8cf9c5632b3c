//! The least time in which a site has lately been able to finish, for turning away work that is doomed.
//!
//! The estimate is read on the path of every call under a deadline, so it is one atomic; it is made anew at most once a
//! second, by whichever call finds it old, from the latency histogram that is kept anyway. It looks at the last half to
//! one minute only: the all-time fastest hundredth would go on refusing long after a cold start was over.
//!
//! Invariants: without enough recent attempts the floor is 0, which refuses nothing; the path never waits for the lock.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::call::tally::Tally;
use crate::strategies::deadline::{FLOOR_PERCENTILE, FLOOR_SAMPLES};

/// How old an estimate may get, and how long a base for comparison is kept, in nanoseconds.
const FRESH: u64 = 1_000_000_000;
const KEPT: u64 = 30_000_000_000;

pub(super) struct Floor {
    nanos: AtomicU64,
    fresh_until: AtomicI64,
    doomed: AtomicU64,
    bases: Mutex<Option<Bases>>,
}

/// Two earlier readings of the histogram: the figures since the older one are the recent ones.
struct Bases {
    older: Bands,
    newer: Bands,
    turned: Moment,
}

impl Floor {
    pub(super) fn new() -> Self {
        Self {
            nanos: AtomicU64::new(0),
            fresh_until: AtomicI64::new(Moment::LONG_AGO.to_raw()),
            doomed: AtomicU64::new(0),
            bases: Mutex::new(None),
        }
    }

    /// The estimate in nanoseconds, 0 while unknown.
    #[inline]
    pub(super) fn get(&self, now: Moment, tally: &Tally) -> u64 {
        if now >= Moment::from_raw(self.fresh_until.load(Ordering::Relaxed)) {
            self.refresh(now, tally);
        }
        self.nanos.load(Ordering::Relaxed)
    }

    /// How many attempts were found doomed before this one.
    pub(super) fn one_more_doomed(&self) -> u64 {
        self.doomed.fetch_add(1, Ordering::Relaxed)
    }

    #[cold]
    fn refresh(&self, now: Moment, tally: &Tally) {
        let mut bases = match self.bases.try_lock() {
            Ok(bases) => bases,
            Err(TryLockError::Poisoned(bases)) => bases.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.fresh_until.store(now.plus(FRESH).to_raw(), Ordering::Relaxed);
        let all = tally.latency();
        let kept = bases.get_or_insert_with(|| Bases { older: Bands::default(), newer: all.clone(), turned: now });
        if now.since(kept.turned) >= KEPT {
            kept.older = std::mem::replace(&mut kept.newer, all.clone());
            kept.turned = now;
        }
        let recent = all.since(&kept.older);
        let floor = if recent.count() >= FLOOR_SAMPLES { recent.at_least(FLOOR_PERCENTILE) } else { None };
        self.nanos.store(floor.unwrap_or(0), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_nothing_at_first_then_follows_the_recent_past() {
        static TALLY: Tally = Tally::new();
        let floor = Floor::new();
        let start = Moment::from_raw(0);
        let after = |seconds: u64| start.plus(seconds * 1_000_000_000);
        assert_eq!(floor.get(start, &TALLY), 0);
        (0..1_000).for_each(|_| TALLY.here().took(100_000_000));
        assert_eq!(floor.get(start, &TALLY), 0, "not asked again within a second");
        let slow = floor.get(after(2), &TALLY);
        assert!((93_000_000..=100_000_000).contains(&slow), "{slow}");
        // The function gets fast; once the slow minute is over it no longer counts.
        floor.get(after(33), &TALLY);
        (0..200).for_each(|_| TALLY.here().took(5_000_000));
        floor.get(after(64), &TALLY);
        let fast = floor.get(after(66), &TALLY);
        assert!(fast <= 5_000_000, "{fast}");
        // And with nothing recent, nothing is known.
        floor.get(after(97), &TALLY);
        assert_eq!(floor.get(after(128), &TALLY), 0);
    }
}
