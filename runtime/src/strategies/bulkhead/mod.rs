//! A named compartment: so many may run, so many may wait, everyone else is turned away at once.
//!
//! ```text
//!                 free slot, nobody waiting
//!   caller ───────────────────────────────────────────▶ running ──▶ gives the slot back
//!      │                                                   ▲              │
//!      │ no slot, room in the queue      handed over       │              │ somebody waits:
//!      ├──────────────────────────────▶ waiting ───────────┘◀─────────────┘ the oldest gets it
//!      │ no room                           │
//!      ▼                                   ├─ waited too long, or dropped: leaves the queue
//!   refused at once                        └─ granted and then dropped: the slot passes on
//! ```
//!
//! The bound is what keeps one hung dependency from taking everything: with eight slots it holds eight callers and what
//! they hold, and no ninth. The queue absorbs a burst and no more; a queue without a bound is a promise to answer that
//! nobody will be there to hear.
//!
//! **One word.** How many run, how many wait and how many slots there are stand in one atomic word ([`decide::Word`]).
//! Entering and leaving while nobody waits is one compare-and-swap each and takes no lock, and so is being refused: the
//! word that says "full" is the decision. Only waiting takes the lock, which guards the line itself.
//!
//! **No barging.** A newcomer may take a slot only while nobody waits, and the same comparison checks both. A slot given
//! back while somebody waits is never free in between: it is handed over inside the lock, so the order is strictly first
//! in, first out. (The shape, one word and hand-over under a lock, follows tokio's semaphore; unlike it, leaving takes no
//! lock and the queue is bounded and counted.)
//!
//! **Calls back into the same compartment.** A call that holds a slot and calls another function of the same bulkhead
//! would, once all slots are held that way, wait for itself. It borrows the slot it stands in instead (the ambient
//! context lists it; see [`crate::call::context`]). Lender and borrower normally settle there. A borrower that was moved
//! out of its lender's scope settles with it through a small list under the lock.
//!
//! **Keys** have a compartment each ([`keyed`]); [`home`] is what the two kinds have in common.
//!
//! **How many slots** is a number somebody wrote down, or one that [`adapt`] finds by measuring. The number that was written
//! down may be one of all processes together; what is in the word then is this process's share of it ([`shared`]), so that
//! entering is the same for both.
//!
//! Invariants: at no instant do more than `slots` bodies run that are not waiting for a nested one, nor more than
//! `queue` callers wait; if anybody waits, every slot is taken; whatever path a holder or a waiter takes out (return,
//! error, panic, drop), its place is free afterwards.

mod adapt;
mod config;
pub(crate) mod decide;
mod guard;
mod home;
#[cfg(feature = "futures")]
mod keep;
mod keyed;
mod observe;
mod queue;
mod shared;

#[cfg(all(test, watertight_loom))]
mod loom_tests;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

use std::sync::OnceLock;
use std::task::Waker;

use crate::base::share::Share;
use crate::base::sync::{Apart, AtomicU32, AtomicU64, Mutex, Ordering};
use crate::call::Detail;

pub(crate) use adapt::Ended;
pub use config::Config;
pub(crate) use config::{DEFAULT_WAIT, Limits};
use decide::{Admission, Release, Word};
pub(crate) use guard::{Held, Slot, Waiting};
pub(crate) use home::Home;
#[cfg(feature = "futures")]
pub(crate) use keep::Keep;
pub(crate) use keyed::{InKey, Keyed};
pub(crate) use observe::Would;
use queue::{Line, Ticket};
#[cfg(any(feature = "dashboard", feature = "redis"))]
pub(crate) use shared::Asking;
#[cfg(feature = "redis")]
pub(crate) use shared::KeyDemand;
use shared::{Peaks, Whole};

/// The parts every entry and exit touches, on lines of their own.
#[derive(Debug)]
struct Front {
    word: AtomicU64,
    bound: AtomicU32,
    peak_running: AtomicU32,
    peak_queued: AtomicU32,
}

/// A compartment.
#[derive(Debug)]
pub(crate) struct Bulkhead {
    id: u32,
    name: &'static str,
    front: Apart<Front>,
    past: Peaks,
    /// The number of slots that somebody wrote down, and which share of it is in the word.
    whole: Whole,
    line: Mutex<Line>,
    /// What its slots follow; a stand-in gets it when somebody declares so.
    learner: OnceLock<adapt::Learner>,
    is_stand_in: bool,
    /// The compartments of keys, once somebody has one.
    keyed: OnceLock<Keyed>,
}

/// What asking for a place in the queue came to.
pub(crate) enum Queued {
    Slot(Slot),
    Waiting(Waiting),
    Full(Detail),
}

/// How a compartment stands at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) slots: u32,
    pub(crate) running: u32,
    pub(crate) queue: u32,
    pub(crate) queued: u32,
    pub(crate) peak_running: u32,
    pub(crate) peak_queued: u32,
}

impl Bulkhead {
    /// `id` must be unique in the process, and not 0: the ambient context knows compartments by it.
    pub(crate) fn new(id: u32, name: &'static str, limits: Limits) -> Self {
        Self {
            id,
            name,
            front: Apart(Front {
                word: AtomicU64::new(Word::empty(limits.slots).to_raw()),
                bound: AtomicU32::new(limits.queue),
                peak_running: AtomicU32::new(0),
                peak_queued: AtomicU32::new(0),
            }),
            past: Peaks::default(),
            whole: Whole::new(limits.slots),
            line: Mutex::new(Line::with_room_for(limits.queue)),
            learner: OnceLock::new(),
            is_stand_in: false,
            keyed: OnceLock::new(),
        }
    }

    /// One whose slots are found by measuring, between `floor` and the slots of `limits`.
    pub(crate) fn adaptive(id: u32, name: &'static str, limits: Limits, floor: u32) -> Self {
        let slots = adapt::Learner::first(floor, limits.slots);
        let learner = adapt::Learner::new(floor, limits.slots).into();
        Self { learner, ..Self::new(id, name, Limits { slots, ..limits }) }
    }

    /// One that was joined before anybody has declared it, and may yet turn out to be of either kind.
    pub(crate) fn stand_in(id: u32, name: &'static str) -> Self {
        Self { is_stand_in: true, ..Self::new(id, name, Limits::UNDECLARED) }
    }

    /// Whether its slots follow what is measured, or may one day.
    pub(crate) fn may_learn(&self) -> bool {
        self.is_stand_in || self.is_adaptive()
    }

    /// The slot that the call around the caller's holds of it, if it is not lent yet.
    #[inline]
    pub(crate) fn borrow(&'static self, call: u64) -> Option<Held> {
        Held::borrow(Home::Whole(self), self.id, call)
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    #[inline]
    fn word(&self) -> Word {
        Word::from_raw(self.front.word.load(Ordering::Acquire))
    }

    #[inline]
    fn swap(&self, seen: Word, wanted: Word) -> Result<(), Word> {
        self.front
            .word
            .compare_exchange_weak(seen.to_raw(), wanted.to_raw(), Ordering::AcqRel, Ordering::Acquire)
            .map(|_| ())
            .map_err(Word::from_raw)
    }

    /// Takes a free slot if nobody waits for one.
    #[inline]
    pub(crate) fn try_enter(&'static self) -> Option<Slot> {
        let mut seen = self.word();
        loop {
            let wanted = seen.admit()?;
            match self.swap(seen, wanted) {
                Ok(()) => {
                    self.note_running(wanted);
                    return Some(Slot::of(Home::Whole(self), self.id));
                }
                Err(now) => seen = now,
            }
        }
    }

    /// The refusal a caller gets now, if the queue has no room either: decided by one read.
    #[inline]
    pub(crate) fn full(&self) -> Option<Detail> {
        let seen = self.word();
        let bound = self.front.bound.load(Ordering::Relaxed);
        matches!(seen.enqueue(bound), Admission::Full).then(|| self.describe_full(seen, bound))
    }

    /// Takes a slot or a place in the queue; `waker` is told when the slot is handed over.
    ///
    /// The waker comes in as a clone so that no code of the executor's runs under the lock.
    pub(crate) fn enqueue(&'static self, waker: Waker) -> Queued {
        let mut line = self.line.lock();
        let bound = self.front.bound.load(Ordering::Relaxed);
        let mut seen = self.word();
        loop {
            match seen.enqueue(bound) {
                Admission::Slot(wanted) => match self.swap(seen, wanted) {
                    Ok(()) => {
                        drop(line);
                        self.note_running(wanted);
                        return Queued::Slot(Slot::of(Home::Whole(self), self.id));
                    }
                    Err(now) => seen = now,
                },
                // Counted before it stands in line: a slot given back in between sees the count, comes for the lock,
                // and finds the waiter. The other way round it would see nobody and the waiter would sleep.
                Admission::Queue(wanted) => match self.swap(seen, wanted) {
                    Ok(()) => {
                        let ticket = line.join(waker);
                        self.front.peak_queued.fetch_max(wanted.queued(), Ordering::Relaxed);
                        return Queued::Waiting(Waiting::of(Home::Whole(self), self.id, ticket));
                    }
                    Err(now) => seen = now,
                },
                Admission::Full => return Queued::Full(self.describe_full(seen, bound)),
            }
        }
    }

    #[inline]
    fn describe_full(&self, seen: Word, queue: u32) -> Detail {
        self.whole.note_refused();
        Detail::Full { name: self.name, slots: seen.slots(), running: seen.running(), queue, queued: seen.queued() }
    }

    #[inline]
    fn note_running(&self, word: Word) {
        // Read first: the mark moves a few times in a process's life, and a read of a line we own is free.
        if word.running() > self.front.peak_running.load(Ordering::Relaxed) {
            self.front.peak_running.fetch_max(word.running(), Ordering::Relaxed);
        }
    }

    /// Gives a slot back, to the oldest waiter if there is one.
    #[inline]
    fn release(&self) {
        let mut seen = self.word();
        while let Release::Free(wanted) = seen.release() {
            match self.swap(seen, wanted) {
                Ok(()) => return,
                Err(now) => seen = now,
            }
        }
        self.hand_over();
    }

    #[cold]
    fn hand_over(&self) {
        let woken = {
            let mut line = self.line.lock();
            let mut seen = self.word();
            loop {
                match seen.release() {
                    Release::Free(wanted) => match self.swap(seen, wanted) {
                        Ok(()) => break None,
                        Err(now) => seen = now,
                    },
                    Release::HandOver(wanted) => match self.swap(seen, wanted) {
                        Ok(()) => break line.call_next(),
                        Err(now) => seen = now,
                    },
                }
            }
        };
        // Outside the lock: waking may run the executor's code, and dropping a waker may run anybody's.
        if let Some(waker) = woken {
            waker.wake();
        }
    }

    /// Takes a waiter out of the line. False when it has been handed its slot already.
    fn leave_line(&self, ticket: Ticket) -> bool {
        let removed = {
            let mut line = self.line.lock();
            let Some(waker) = line.leave(ticket) else { return false };
            let mut seen = self.word();
            while let Err(now) = self.swap(seen, seen.leave_queue()) {
                seen = now;
            }
            waker
        };
        drop(removed);
        true
    }

    /// Changes the number of slots and of waiters without losing either: more slots go to those who wait, fewer take
    /// effect as slots are given back, and whoever stands in line stays there.
    pub(crate) fn resize(&self, limits: Limits) {
        self.put_in_force(Some(limits), None);
    }

    /// Changes what was written down, or the share of it, or both.
    fn put_in_force(&self, limits: Option<Limits>, share: Option<Share>) {
        let mut woken = Vec::new();
        let slots = {
            let mut line = self.line.lock();
            if let Some(limits) = limits {
                self.front.bound.store(limits.queue, Ordering::Relaxed);
            }
            let slots = self.whole.change(limits.map(|limits| limits.slots), share);
            let mut seen = self.word();
            while let Err(now) = self.swap(seen, seen.with_slots(slots)) {
                seen = now;
            }
            seen = self.word();
            while let Some(wanted) = seen.grant() {
                match self.swap(seen, wanted) {
                    Ok(()) => {
                        self.note_running(wanted);
                        woken.extend(line.call_next());
                        seen = wanted;
                    }
                    Err(now) => seen = now,
                }
            }
            slots
        };
        woken.into_iter().for_each(Waker::wake);
        if let Some(keyed) = self.keyed.get() {
            keyed.resize(Limits { slots, queue: self.limits().queue }, keyed.whole_total());
        }
    }

    /// Wakes everybody who waits for a slot, so that they look around.
    pub(crate) fn wake_all(&self) {
        let woken: Vec<Waker> = self.line.lock().wakers().collect();
        woken.into_iter().for_each(Waker::wake);
        if let Some(keyed) = self.keyed.get() {
            keyed.wake_all();
        }
    }

    /// The compartments of its keys; `total` bounds them together.
    pub(crate) fn by_key(&'static self, total: Option<u32>) -> &'static Keyed {
        let limits = || Limits { slots: self.word().slots(), queue: self.limits().queue };
        let keyed = self.keyed.get_or_init(|| Keyed::new(self.name, limits(), total).sharing(self.share()));
        let known = keyed.whole_total();
        let tightened = known.zip(total).map(|(one, other)| one.min(other)).or(known);
        if tightened != known {
            keyed.resize(limits(), tightened);
        }
        keyed
    }

    /// The compartments of its keys, if it has any.
    pub(crate) fn keys(&self) -> Option<&Keyed> {
        self.keyed.get()
    }

    /// The limits as they were written down or changed since. The slots in force may be a share of these.
    pub(crate) fn limits(&self) -> Limits {
        Limits { slots: self.whole.slots(), queue: self.front.bound.load(Ordering::Relaxed) }
    }

    pub(crate) fn occupancy(&self) -> Occupancy {
        let seen = self.word();
        Occupancy {
            slots: seen.slots(),
            running: seen.running(),
            queue: self.front.bound.load(Ordering::Relaxed),
            queued: seen.queued(),
            peak_running: self.front.peak_running.load(Ordering::Relaxed).max(self.past.ever()[0]),
            peak_queued: self.front.peak_queued.load(Ordering::Relaxed).max(self.past.ever()[1]),
        }
    }
}
