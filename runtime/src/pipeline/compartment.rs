//! What a site takes its slots from: a bulkhead, one key's compartment in it, or the threads behind one.
//!
//! Most sites have a plain bulkhead and most of their calls find a slot free. That way is a few lines, told apart by one
//! flag that is settled when the pipeline is built, and writes the slot where it will stay; the rest is asked for out of
//! line.
//!
//! Invariant: a slot of threads is handed on only with a thread that will take it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Context;

use super::standing::Standing;
use crate::base::clock::Moment;
use crate::call::Detail;
use crate::strategies::bulkhead::{Bulkhead, Held, InKey, Keyed, Queued, Slot, Waiting};
use crate::strategies::isolate::Workers;

/// A bulkhead and how long this site waits for it, in nanoseconds.
pub(crate) struct Compartment {
    pub(super) bulkhead: &'static Bulkhead,
    pub(super) wait: AtomicU64,
    /// The compartments of its keys, if this site has a key.
    pub(super) keyed: Option<&'static Keyed>,
    /// Whether its slots follow what attempts take.
    pub(super) learns: bool,
    /// The threads whose slots it counts.
    workers: Option<&'static Workers>,
    /// Neither keys nor threads.
    plain: bool,
}

/// What the simple way came to.
pub(super) enum Entered {
    Held,
    Refused,
    /// It has to be asked at length.
    NotYet,
}

/// What asking at length came to, short of a refusal.
pub(super) enum Entry {
    Held(Held),
    Waiting(Waiting),
}

impl Compartment {
    /// A bulkhead, of which each key has its own where `keyed` says so.
    pub(super) fn of(bulkhead: &'static Bulkhead, wait: u64, keyed: Option<&'static Keyed>) -> Self {
        let learns = bulkhead.may_learn() && keyed.is_none();
        Self { bulkhead, wait: wait.into(), keyed, learns, workers: None, plain: keyed.is_none() }
    }

    /// Threads, and the bulkhead that stands in front of them.
    pub(super) fn of_threads(door: &'static Bulkhead, wait: u64, workers: &'static Workers) -> Self {
        Self { bulkhead: door, wait: wait.into(), keyed: None, learns: false, workers: Some(workers), plain: false }
    }

    /// How long a caller waits for a slot, in nanoseconds.
    #[inline]
    pub(super) fn patience(&self) -> u64 {
        self.wait.load(Ordering::Relaxed)
    }

    pub(super) fn workers(&self) -> Option<&'static Workers> {
        self.workers
    }

    /// How many wait where this call would.
    pub(super) fn queued(&self, key: Option<InKey>) -> u32 {
        match (self.keyed, key) {
            (Some(keyed), Some((place, _))) => keyed.queued(place),
            _ => self.bulkhead.occupancy().queued,
        }
    }

    /// Decides what most calls come to at a plain bulkhead: the slot this chain of calls holds already, else a free one, taken
    /// to where it will stay; or a refusal, since the queue has no room either.
    #[inline]
    pub(super) fn enter(&self, call: u64, place: &mut Standing, refused: &mut Option<Detail>) -> Entered {
        if !self.plain {
            return Entered::NotYet;
        }
        let own = || self.bulkhead.try_enter().map(|slot| Held::own(slot, call));
        if let Some(held) = self.bulkhead.borrow(call).or_else(own) {
            *place = Standing::Held(held);
            return Entered::Held;
        }
        // Decided by one read, without a lock or a waker.
        *refused = self.bulkhead.full();
        if refused.is_some() { Entered::Refused } else { Entered::NotYet }
    }

    /// Takes what there is after that: a slot of a key or of threads, or a place in the queue. A hedge, which takes what is
    /// there or is not made, gets no reason.
    pub(super) fn ask(
        &self,
        key: Option<InKey>,
        cx: &Context<'_>,
        call: u64,
        is_hedge: bool,
    ) -> Result<Entry, Option<Detail>> {
        if let (Some(keyed), Some(key)) = (self.keyed, key) {
            return ask_key(keyed, key, cx, call, is_hedge);
        }
        if !self.plain {
            if let Some(held) = self.bulkhead.borrow(call) {
                return Ok(Entry::Held(held));
            }
            if let Some(slot) = self.bulkhead.try_enter() {
                return self.staffed(slot, call);
            }
        }
        if is_hedge {
            return Err(None);
        }
        // Asked first, so that a refusal clones no waker and takes no lock.
        if let Some(why) = self.full() {
            return Err(Some(why));
        }
        match self.bulkhead.enqueue(cx.waker().clone()) {
            Queued::Slot(slot) => self.staffed(slot, call),
            Queued::Waiting(waiting) => Ok(Entry::Waiting(waiting)),
            Queued::Full(why) => Err(Some(self.in_own_words(why))),
        }
    }

    fn staffed(&self, slot: Slot, call: u64) -> Result<Entry, Option<Detail>> {
        let held = Held::own(slot, call);
        self.staff().map(|()| Entry::Held(held)).map_err(Some)
    }

    /// A slot of threads is worth nothing without a thread.
    #[inline]
    pub(super) fn staff(&self) -> Result<(), Detail> {
        match self.workers {
            Some(workers) => self.start_thread(workers),
            None => Ok(()),
        }
    }

    fn start_thread(&self, workers: &'static Workers) -> Result<(), Detail> {
        if workers.keep_up(self.bulkhead.occupancy().running) {
            return Ok(());
        }
        Err(Detail::Unstaffed { name: self.bulkhead.name(), threads: workers.standing().started })
    }

    /// Why a caller that has found no slot gets no place in the queue either, if it does not.
    #[inline]
    fn full(&self) -> Option<Detail> {
        match self.workers {
            None => self.bulkhead.full(),
            Some(workers) => self.bulkhead.full().map(|why| self.in_own_words(why)).or_else(|| self.lost(workers)),
        }
    }

    /// The queue has room, and nobody to lead out of it.
    fn lost(&self, workers: &Workers) -> Option<Detail> {
        let seen = self.bulkhead.occupancy();
        workers.is_lost(seen.slots, self.patience(), Moment::now).then(|| Detail::Crowded {
            name: self.bulkhead.name(),
            threads: seen.slots,
            at_large: workers.at_large(),
            queue: seen.queue,
            queued: seen.queued,
        })
    }

    /// A bulkhead's refusal, in the words of whoever stands behind it.
    fn in_own_words(&self, why: Detail) -> Detail {
        match (self.workers, why) {
            (Some(workers), Detail::Full { name, slots, queue, queued, .. }) => {
                Detail::Crowded { name, threads: slots, at_large: workers.at_large(), queue, queued }
            }
            (_, why) => why,
        }
    }

    /// The refusal of a caller that has waited as long as it may.
    pub(super) fn in_vain(&self, waited: u64) -> Detail {
        let (name, slots) = (self.bulkhead.name(), self.bulkhead.occupancy().slots);
        match self.workers {
            None => Detail::Waited { name, slots, waited },
            Some(workers) => Detail::WaitedThread { name, threads: slots, at_large: workers.at_large(), waited },
        }
    }
}

/// The same for the compartment of a key.
fn ask_key(
    keyed: &'static Keyed,
    key: InKey,
    cx: &Context<'_>,
    call: u64,
    is_hedge: bool,
) -> Result<Entry, Option<Detail>> {
    if let Some(held) = keyed.borrow(key, call) {
        return Ok(Entry::Held(held));
    }
    let asked = match keyed.try_enter(key) {
        Some(asked) => asked,
        None if is_hedge => return Err(None),
        // The waker is cloned outside of the lock, and only if it may be wanted.
        None => keyed.enqueue(key, cx.waker().clone()),
    };
    match asked {
        Queued::Slot(slot) => Ok(Entry::Held(Held::own(slot, call))),
        Queued::Waiting(waiting) => Ok(Entry::Waiting(waiting)),
        Queued::Full(why) => Err(Some(why)),
    }
}
