//! A part of a number that several processes share: all of it, one of `n` equal parts, or so much.
//!
//! A limit is a number that somebody wrote down; what is in force in one process is a share of it. Both are kept, so that
//! whoever changes the limit need not know who has which share, and whoever is given a share need not know the limit.
//!
//! **An equal part is never nothing.** A process that cannot ask anybody takes one of `n` equal parts, rounded down, and
//! at least one: where the number is smaller than `n`, the parts together are larger than the number. A share that was
//! given out may well be nothing.
//!
//! Invariants: no share is larger than its number; `n` equal parts together are at most the number or `n`, whichever is
//! larger.

/// Which part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// All of it: nobody shares.
    Whole,
    /// One of so many equal parts.
    Part(u32),
    /// So much, given out by somebody who knows what others have.
    Leased(u32),
}

const PART: u64 = 1 << 32;
const LEASED: u64 = 2 << 32;

impl Share {
    /// How much that is of a number.
    pub(crate) fn of(self, whole: u32) -> u32 {
        match self {
            Self::Whole => whole,
            Self::Part(parts) => (whole / parts.max(1)).max(1).min(whole),
            Self::Leased(much) => much.min(whole),
        }
    }

    /// As a number, to be kept in an atomic.
    pub(crate) fn to_raw(self) -> u64 {
        match self {
            Self::Whole => 0,
            Self::Part(parts) => PART | u64::from(parts),
            Self::Leased(much) => LEASED | u64::from(much),
        }
    }

    /// The share behind a number.
    #[allow(clippy::cast_possible_truncation)] // the lower half is what is wanted
    pub(crate) fn from_raw(raw: u64) -> Self {
        match raw >> 32 {
            1 => Self::Part(raw as u32),
            2 => Self::Leased(raw as u32),
            _ => Self::Whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_rounded_down_and_never_nothing_and_a_lease_may_be() {
        assert_eq!([64, 7, 3, 0].map(|whole| Share::Part(8).of(whole)), [8, 1, 1, 0]);
        assert_eq!(Share::Part(0).of(5), 5, "nobody is one");
        assert_eq!([Share::Leased(0).of(64), Share::Leased(9).of(64), Share::Leased(90).of(64)], [0, 9, 64]);
        assert_eq!(Share::Whole.of(64), 64);
    }

    #[test]
    fn a_share_survives_being_a_number() {
        for share in [Share::Whole, Share::Part(8), Share::Leased(0), Share::Leased(u32::MAX)] {
            assert_eq!(Share::from_raw(share.to_raw()), share);
        }
    }
}
