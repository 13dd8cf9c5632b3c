//! What a site declares about its retries.
//!
//! | setting | default | why |
//! |---|---|---|
//! | backoff | 50 ms doubling up to 2 s | long enough for a blip to pass, short enough for a person to wait |
//! | budget | 20 % of the calls of ten seconds, and one a second | a total outage costs a fifth more load; a quiet site may still retry |

/// A declaration of retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    pub(crate) max: u32,
    pub(crate) backoff: Backoff,
    pub(crate) budget: Option<Allowance>,
    pub(crate) on: Causes,
}

/// Bounds of the pauses, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) first: u64,
    pub(crate) cap: u64,
}

/// What a budget grants: a share of a retry per call, and retries a second on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) per_call: f64,
    pub(crate) per_second: f64,
}

/// What is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // a set of five independent words of the attribute
pub(crate) struct Causes {
    pub(crate) error: bool,
    pub(crate) timeout: bool,
    pub(crate) full: bool,
    pub(crate) wait: bool,
    pub(crate) rate: bool,
}

impl Config {
    /// Up to `max` further attempts, with the defaults for the rest.
    pub const fn new(max: u32) -> Self {
        Self {
            max,
            backoff: Backoff { first: 50_000_000, cap: 2_000_000_000 },
            budget: Some(Allowance { per_call: 0.2, per_second: 1.0 }),
            on: Causes { error: true, timeout: false, full: false, wait: false, rate: false },
        }
    }

    /// Bounds of the pauses, in nanoseconds: the first pause lies below `first`, none above `cap`.
    #[must_use]
    pub const fn backoff(mut self, first: u64, cap: u64) -> Self {
        self.backoff = Backoff { first, cap };
        self
    }

    /// Grants `per_call` of a retry for each call and `per_second` retries a second on top.
    #[must_use]
    pub const fn budget(mut self, per_call: f64, per_second: f64) -> Self {
        self.budget = Some(Allowance { per_call, per_second });
        self
    }

    /// Bounds retries by their number and the deadline alone.
    #[must_use]
    pub const fn no_budget(mut self) -> Self {
        self.budget = None;
        self
    }

    /// Does not ask again for the body's own errors.
    #[must_use]
    pub const fn not_on_error(mut self) -> Self {
        self.on.error = false;
        self
    }

    /// Asks again after a timeout; for idempotent functions alone.
    #[must_use]
    pub const fn on_timeout(mut self) -> Self {
        self.on.timeout = true;
        self
    }

    /// Asks again when the bulkhead was full.
    #[must_use]
    pub const fn on_full(mut self) -> Self {
        self.on.full = true;
        self
    }

    /// Asks again when it waited too long for a slot.
    #[must_use]
    pub const fn on_wait(mut self) -> Self {
        self.on.wait = true;
        self
    }

    /// Asks again when a rate limit refused.
    #[must_use]
    pub const fn on_rate(mut self) -> Self {
        self.on.rate = true;
        self
    }
}
