//! The words that are shared without a lock: what every caller reads, and what each thread counts in.
//!
//! Each is one `u64`, so that reading or writing it is one step and no thread ever sees half of a change.
//!
//! Invariants: a count is seen only under the generation, and the tenth of a window, that it was counted in; a late
//! success never wipes out the count of a later generation.

use super::change::State;

/// Generation, state, and what a success has to do, in one word for those who only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark(u64);

impl Mark {
    const WATCH: u64 = 4;
    const MEASURED: u64 = 8;

    pub(super) fn new(generation: u32, state: State, watch: bool, measured: bool) -> Self {
        let state = match state {
            State::Closed => 0,
            State::Open => 1,
            State::HalfOpen => 2,
            State::Isolated => 3,
        };
        let flags = if watch { Self::WATCH } else { 0 } | if measured { Self::MEASURED } else { 0 };
        Self((u64::from(generation) << 32) | flags | state)
    }

    #[inline]
    pub(super) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(super) fn to_raw(self) -> u64 {
        self.0
    }

    #[inline]
    pub(super) fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn state(self) -> State {
        match self.0 & 3 {
            0 => State::Closed,
            1 => State::Open,
            2 => State::HalfOpen,
            _ => State::Isolated,
        }
    }

    /// Whether a success may be the result that opens it.
    #[inline]
    pub(super) fn watches_successes(self) -> bool {
        self.0 & Self::WATCH != 0
    }

    /// Whether it matters how long a success took, or when it came: there is a window of time or a length that is slow.
    #[inline]
    pub(super) fn measures_successes(self) -> bool {
        self.0 & Self::MEASURED != 0
    }

    /// Whether a success of this generation has only to be counted: closed, and nothing to watch or to measure.
    #[inline]
    pub(super) fn only_counts(self, generation: u32) -> bool {
        self.0 == u64::from(generation) << 32
    }
}

/// A thread's count of successes, marked with the generation it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tagged(u64);

impl Tagged {
    const COUNT_BITS: u32 = 40;
    const COUNT_MASK: u64 = (1 << Self::COUNT_BITS) - 1;

    #[inline]
    pub(super) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(super) fn to_raw(self) -> u64 {
        self.0
    }

    /// Twenty-four bits of the generation tell sixteen million states apart.
    #[inline]
    fn tag(generation: u32) -> u64 {
        u64::from(generation) << Self::COUNT_BITS
    }

    #[inline]
    pub(super) fn count_in(self, generation: u32) -> u64 {
        if self.0 & !Self::COUNT_MASK == Self::tag(generation) { self.0 & Self::COUNT_MASK } else { 0 }
    }

    /// A success of `generation`: starts afresh over the count of an earlier one, leaves that of a later one alone.
    #[inline]
    pub(super) fn one_more(self, generation: u32) -> Self {
        const HALF: u64 = 1 << 63;
        let is_later = (Self::tag(generation).wrapping_sub(self.0 & !Self::COUNT_MASK)) >= HALF;
        // A cell that was never used has the tag of generation 0, which is later than half of all others.
        if is_later && self.0 != 0 {
            return self;
        }
        Self(Self::tag(generation) | ((self.count_in(generation) + 1) & Self::COUNT_MASK))
    }
}

/// A thread's count of successes within one tenth of a time window: marked with that tenth, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Timed(u64);

impl Timed {
    const COUNT_BITS: u32 = 28;
    const TENTH_BITS: u32 = 24;
    const COUNT_MASK: u64 = (1 << Self::COUNT_BITS) - 1;
    const TENTH_MASK: u64 = (1 << Self::TENTH_BITS) - 1;

    #[inline]
    pub(super) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    #[inline]
    pub(super) fn to_raw(self) -> u64 {
        self.0
    }

    /// Of the generation twelve bits are left: four thousand changes within one window would be needed to mix two up.
    /// The tenth's bits come round only after more than sixteen million of them, in a cell nobody wrote to meanwhile.
    #[inline]
    fn tag(generation: u32, tenth: i64) -> u64 {
        let tenth = tenth.cast_unsigned() & Self::TENTH_MASK;
        (u64::from(generation) << (Self::TENTH_BITS + Self::COUNT_BITS)) | (tenth << Self::COUNT_BITS)
    }

    #[inline]
    pub(super) fn count_in(self, generation: u32, tenth: i64) -> u64 {
        if self.0 & !Self::COUNT_MASK == Self::tag(generation, tenth) { self.0 & Self::COUNT_MASK } else { 0 }
    }

    /// A success: starts afresh over whatever is not of this generation and tenth, but for a later generation's. (A
    /// later tenth's is overwritten: it is there only when a test's clock has been put back.)
    #[inline]
    pub(super) fn one_more(self, generation: u32, tenth: i64) -> Self {
        const HALF: u64 = 1 << 63;
        const GENERATION: u64 = !((1 << (Timed::TENTH_BITS + Timed::COUNT_BITS)) - 1);
        let tag = Self::tag(generation, tenth);
        let is_later = (tag & GENERATION).wrapping_sub(self.0 & GENERATION) >= HALF;
        if is_later && self.0 != 0 {
            return self;
        }
        Self(tag | (self.count_in(generation, tenth) + 1).min(Self::COUNT_MASK))
    }
}
