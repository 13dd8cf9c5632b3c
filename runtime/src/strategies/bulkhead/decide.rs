//! The whole state of a compartment as one word, and what each event makes of it. Pure: no atomics, no time.
//!
//! ```text
//!   bits 0..20  running     bits 20..40  queued     bits 40..60  slots
//! ```
//!
//! Twenty bits hold a million and leave room for one addition, so no sum can carry into its neighbour; the attribute and
//! the settings refuse larger numbers.
//!
//! Invariant of every word these functions return: `queued > 0` implies `running >= slots`.

/// Running, queued and slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u64);

const BITS: u32 = 20;
const MASK: u64 = (1 << BITS) - 1;
const RUNNING: u64 = 1;
const QUEUED: u64 = 1 << BITS;
const SLOTS_AT: u32 = 2 * BITS;

/// What a caller that would rather wait than go away gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Slot(Word),
    Queue(Word),
    Full,
}

/// What giving a slot back does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// One fewer runs.
    Free(Word),
    /// One fewer waits; as many run, since the oldest waiter has it now.
    HandOver(Word),
}

impl Word {
    pub(crate) fn empty(slots: u32) -> Self {
        Self(u64::from(slots) << SLOTS_AT)
    }

    #[inline]
    pub(crate) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(crate) fn to_raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn running(self) -> u32 {
        (self.0 & MASK) as u32
    }

    #[inline]
    pub(crate) fn queued(self) -> u32 {
        ((self.0 >> BITS) & MASK) as u32
    }

    #[inline]
    pub(crate) fn slots(self) -> u32 {
        ((self.0 >> SLOTS_AT) & MASK) as u32
    }

    /// One more runs, if nobody waits and a slot is free.
    #[inline]
    pub(crate) fn admit(self) -> Option<Self> {
        (self.queued() == 0 && self.running() < self.slots()).then_some(Self(self.0 + RUNNING))
    }

    /// One more runs, else waits, else nothing.
    #[inline]
    pub(crate) fn enqueue(self, bound: u32) -> Admission {
        match self.admit() {
            Some(word) => Admission::Slot(word),
            None if self.queued() < bound => Admission::Queue(Self(self.0 + QUEUED)),
            None => Admission::Full,
        }
    }

    /// A slot comes back. After a cut in slots it stays with nobody until no more run than may.
    #[inline]
    pub(crate) fn release(self) -> Release {
        if self.queued() > 0 && self.running() <= self.slots() {
            Release::HandOver(Self(self.0 - QUEUED))
        } else {
            Release::Free(Self(self.0 - RUNNING))
        }
    }

    /// A waiter gets a slot that was added.
    pub(crate) fn grant(self) -> Option<Self> {
        (self.queued() > 0 && self.running() < self.slots()).then(|| Self(self.0 + RUNNING - QUEUED))
    }

    /// A waiter goes away.
    pub(crate) fn leave_queue(self) -> Self {
        Self(self.0 - QUEUED)
    }

    pub(crate) fn with_slots(self, slots: u32) -> Self {
        Self(self.0 & !(MASK << SLOTS_AT) | (u64::from(slots) << SLOTS_AT))
    }
}
