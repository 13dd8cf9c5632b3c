//! A compartment for each key: `bulkhead = "tenants:4/queue:8", key = tenant_id`.
//!
//! One bulkhead in front of a service that many tenants share lets the loudest of them take every slot. Here each has slots
//! and a queue of its own, made when its key is first seen and forgotten when nobody uses it. What a compartment promises is
//! what the bulkhead promises; what is new is how many there are, and that their sum can be bounded as well (`/total:N`).
//!
//! **Where the state is.** A bulkhead without keys is one word that every caller swaps. Here the word would have to be
//! found first, in a structure that other callers add to and take from, and a caller that has found it must not lose it to
//! an eviction. All of that is one short lock around a shard of the keys ([`crate::base::table`]), and once one has the lock,
//! counting under it costs nothing more: there is no second protocol between a word and its eviction. The rest of the
//! design without keys stays: nothing waits under the lock, no user code runs under it, hand-over is first in, first out.
//!
//! **The total** is a figure that all keys share, so with it there is one shard and one lock. Who gets what comes free is in
//! [`turns`].
//!
//! **Holding.** A call holds its key's compartment from the moment the key is known until it has ended, through all of its
//! attempts and the pauses between them. What is held is not evicted, so a queue cannot vanish under those who wait in it, nor
//! a slot under the body that runs in it.
//!
//! Invariants: those of [`turns`]; a compartment that is held, by a call that runs, waits, pauses or is about to ask, is
//! never evicted; two different keys never share a compartment.

#[cfg(feature = "redis")]
mod shared;
mod turns;

#[cfg(all(test, watertight_loom))]
mod loom_tests;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

use std::sync::Arc;
use std::task::Waker;

use super::config::Limits;
use super::guard::{Held, Slot, Waiting};
use super::queue::{Line, Ticket};
use super::shared::Whole;
use super::{Home, Occupancy, Queued};
use crate::base::share::Share;
use crate::base::sync::{AtomicU32, AtomicU64, Ordering};
use crate::base::table::{Census, Place, SHARDS, Table};
use crate::call::Detail;
use turns::{Bounds, Compartment, Entered, Turns};

/// Where a key's compartment is, and the number by which the ambient context knows it.
pub(crate) type InKey = (Place, u32);

/// The compartments of a name, by key.
#[derive(Debug)]
pub(crate) struct Keyed {
    name: &'static str,
    table: Table<Compartment, Turns>,
    slots: AtomicU32,
    queue: AtomicU32,
    /// What bounds all keys together, as it was written down; [`NONE`] is nothing.
    whole_total: Whole,
    /// What is in force of it.
    total: AtomicU32,
    /// How much of these limits is this process's; a number as of [`Share`].
    share: AtomicU64,
}

/// No total, no share of its own.
pub(super) const NONE: u32 = u32::MAX;

impl Keyed {
    pub(super) fn new(name: &'static str, limits: Limits, total: Option<u32>) -> Self {
        let shards = if total.is_some() || cfg!(watertight_loom) { 1 } else { SHARDS };
        Self {
            name,
            table: Table::new(shards, Turns::default),
            slots: AtomicU32::new(limits.slots),
            queue: AtomicU32::new(limits.queue),
            whole_total: Whole::new(total.unwrap_or(NONE)),
            total: AtomicU32::new(total.unwrap_or(NONE)),
            share: AtomicU64::new(Share::Whole.to_raw()),
        }
    }

    /// The same with a share in force.
    pub(super) fn sharing(self, share: Share) -> Self {
        self.share.store(share.to_raw(), Ordering::Relaxed);
        if self.whole_total().is_some() {
            self.total.store(self.whole_total.change(None, Some(share)), Ordering::Relaxed);
        }
        self
    }

    /// Whether its limits are those of several processes.
    fn is_shared(&self) -> bool {
        self.share.load(Ordering::Relaxed) != Share::Whole.to_raw()
    }

    fn bounds(&self) -> Bounds {
        let total = self.total.load(Ordering::Relaxed);
        Bounds {
            slots: self.slots.load(Ordering::Relaxed),
            queue: self.queue.load(Ordering::Relaxed),
            total: (total != NONE).then_some(total),
        }
    }

    /// Holds the compartment of a key: where it is, and the number by which the ambient context knows it. `wide` is what all
    /// processes know the key by, asked for where there are several.
    pub(crate) fn hold(&self, id: u128, shown: impl FnOnce() -> Arc<str>, wide: impl FnOnce() -> u64) -> InKey {
        let make = || Compartment::of(if self.is_shared() { wide() } else { 0 });
        self.table.hold(id, shown, make, || 0, |keys, at| keys.shared.number(at))
    }

    /// Holds a compartment that is held already once more.
    #[cfg(feature = "futures")]
    pub(super) fn hold_again(&self, place: Place) {
        self.table.hold_again(place);
    }

    pub(crate) fn let_go(&self, place: Place) {
        self.table.let_go(place, || 0);
    }

    /// The slot that the call around the caller's holds of the same key, if it is not lent yet.
    #[inline]
    pub(crate) fn borrow(&'static self, (place, id): InKey, call: u64) -> Option<Held> {
        Held::borrow(Home::Key(self, place), id, call)
    }

    /// Takes a free slot if nobody waits for one. `None` when there is room in the queue.
    pub(crate) fn try_enter(&'static self, (place, id): InKey) -> Option<Queued> {
        self.ask(place, id, None)
    }

    /// Takes a slot or a place in the queue; `waker` is told when the slot is handed over.
    pub(crate) fn enqueue(&'static self, (place, id): InKey, waker: Waker) -> Queued {
        // With a waker there is no asking whether there is room.
        self.ask(place, id, Some(waker)).unwrap_or_else(|| Queued::Slot(Slot::of(Home::Key(self, place), id)))
    }

    fn ask(&'static self, place: Place, id: u32, waker: Option<Waker>) -> Option<Queued> {
        let (bounds, home) = (self.bounds(), Home::Key(self, place));
        self.table.with(place, |keys, at| match turns::enter(keys, at, bounds, waker) {
            Entered::Slot => Some(Queued::Slot(Slot::of(home, id))),
            Entered::Queued(ticket) => Some(Queued::Waiting(Waiting::of(home, id, ticket))),
            Entered::Room => None,
            Entered::Full { of_total } => {
                keys.count_refused(at);
                let (running, queued) = keys.both(at).map_or((0, 0), |(key, _)| (key.running, key.queued));
                let total = bounds.total.filter(|_| of_total).unwrap_or(0);
                let slots = keys.both(at).map_or(bounds.slots, |(key, _)| key.slots(bounds));
                let queue = bounds.queue;
                Some(Queued::Full(Detail::KeyFull { name: self.name, slots, running, queue, queued, total }))
            }
        })
    }

    pub(super) fn release(&self, place: Place) {
        let (bounds, mut woken) = (self.bounds(), Vec::new());
        self.table.with(place, |keys, at| turns::release(keys, at, bounds, &mut woken));
        woken.into_iter().for_each(Waker::wake);
    }

    /// Looks at a compartment's line, under the lock.
    pub(super) fn line<T>(&self, place: Place, look: impl FnOnce(&mut Line) -> T) -> Option<T> {
        self.table.with(place, |keys, at| keys.both(at).map(|(key, _)| look(key.line())))
    }

    /// Takes a waiter out of the line. False when it has been handed its slot already.
    pub(super) fn leave_line(&self, place: Place, ticket: Ticket) -> bool {
        let mut left = None;
        // The waker is dropped outside of the lock.
        self.table.with(place, |keys, at| turns::leave(keys, at, ticket, &mut left))
    }

    /// Counts a caller that has waited in vain.
    pub(crate) fn waited_in_vain(&self, place: Place) {
        self.table.refused(place);
    }

    /// How many wait for a slot of a key.
    pub(crate) fn queued(&self, place: Place) -> u32 {
        self.table.with(place, |keys, at| keys.both(at).map_or(0, |(key, _)| key.queued))
    }

    /// Changes the limits of every key and of all of them together, without losing a slot or a waiter. A total can be
    /// changed and not be added later, since it decides how the keys are kept.
    pub(super) fn resize(&self, limits: Limits, total: Option<u32>) {
        self.slots.store(limits.slots, Ordering::Relaxed);
        self.queue.store(limits.queue, Ordering::Relaxed);
        if self.whole_total().is_some() {
            self.total.store(self.whole_total.change(total, None), Ordering::Relaxed);
        }
        self.settle();
    }

    /// After a change: whoever may run now does.
    fn settle(&self) {
        let (bounds, mut woken) = (self.bounds(), Vec::new());
        self.table.each(|keys| turns::settle(keys, bounds, &mut woken));
        woken.into_iter().for_each(Waker::wake);
    }

    pub(super) fn wake_all(&self) {
        let mut woken = Vec::new();
        self.table.each(|keys| {
            let waiting = keys.values().filter(|(_, key)| key.queued > 0);
            waiting.for_each(|(_, key)| woken.extend(key.line().wakers()));
        });
        woken.into_iter().for_each(Waker::wake);
    }

    /// What bounds all keys together and is in force.
    pub(crate) fn total(&self) -> Option<u32> {
        self.bounds().total
    }

    /// What was written down to bound them.
    pub(crate) fn whole_total(&self) -> Option<u32> {
        Some(self.whole_total.slots()).filter(|total| *total != NONE)
    }

    /// All keys together. Peaks are summed over shards, which need not have had them at the same time.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let Bounds { slots, queue, .. } = self.bounds();
        let mut all = Occupancy { slots, running: 0, queue, queued: 0, peak_running: 0, peak_queued: 0 };
        self.table.each(|keys| {
            all.running += keys.shared.running;
            all.queued += keys.shared.queued;
            all.peak_running += keys.shared.peak_running;
            all.peak_queued += keys.shared.peak_queued;
        });
        all
    }

    pub(crate) fn census(&self) -> Census {
        self.table.census()
    }
}
