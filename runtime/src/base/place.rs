//! Where a value of a table is: its shard and its place in there, in one word, and how a key finds it.
//!
//! Invariant: a place is good as long as its value is held, and says nothing after that.

use std::hash::Hasher;
use std::num::NonZeroU32;

const INDEX_BITS: u32 = 26;

/// Where a held value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(NonZeroU32);

impl Place {
    pub(super) fn new(shard: usize, at: u32) -> Self {
        let shard = u32::try_from(shard).unwrap_or(0) << INDEX_BITS;
        Self(NonZeroU32::MIN.saturating_add(shard | at))
    }

    pub(super) fn parts(self) -> (usize, u32) {
        let number = self.0.get() - 1;
        ((number >> INDEX_BITS) as usize, number & ((1 << INDEX_BITS) - 1))
    }
}

/// A key's number is as good a hash as any.
#[derive(Debug, Default)]
pub(super) struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[allow(clippy::cast_possible_truncation)] // the half that does not choose the shard
    fn write_u128(&mut self, id: u128) {
        self.0 = id as u64;
    }
}
