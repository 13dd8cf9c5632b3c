//! What a site declares about its hedges.
//!
//! | setting | default | unit | why |
//! |---|---|---|---|
//! | after | none, it has to be said | length, or a percentile of the site's own attempts | nobody else knows what is slow here |
//! | floor | 5 ms, for a percentile | length | below it a timer's lateness of a millisecond or two is a good part of the delay |
//!
//! Lengths are in nanoseconds, percentiles in tenths of one.

/// A declaration of hedges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) after: After,
    pub(crate) floor: u64,
}

/// How long the first attempt may run alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    Fixed(u64),
    /// Tenths of a per cent, 500 to 999.
    Percentile(u32),
}

/// The shortest delay that a percentile comes to.
const FLOOR: u64 = 5_000_000;

impl Config {
    /// After so many nanoseconds.
    pub const fn fixed(nanos: u64) -> Self {
        Self { after: After::Fixed(nanos), floor: 0 }
    }

    /// After what so many tenths of a per cent of the site's own attempts take at most.
    pub const fn percentile(tenths: u32) -> Self {
        Self { after: After::Percentile(tenths), floor: FLOOR }
    }

    /// Never sooner than so many nanoseconds.
    #[must_use]
    pub const fn floor(mut self, nanos: u64) -> Self {
        self.floor = nanos;
        self
    }
}
