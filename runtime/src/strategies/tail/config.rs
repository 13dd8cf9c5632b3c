//! What a site declares: `observe = "SHARE[/runs:N][/cap:DURATION]"`.

/// How many run on at once, unless the declaration says otherwise.
pub(crate) const RUNS: u32 = 2;
/// How many timeouts a watched attempt may run in all, unless the declaration says otherwise.
pub(crate) const CAP: u64 = 10;

/// The share of attempts that are watched beyond their limit, and how many for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// From 0 to 1.
    pub(crate) share: f64,
    pub(crate) runs: Option<u32>,
    /// Nanoseconds from the attempt's start.
    pub(crate) cap: Option<u64>,
}

impl Config {
    /// A share from 0 to 1, which the attribute has checked.
    pub const fn new(share: f64) -> Self {
        Self { share, runs: None, cap: None }
    }

    /// How many may run on at once.
    #[must_use]
    pub const fn runs(self, runs: u32) -> Self {
        Self { runs: Some(runs), ..self }
    }

    /// How long an attempt may run in all, in nanoseconds.
    #[must_use]
    pub const fn cap(self, nanos: u64) -> Self {
        Self { cap: Some(nanos), ..self }
    }

    /// How many may run on at once.
    pub(crate) fn most(&self) -> u32 {
        self.runs.unwrap_or(RUNS)
    }

    /// The longest that a watched attempt runs, under a timeout in nanoseconds.
    pub(crate) fn longest(&self, timeout: u64) -> u64 {
        self.cap.unwrap_or_else(|| timeout.saturating_mul(CAP))
    }
}
