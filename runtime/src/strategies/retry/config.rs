//! What a site declares about its retries.
//!
//! | setting | default | unit | why |
//! |---|---|---|---|
//! | backoff | exponential, 50 ms doubling up to 2 s | lengths | long enough for a blip to pass, short enough for a person to wait |
//! | jitter | full | | callers that failed together must not come back together |
//! | `max_duration` | none | length | the deadline and the number of attempts bound it already |
//! | on | the body's own errors, by their class | | whoever wrote `retry` meant those |
//! | budget | the site's own: 20 % of the calls of ten seconds, and one a second | retries | a total outage costs a fifth more load; a quiet site may still retry |
//!
//! Lengths are in nanoseconds.

use super::backoff::longest;

/// A declaration of retries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    pub(crate) max: u32,
    pub(crate) backoff: Backoff,
    pub(crate) max_duration: Option<u64>,
    /// `None` with a name: joins one that another site declares; without one: no budget.
    pub(crate) budget: Option<Allowance>,
    /// `None`: the site's own.
    pub(crate) budget_name: Option<&'static str>,
    pub(crate) on: Causes,
}

/// How the pauses grow, from where to where, and how they are spread. In nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backoff {
    pub(crate) curve: Curve,
    pub(crate) first: u64,
    pub(crate) cap: u64,
    pub(crate) jitter: Jitter,
}

/// How the bound of the pauses grows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    Constant,
    Linear,
    Fibonacci,
    /// At least 1.
    Exponential {
        factor: f64,
    },
    Decorrelated,
}

/// Where below the bound a pause lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jitter {
    /// Between nothing and the bound.
    Full,
    /// Between half of the bound and all of it.
    Equal,
    /// At the bound.
    None,
    /// So much below or above the bound, and never above the cap.
    Within(u64),
}

impl Backoff {
    pub(crate) const DEFAULT: Self =
        Self { curve: Curve::Exponential { factor: 2.0 }, first: 50_000_000, cap: 2_000_000_000, jitter: Jitter::Full };
}

/// What a budget grants: a share of a retry per call, and retries a second on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Allowance {
    pub(crate) per_call: f64,
    pub(crate) per_second: f64,
}

impl Allowance {
    pub(crate) const DEFAULT: Self = Self { per_call: 0.2, per_second: 1.0 };

    /// The stricter of two declarations, figure by figure.
    pub(crate) fn stricter(self, other: Self) -> Self {
        Self { per_call: self.per_call.min(other.per_call), per_second: self.per_second.min(other.per_second) }
    }
}

/// What is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // a set of six independent words of the attribute
pub(crate) struct Causes {
    pub(crate) error: bool,
    pub(crate) timeout: bool,
    pub(crate) full: bool,
    pub(crate) wait: bool,
    pub(crate) rate: bool,
    pub(crate) open: bool,
}

impl Config {
    /// The sum of all pauses when every one of them is the longest it can be, in nanoseconds. A hint of the other side may
    /// ask for more.
    pub(crate) fn longest_pauses(&self) -> u64 {
        longest(self.backoff, self.max)
    }

    /// Up to `max` further attempts, with the defaults for the rest.
    pub const fn new(max: u32) -> Self {
        Self {
            max,
            backoff: Backoff::DEFAULT,
            max_duration: None,
            budget: Some(Allowance::DEFAULT),
            budget_name: None,
            on: Causes { error: true, timeout: false, full: false, wait: false, rate: false, open: false },
        }
    }

    /// Bounds of the pauses, in nanoseconds: the first pause lies below `first`, none above `cap`.
    #[must_use]
    pub const fn backoff(mut self, first: u64, cap: u64) -> Self {
        self.backoff = Backoff { first, cap, ..self.backoff };
        self
    }

    /// Every pause has the same bound, the first, and no cap.
    #[must_use]
    pub const fn constant(mut self) -> Self {
        self.backoff = Backoff { curve: Curve::Constant, cap: u64::MAX, ..self.backoff };
        self
    }

    /// The bound grows by the first pause each time.
    #[must_use]
    pub const fn linear(mut self) -> Self {
        self.backoff.curve = Curve::Linear;
        self
    }

    /// The bound grows by the bound before it.
    #[must_use]
    pub const fn fibonacci(mut self) -> Self {
        self.backoff.curve = Curve::Fibonacci;
        self
    }

    /// Each pause is drawn between the first and three times the one before.
    #[must_use]
    pub const fn decorrelated(mut self) -> Self {
        self.backoff.curve = Curve::Decorrelated;
        self
    }

    /// The bound is multiplied each time, by 1 or more.
    #[must_use]
    pub const fn factor(mut self, factor: f64) -> Self {
        self.backoff.curve = Curve::Exponential { factor };
        self
    }

    /// The bound of the first pause, in nanoseconds. A cap below it is lifted to it.
    #[must_use]
    pub const fn first(mut self, nanos: u64) -> Self {
        self.backoff.first = nanos;
        if self.backoff.cap < nanos {
            self.backoff.cap = nanos;
        }
        self
    }

    /// No pause is longer, in nanoseconds.
    #[must_use]
    pub const fn cap(mut self, nanos: u64) -> Self {
        self.backoff.cap = nanos;
        self
    }

    /// Keeps half of each pause and draws the rest.
    #[must_use]
    pub const fn jitter_equal(mut self) -> Self {
        self.backoff.jitter = Jitter::Equal;
        self
    }

    /// Draws nothing.
    #[must_use]
    pub const fn jitter_none(mut self) -> Self {
        self.backoff.jitter = Jitter::None;
        self
    }

    /// Moves each pause by up to so many nanoseconds, to either side.
    #[must_use]
    pub const fn jitter_within(mut self, nanos: u64) -> Self {
        self.backoff.jitter = Jitter::Within(nanos);
        self
    }

    /// Begins no attempt later than so many nanoseconds after the first.
    #[must_use]
    pub const fn max_duration(mut self, nanos: u64) -> Self {
        self.max_duration = Some(nanos);
        self
    }

    /// Grants `per_call` of a retry for each call and `per_second` retries a second on top.
    #[must_use]
    pub const fn budget(mut self, per_call: f64, per_second: f64) -> Self {
        self.budget = Some(Allowance { per_call, per_second });
        self
    }

    /// Shares the budget with every site that names it.
    #[must_use]
    pub const fn budget_name(mut self, name: &'static str) -> Self {
        self.budget_name = Some(name);
        self
    }

    /// Shares a budget that another site declares.
    #[must_use]
    pub const fn join_budget(mut self, name: &'static str) -> Self {
        self.budget = None;
        self.budget_name = Some(name);
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

    /// Asks again when the breaker is open: waits until it lets a call through.
    #[must_use]
    pub const fn on_open(mut self) -> Self {
        self.on.open = true;
        self
    }
}
