//! What keys want of a limit that is a fleet's, and what they are given of it.
//!
//! Both look at every key that is kept, shard by shard, each under its lock for as long as its keys take to be read: some
//! tens of microseconds for three thousand keys in a shard, a few times a second, and only where the limit is a fleet's.
//!
//! Invariants: a key that is given nothing anew has what every key has; nobody who waits is forgotten when its key is given
//! more.

use std::collections::HashMap;
use std::task::Waker;

use super::super::shared::KeyDemand;
use super::{Keyed, NONE, turns};
use crate::base::share::Share;
use crate::base::sync::Ordering;

impl Keyed {
    /// What each key wants that was in use since this was asked before, or that has slots of its own.
    pub(crate) fn demands(&self) -> Vec<KeyDemand> {
        let (bounds, mut all) = (self.bounds(), Vec::new());
        self.table.each(|keys| {
            for (_, key) in keys.values() {
                let (now, slots, leased) = (key.running + key.queued, key.slots(bounds), key.share != NONE);
                let peak = std::mem::replace(&mut key.peak, now).max(now);
                let pressed = std::mem::take(&mut key.pressed);
                if (peak > 0 || pressed || leased) && key.wide != 0 {
                    let (running, wide) = (key.running, key.wide);
                    all.push(KeyDemand { wide, peak, running, slots, pressed, leased });
                }
            }
        });
        all
    }

    /// How many of all keys run; how many have run and waited together at most since this was asked before; and whether
    /// somebody was turned away since for want of the total.
    pub(crate) fn take_total(&self) -> (u32, u32, bool) {
        let mut all = (0, 0, false);
        self.table.each(|keys| {
            let turns = &mut keys.shared;
            let now = turns.running + turns.queued;
            all.0 += turns.running;
            all.1 += std::mem::replace(&mut turns.recent, now).max(now);
            all.2 |= std::mem::take(&mut turns.pressed);
        });
        all
    }

    /// How many keys have slots of their own.
    pub(crate) fn leased(&self) -> usize {
        let mut leased = 0;
        self.table.each(|keys| leased += keys.values().filter(|(_, key)| key.share != NONE).count());
        leased
    }

    /// Gives keys slots of their own, by what all processes know them by; every other key has what all have.
    pub(crate) fn give(&self, slots: &HashMap<u64, u32>) {
        let mut woken = Vec::new();
        let bounds = self.bounds();
        self.table.each(|keys| {
            for (_, key) in keys.values() {
                key.share = slots.get(&key.wide).copied().unwrap_or(NONE);
            }
            turns::settle(keys, bounds, &mut woken);
        });
        woken.into_iter().for_each(Waker::wake);
    }

    /// Which share of the total is in force.
    pub(crate) fn set_total_share(&self, share: Share) {
        if self.whole_total().is_some() {
            self.total.store(self.whole_total.change(None, Some(share)), Ordering::Relaxed);
            self.settle();
        }
    }
}
