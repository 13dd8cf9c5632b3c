//! What a site declares: how long a call may take in all.

/// The length of the scope a call opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    nanos: u64,
}

impl Config {
    /// A length in nanoseconds; the attribute refuses zero.
    pub(crate) const fn new(nanos: u64) -> Self {
        Self { nanos }
    }

    pub(crate) const fn nanos(self) -> u64 {
        self.nanos
    }
}
