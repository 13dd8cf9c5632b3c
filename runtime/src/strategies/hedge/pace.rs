//! What nearly all recent attempts of a site take at most.
//!
//! Read once by each call whose body was pending; made anew at most four times a second, by whichever call finds it old,
//! from the histograms that are kept anyway. Recent is what came in the last five to ten seconds, or in as many as it took
//! for enough to come in, and never what is older than ten minutes.
//!
//! Invariants: too few recent attempts, or a percentile that none was seen to reach, are not known and hedge nothing; the
//! path of a call never waits for the lock.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};

use super::config::{After, Config};
use super::decide::enough;
use crate::base::clock::Moment;
use crate::base::lengths::{Lengths, Recent};

/// How old a percentile may get, how long what came in is counted apart, and how long it may take for enough to come in.
const FRESH: u64 = 250_000_000;
const TURN: u64 = 5_000_000_000;
const LONGEST: u64 = 300_000_000_000;

/// A site's percentile.
pub(crate) struct Pace {
    config: Mutex<Config>,
    /// In nanoseconds; 0 is not known.
    percentile: AtomicU64,
    fresh_until: AtomicI64,
    recent: Mutex<Recent>,
}

impl Pace {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config: Mutex::new(config),
            percentile: AtomicU64::new(0),
            fresh_until: AtomicI64::new(Moment::LONG_AGO.to_raw()),
            recent: Mutex::new(Recent::new(TURN, LONGEST, enough(config.after))),
        }
    }

    pub(crate) fn config(&self) -> Config {
        *self.config.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes by another delay from now on. What was measured stays, and another percentile is read from it at once.
    pub(crate) fn adopt(&self, config: Config) {
        *self.config.lock().unwrap_or_else(PoisonError::into_inner) = config;
        self.fresh_until.store(Moment::LONG_AGO.to_raw(), Ordering::Relaxed);
    }

    /// The percentile as it stands, in nanoseconds; `all` is asked for only when it has to be made anew.
    #[inline]
    pub(crate) fn percentile(&self, now: Moment, all: impl FnOnce() -> Lengths) -> Option<u64> {
        if now >= Moment::from_raw(self.fresh_until.load(Ordering::Relaxed)) {
            self.refresh(now, all);
        }
        match self.percentile.load(Ordering::Relaxed) {
            0 => None,
            known => Some(known),
        }
    }

    #[cold]
    fn refresh(&self, now: Moment, all: impl FnOnce() -> Lengths) {
        let After::Percentile(tenths) = self.config().after else { return };
        let mut recent = match self.recent.try_lock() {
            Ok(recent) => recent,
            Err(TryLockError::Poisoned(recent)) => recent.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        self.fresh_until.store(now.plus(FRESH).to_raw(), Ordering::Relaxed);
        let seen = recent.of(now, &all());
        let is_known = seen.count() >= enough(self.config().after);
        let known = if is_known { seen.quantile(f64::from(tenths) / 1_000.0) } else { None };
        self.percentile.store(known.unwrap_or(0), Ordering::Relaxed);
    }
}
