//! What a site has lately been able to finish in, for turning away work that is doomed.
//!
//! The estimate is read on the path of every call under a deadline, so it is two atomics; it is made anew at most four
//! times a second, by whichever call finds it old, from the histograms that are kept anyway. It looks at the last five to
//! ten seconds only: what was true before a dependency slowed down, or before a cold start was over, must not go on
//! deciding.
//!
//! Invariants: without enough recent attempts the limits are 0, which refuse nothing; the path never waits for the lock.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, TryLockError};

use crate::base::clock::Moment;
use crate::base::lengths::Recent;
use crate::call::tally::Tally;
use crate::strategies::deadline::{Limits, estimate};

/// How old an estimate may get, and how long what came in is counted apart, in nanoseconds.
const FRESH: u64 = 250_000_000;
const KEPT: u64 = 5_000_000_000;

pub(super) struct Floor {
    hopeless: AtomicU64,
    worthwhile: AtomicU64,
    fresh_until: AtomicI64,
    doomed: AtomicU64,
    recent: Mutex<Recent>,
}

impl Floor {
    pub(super) fn new() -> Self {
        Self {
            hopeless: AtomicU64::new(0),
            worthwhile: AtomicU64::new(0),
            fresh_until: AtomicI64::new(Moment::LONG_AGO.to_raw()),
            doomed: AtomicU64::new(0),
            recent: Mutex::new(Recent::new(KEPT, 2 * KEPT, 0)),
        }
    }

    /// The estimate as it stands.
    #[inline]
    pub(super) fn get(&self, now: Moment, tally: &Tally) -> Limits {
        if now >= Moment::from_raw(self.fresh_until.load(Ordering::Relaxed)) {
            self.refresh(now, tally);
        }
        Limits { hopeless: self.hopeless.load(Ordering::Relaxed), worthwhile: self.worthwhile.load(Ordering::Relaxed) }
    }

    /// How many attempts were found doomed before this one.
    pub(super) fn one_more_doomed(&self) -> u64 {
        self.doomed.fetch_add(1, Ordering::Relaxed)
    }

    #[cold]
    fn refresh(&self, now: Moment, tally: &Tally) {
        let mut recent = match self.recent.try_lock() {
            Ok(recent) => recent,
            Err(TryLockError::Poisoned(recent)) => recent.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.fresh_until.store(now.plus(FRESH).to_raw(), Ordering::Relaxed);
        let limits = estimate(&recent.of(now, &tally.lengths()));
        self.hopeless.store(limits.hopeless, Ordering::Relaxed);
        self.worthwhile.store(limits.worthwhile, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_nothing_at_first_then_follows_the_recent_past() {
        static TALLY: Tally = Tally::new();
        let floor = Floor::new();
        let hopeless = |seconds: u64| floor.get(Moment::from_raw(0).plus(seconds * 1_000_000_000), &TALLY).hopeless;
        let run = |nanos: u64| (0..200).for_each(|_| TALLY.here().took(nanos));
        assert_eq!(hopeless(0), 0);
        run(100_000_000);
        assert_eq!(hopeless(0), 0, "not asked again at once");
        let slow = hopeless(1);
        assert!((93_000_000..=100_000_000).contains(&slow), "{slow}");
        // The function gets fast; once the slow seconds are over they no longer count.
        hopeless(6);
        run(5_000_000);
        hopeless(12);
        let fast = hopeless(13);
        assert!((4_600_000..=5_000_000).contains(&fast), "{fast}");
        assert_eq!(hopeless(60), 0, "with nothing recent, nothing is known");
    }
}
