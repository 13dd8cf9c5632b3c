//! The compartments of a shard: what each event makes of them. No atomics, no time; the shard's lock is around all of it.
//!
//! A key has its slots and its queue like any bulkhead. Over all keys there may be a *total*, and then a free slot of the key
//! is not enough: the sum of all that run must stay below it as well. Who waits for the total waits in the queue of its own
//! key, and keys take turns:
//!
//! > Keys that have somebody waiting and a slot of their own free stand in a ring. A slot of the total that comes free goes
//! > to the oldest waiter of the key in front, and that key goes to the back. A key enters the ring at the back.
//!
//! So between two grants to a key that stays in the ring every other key gets one at most: a tenant with a thousand callers
//! waiting and one with a single caller are one turn apart. Within a key it is first come, first served.
//!
//! A turn is a place in the ring with a number. A key whose waiters have all gone forgets its number, and the place is passed
//! over when it comes to the front; nothing has to be searched for when a caller leaves.
//!
//! Invariants: in no key do more than `slots` run or more than `queue` wait; no more than the total run in all; if the ring
//! has a turn in it, the total is exhausted; if a key has somebody waiting, its slots are taken or it has a turn.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;

use super::super::queue::{Line, Ticket};
use super::NONE;
use crate::base::table::{Forgettable, Shard};
use crate::call::context::NUMBERS;

/// What holds for every key, and for all of them together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) slots: u32,
    pub(super) queue: u32,
    pub(super) total: Option<u32>,
}

/// One key's compartment.
#[derive(Debug)]
pub(super) struct Compartment {
    pub(super) running: u32,
    pub(super) queued: u32,
    /// The slots that were given to this key; [`NONE`] where it has those that every key has.
    pub(super) share: u32,
    /// The most that have run and waited at once since somebody asked.
    pub(super) peak: u32,
    /// Whether somebody was turned away since.
    pub(super) pressed: bool,
    /// What all processes know the key by; 0 where nobody asked.
    #[cfg_attr(not(feature = "redis"), allow(dead_code))]
    pub(super) wide: u64,
    /// Its place in the ring.
    turn: Option<u64>,
    /// Made for the first that waits.
    line: Option<Box<Line>>,
}

/// What the compartments of a shard share.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    pub(super) running: u32,
    pub(super) queued: u32,
    ring: VecDeque<(u32, u64)>,
    next: u64,
    /// How many places in the ring are somebody's.
    live: usize,
    /// The most that have run and waited at once.
    pub(super) peak_running: u32,
    pub(super) peak_queued: u32,
    /// The most that have run and waited together since somebody asked.
    pub(super) recent: u32,
    /// Whether somebody was turned away for want of the total since.
    pub(super) pressed: bool,
    /// The numbers that the compartments of this shard are known by while their slots are lent, in blocks.
    numbers: Vec<u32>,
}

/// What asking for a slot came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entered {
    Slot,
    Queued(Ticket),
    /// No slot, and room in the queue.
    Room,
    /// No slot and no room in the queue; whether it was the total that had none.
    Full {
        of_total: bool,
    },
}

impl Forgettable for Compartment {
    fn is_forgettable(&self, _: u64) -> bool {
        // Whoever runs or waits holds it, so this never says no; were it ever wrong, a compartment too many is harmless.
        self.running == 0 && self.queued == 0
    }
}

impl Compartment {
    pub(super) fn of(wide: u64) -> Self {
        Self { running: 0, queued: 0, share: NONE, peak: 0, pressed: false, wide, turn: None, line: None }
    }

    /// How many may run.
    pub(super) fn slots(&self, bounds: Bounds) -> u32 {
        if self.share == NONE { bounds.slots } else { self.share }
    }

    /// One more runs or waits.
    fn note(&mut self) {
        self.peak = self.peak.max(self.running + self.queued);
    }

    pub(super) fn line(&mut self) -> &mut Line {
        self.line.get_or_insert_with(|| Box::new(Line::with_room_for(0)))
    }
}

impl Turns {
    fn runs_one_more(&mut self) {
        self.running += 1;
        self.peak_running = self.peak_running.max(self.running);
        self.recent = self.recent.max(self.running + self.queued);
    }

    /// The number of a compartment, the same while somebody holds it and no other bulkhead's.
    pub(super) fn number(&mut self, at: u32) -> u32 {
        let block = (at / BLOCK) as usize;
        while self.numbers.len() <= block {
            self.numbers.push(next_block());
        }
        match self.numbers[block] {
            0 => 0,
            first => first + at % BLOCK,
        }
    }
}

/// How many compartments get their numbers at once.
const BLOCK: u32 = 256;

/// The first of a block of numbers; 0 when there are none left. Bulkheads without keys have those below.
fn next_block() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1 << 16);
    let next = |next: u32| (next < NUMBERS).then_some(next + BLOCK);
    NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).unwrap_or(0)
}

/// The compartments of a shard.
pub(super) type Keys = Shard<Compartment, Turns>;

/// Whether the sum over all keys leaves room.
fn has_room(turns: &Turns, bounds: Bounds) -> bool {
    bounds.total.is_none_or(|total| turns.running < total)
}

/// Asks for a slot; with a `waker`, for a place in the queue as well.
pub(super) fn enter(keys: &mut Keys, at: u32, bounds: Bounds, waker: Option<Waker>) -> Entered {
    let Some((key, turns)) = keys.both(at) else { return Entered::Full { of_total: false } };
    let has_slot = key.running < key.slots(bounds);
    if key.queued == 0 && has_slot && has_room(turns, bounds) {
        key.running += 1;
        key.note();
        turns.runs_one_more();
        return Entered::Slot;
    }
    let of_total = has_slot && !has_room(turns, bounds);
    if key.queued >= bounds.queue {
        key.pressed |= !of_total;
        turns.pressed |= of_total;
        return Entered::Full { of_total };
    }
    let Some(waker) = waker else { return Entered::Room };
    let ticket = key.line().join(waker);
    key.queued += 1;
    key.note();
    turns.queued += 1;
    turns.peak_queued = turns.peak_queued.max(turns.queued);
    turns.recent = turns.recent.max(turns.running + turns.queued);
    take_turn(key, turns, at, bounds);
    Entered::Queued(ticket)
}

/// A slot comes back: to those who wait, as far as there is one for them.
pub(super) fn release(keys: &mut Keys, at: u32, bounds: Bounds, woken: &mut Vec<Waker>) {
    if let Some((key, turns)) = keys.both(at) {
        key.running -= 1;
        turns.running -= 1;
        if bounds.total.is_none() {
            while key.queued > 0 && key.running < key.slots(bounds) {
                woken.extend(grant(key, turns));
            }
        }
        take_turn(key, turns, at, bounds);
    }
    grant_in_turn(keys, bounds, woken);
}

/// A waiter goes away. False when it has been called already.
pub(super) fn leave(keys: &mut Keys, at: u32, ticket: Ticket, left: &mut Option<Waker>) -> bool {
    let Some((key, turns)) = keys.both(at) else { return false };
    *left = key.line().leave(ticket);
    if left.is_none() {
        return false;
    }
    key.queued -= 1;
    turns.queued -= 1;
    if key.queued == 0 && key.turn.take().is_some() {
        turns.live -= 1;
        tidy(keys);
    }
    true
}

/// After a change of the bounds: who can run now does, and who has a turn now has it.
pub(super) fn settle(keys: &mut Keys, bounds: Bounds, woken: &mut Vec<Waker>) {
    let waiting: Vec<u32> = keys.values().filter(|(_, key)| key.queued > 0).map(|(at, _)| at).collect();
    for at in waiting {
        let Some((key, turns)) = keys.both(at) else { continue };
        while bounds.total.is_none() && key.queued > 0 && key.running < key.slots(bounds) {
            woken.extend(grant(key, turns));
        }
        take_turn(key, turns, at, bounds);
    }
    grant_in_turn(keys, bounds, woken);
}

/// The oldest waiter of a key gets a slot.
fn grant(key: &mut Compartment, turns: &mut Turns) -> Option<Waker> {
    key.running += 1;
    turns.runs_one_more();
    key.queued -= 1;
    turns.queued -= 1;
    key.line().call_next()
}

/// A place at the back of the ring, for a key that has a slot and somebody waiting, and no place.
fn take_turn(key: &mut Compartment, turns: &mut Turns, at: u32, bounds: Bounds) {
    if bounds.total.is_none() || key.queued == 0 || key.running >= key.slots(bounds) || key.turn.is_some() {
        return;
    }
    let turn = turns.next;
    turns.next += 1;
    key.turn = Some(turn);
    turns.live += 1;
    turns.ring.push_back((at, turn));
}

/// Gives what the total has left to the keys in turn.
fn grant_in_turn(keys: &mut Keys, bounds: Bounds, woken: &mut Vec<Waker>) {
    while has_room(&keys.shared, bounds) {
        let Some((at, turn)) = keys.shared.ring.pop_front() else { break };
        let Some((key, turns)) = keys.both(at).filter(|(key, _)| key.turn == Some(turn)) else { continue };
        key.turn = None;
        turns.live -= 1;
        // Its bounds may have been cut since.
        if key.queued > 0 && key.running < key.slots(bounds) {
            woken.extend(grant(key, turns));
        }
        take_turn(key, turns, at, bounds);
    }
    tidy(keys);
}

/// Drops places that nobody has, once they are most of the ring.
fn tidy(keys: &mut Keys) {
    if keys.shared.ring.len() < 16 + 2 * keys.shared.live {
        return;
    }
    let ring = std::mem::take(&mut keys.shared.ring);
    let kept = ring.into_iter().filter(|&(at, turn)| keys.both(at).is_some_and(|(key, _)| key.turn == Some(turn)));
    keys.shared.ring = kept.collect();
}
