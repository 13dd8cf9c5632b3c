//! A compartment that lets everyone in and keeps the books of one that does not.
//!
//! Those who observe a bulkhead share a compartment of their own, the *twin* of the one that others enforce. Its slots and
//! its queue are real: a caller takes a slot, or a place in the queue, or finds neither and would have been refused, by
//! the same code and in the same order as in the other. Only, the caller runs in any case, and gives back what it took
//! when it has ended. A caller that found no place has none: counting it as running would make every later one look
//! refused too, where in truth it would have gone away and left room.
//!
//! **Why not in the compartment itself.** Whoever turns observing on must not thereby change what happens to anyone. Let
//! in without bound, observers would fill the slots of those who enforce the same name, and get them refused. So they
//! never touch its word. The other way round they do look: a slot that is taken by a caller who enforces is not free for
//! an observer, so while a name is being moved over site by site the observers go on saying what would be.
//!
//! What cannot be known is what the relief would have changed: under a bulkhead that is enforced, those that are let in
//! have the dependency to themselves and may well be faster. So the figures are an upper bound where load is what makes
//! the dependency slow. And a caller that would have waited has begun its work already, so its place comes free earlier
//! than it would have.
//!
//! Invariants: the twin's figures never exceed its slots and its queue; observing never writes to the compartment that is
//! enforced.

use std::task::Waker;

use super::guard::{Held, Waiting};
use super::{Bulkhead, InKey, Keyed, Occupancy, Queued};
use crate::call::Detail;

/// What would have become of a caller.
pub(crate) enum Would {
    /// It would have run at once.
    Run(Held),
    /// It would have waited. With a slot where the twin has one and the other compartment does not.
    Wait(Result<Held, Waiting>),
    /// It would have been refused.
    Refuse(Detail),
}

impl Bulkhead {
    /// The place a caller would have in this twin of a compartment that stands as `beside`, where others enforce it.
    pub(crate) fn observe(&'static self, beside: Option<Occupancy>, call: u64) -> Would {
        if let Some(held) = self.borrow(call) {
            return Would::Run(held);
        }
        let (others, others_queued) = beside.map_or((0, 0), |it| (it.running, it.queued));
        let seen = self.occupancy();
        let (running, queued) = (seen.running + others, seen.queued + others_queued);
        let is_free = queued == 0 && running < seen.slots;
        if is_free && let Some(slot) = self.try_enter() {
            return Would::Run(Held::own(slot, call));
        }
        let full = Detail::Full { name: self.name(), slots: seen.slots, running, queue: seen.queue, queued };
        if !is_free && queued >= seen.queue {
            return Would::Refuse(full);
        }
        // Nobody is woken: the caller runs, and looks when it wants to know.
        match self.enqueue(Waker::noop().clone()) {
            Queued::Slot(slot) if is_free => Would::Run(Held::own(slot, call)),
            Queued::Slot(slot) => Would::Wait(Ok(Held::own(slot, call))),
            Queued::Waiting(waiting) => Would::Wait(Err(waiting)),
            Queued::Full(why) => Would::Refuse(why),
        }
    }
}

impl Keyed {
    /// The same for a key. Those who enforce the name are not looked at: a key of theirs is another compartment.
    pub(crate) fn observe(&'static self, key: InKey, call: u64) -> Would {
        if let Some(held) = self.borrow(key, call) {
            return Would::Run(held);
        }
        let asked = self.try_enter(key);
        let has_to_wait = asked.is_none();
        match asked.unwrap_or_else(|| self.enqueue(key, Waker::noop().clone())) {
            // It came free between the two.
            Queued::Slot(slot) if has_to_wait => Would::Wait(Ok(Held::own(slot, call))),
            Queued::Slot(slot) => Would::Run(Held::own(slot, call)),
            Queued::Waiting(waiting) => Would::Wait(Err(waiting)),
            Queued::Full(why) => Would::Refuse(why),
        }
    }
}
