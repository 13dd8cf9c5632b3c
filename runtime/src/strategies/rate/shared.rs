//! A rate of all processes together, and this one's share of it.
//!
//! The figures in force stand where every call reads them; beside them stands what somebody wrote down, and which share of it
//! this process has. A share is counted in parts of a token ([`Figures::grain`]), so that fifty processes can share `"10/s"`.
//!
//! **A bucket keeps what is in it** when its share changes, and not how long it takes until it is full
//! ([`super::decide::Tokens::refit`]). Otherwise every share that moves from one process to another would bring a burst along:
//! the one has spent its own before, the other finds a larger bucket full.
//!
//! **What is wanted** is told from tokens taken since it was asked before, and from whether somebody was turned away.
//!
//! Invariants: over all processes that have shares of one figure, no more tokens come in a unit than were written down, and
//! one part of a token for each process that has nothing; a bucket holds no more after a change than before.

#[cfg(feature = "redis")]
use std::collections::HashMap;

use super::Rate;
use super::config::Figures;
#[cfg(feature = "redis")]
use super::decide::stamp;
#[cfg(feature = "redis")]
use crate::base::clock::Moment;
use crate::base::share::Share;
use crate::base::sync::{AtomicU32, AtomicU64, Ordering};

/// Figures that were written down, and the share of them that is in force.
#[derive(Debug)]
pub(super) struct Whole {
    count: AtomicU32,
    burst: AtomicU32,
    unit: AtomicU64,
    share: AtomicU64,
    /// Whether somebody was turned away since this was asked before.
    pressed: AtomicU32,
    /// Tokens taken when this was asked before.
    #[cfg(feature = "redis")]
    taken: AtomicU32,
}

impl Whole {
    pub(super) fn new(Figures { count, unit, burst }: Figures) -> Self {
        Self {
            count: AtomicU32::new(count),
            burst: AtomicU32::new(burst),
            unit: AtomicU64::new(unit),
            share: AtomicU64::new(Share::Whole.to_raw()),
            pressed: AtomicU32::new(0),
            #[cfg(feature = "redis")]
            taken: AtomicU32::new(0),
        }
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            count: self.count.load(Ordering::Relaxed),
            unit: self.unit.load(Ordering::Relaxed),
            burst: self.burst.load(Ordering::Relaxed),
        }
    }

    pub(super) fn set(&self, Figures { count, unit, burst }: Figures) {
        self.count.store(count, Ordering::Relaxed);
        self.unit.store(unit, Ordering::Relaxed);
        self.burst.store(burst, Ordering::Relaxed);
    }

    pub(super) fn share(&self) -> Share {
        Share::from_raw(self.share.load(Ordering::Relaxed))
    }

    /// Somebody is turned away; when to come back. A share may be another in a moment, so a whole unit is the longest that
    /// is worth saying.
    pub(super) fn refused(&self, retry_after: u64, unit: u64) -> u64 {
        if self.share() == Share::Whole {
            return retry_after;
        }
        if self.pressed.load(Ordering::Relaxed) == 0 {
            self.pressed.store(1, Ordering::Relaxed);
        }
        retry_after.min(unit)
    }
}

/// What is wanted of a rate that is a fleet's.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// Tokens taken since this was asked before.
    pub(crate) taken: u32,
    /// Whether somebody was turned away, or waits.
    pub(crate) pressed: bool,
    /// The parts of tokens in force, in a unit.
    pub(crate) grains: u32,
}

/// The same of a key.
#[cfg(feature = "redis")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyPace {
    /// What the key is known by in all processes.
    pub(crate) wide: u64,
    pub(crate) pace: Pace,
    /// Whether its parts were given out, and are not those of every key.
    pub(crate) leased: bool,
}

impl Rate {
    /// The figures that were written down or changed since. Those in force may be a share of these.
    pub(crate) fn limit(&self) -> Figures {
        self.whole.figures()
    }

    /// The share of them that is in force.
    pub(crate) fn share(&self) -> Share {
        self.whole.share()
    }

    /// The first share: its bucket is as full as it may be.
    pub(crate) fn begin_sharing(&self, share: Share) {
        if self.share() == Share::Whole {
            self.whole.share.store(share.to_raw(), Ordering::Relaxed);
            self.put_in_force(self.limit().under(share));
        }
    }
}

#[cfg(feature = "redis")]
impl Rate {
    /// Gives it another share.
    pub(crate) fn set_share(&self, share: Share, now: Moment) {
        if self.share() == share {
            return;
        }
        let (before, after) = (self.figures(), self.limit().under(share));
        self.whole.share.store(share.to_raw(), Ordering::Relaxed);
        if before != after {
            self.front.tokens.refit(before, after, stamp(now));
            self.refit_keys(before, after, stamp(now));
            self.put_in_force(after);
        }
    }

    /// What it was asked for since this was asked before.
    pub(crate) fn take_pace(&self) -> Pace {
        let taken = self.front.tokens.taken();
        let before = self.whole.taken.swap(taken, Ordering::Relaxed);
        let turned_away = self.whole.pressed.swap(0, Ordering::Relaxed) != 0;
        let pressed = turned_away || self.front.waiting.load(Ordering::Relaxed) > 0;
        // Given back may be what was counted before.
        let taken = taken.wrapping_sub(before).cast_signed().max(0).cast_unsigned();
        Pace { taken, pressed, grains: self.figures().count }
    }

    /// What each key was asked for since, that was asked for anything or has parts of its own.
    pub(crate) fn key_paces(&self) -> Vec<KeyPace> {
        let mut all = Vec::new();
        let base = self.figures().count;
        if let Some(buckets) = self.keyed.get() {
            buckets.each(|shard| {
                let paces = shard.values().filter_map(|(_, bucket)| bucket.take_pace(base));
                all.extend(paces.filter(|pace| pace.wide != 0));
            });
        }
        all
    }

    /// Whether somebody has a key.
    pub(crate) fn is_keyed(&self) -> bool {
        self.keyed.get().is_some()
    }

    /// How many keys have parts of their own.
    pub(crate) fn leased(&self) -> usize {
        let mut leased = 0;
        if let Some(buckets) = self.keyed.get() {
            buckets.each(|shard| leased += shard.values().filter(|(_, bucket)| bucket.is_leased()).count());
        }
        leased
    }

    /// Gives keys parts of their own, by what all processes know them by; every other key has what all have.
    pub(crate) fn give(&self, grains: &HashMap<u64, u32>, now: Moment) {
        let (limit, base, now) = (self.limit(), self.figures(), stamp(now));
        let mut woken = Vec::new();
        if let Some(buckets) = self.keyed.get() {
            buckets.each(|shard| {
                for (_, bucket) in shard.values() {
                    let given = grains.get(&bucket.wide).map(|much| limit.under(Share::Leased(*much)));
                    bucket.fit(base, given, now, &mut woken);
                }
            });
        }
        woken.into_iter().for_each(std::task::Waker::wake);
    }
}
