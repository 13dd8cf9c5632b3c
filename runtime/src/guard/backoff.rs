//! The pauses between a guard's attempts, in types: `backoff(CURVE, ..)` of the attribute.
//!
//! Invariant: what is checked here is what `macros/src/parse/backoff.rs` checks.

use std::time::Duration;

use super::mistakes::Mistakes;
use crate::declaration::limits::MOST_FACTOR;
use crate::strategies::retry::Config;

/// How long the pauses between attempts are, and how they grow.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::{Backoff, Jitter};
///
/// let doubling = Backoff::between(Duration::from_millis(50), Duration::from_secs(2));
/// let slower = Backoff::exponential().factor(1.5).first(Duration::from_millis(20)).jitter(Jitter::Equal);
/// # let _ = (doubling, slower);
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "does nothing until retries are given it"]
pub struct Backoff {
    curve: Curve,
    first: Option<Duration>,
    cap: Option<Duration>,
    factor: Option<f64>,
    jitter: Option<Jitter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    Exponential,
    Constant,
    Linear,
    Fibonacci,
    Decorrelated,
}

/// How pauses are spread, so that callers that failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jitter {
    /// Between nothing and the bound.
    Full,
    /// Between half of the bound and all of it.
    Equal,
    /// At the bound.
    None,
    /// So much below or above the bound, and never above the cap.
    Within(Duration),
}

impl Backoff {
    const fn new(curve: Curve) -> Self {
        Self { curve, first: None, cap: None, factor: None, jitter: None }
    }

    /// Doubling from the first pause to the longest, with full jitter.
    pub const fn between(first: Duration, longest: Duration) -> Self {
        Self { first: Some(first), cap: Some(longest), ..Self::new(Curve::Exponential) }
    }

    /// Multiplied each time, by [`Backoff::factor`].
    pub const fn exponential() -> Self {
        Self::new(Curve::Exponential)
    }

    /// Always the first.
    pub const fn constant() -> Self {
        Self::new(Curve::Constant)
    }

    /// Longer by the first each time.
    pub const fn linear() -> Self {
        Self::new(Curve::Linear)
    }

    /// Longer by the one before each time: 1, 2, 3, 5 times the first.
    pub const fn fibonacci() -> Self {
        Self::new(Curve::Fibonacci)
    }

    /// Drawn between the first and three times the one before.
    pub const fn decorrelated() -> Self {
        Self::new(Curve::Decorrelated)
    }

    /// The bound of the first pause. Default: 50 ms.
    pub const fn first(mut self, length: Duration) -> Self {
        self.first = Some(length);
        self
    }

    /// No pause is longer. Default: 2 s, or the first where that is longer.
    pub const fn cap(mut self, length: Duration) -> Self {
        self.cap = Some(length);
        self
    }

    /// What exponential pauses are multiplied by, 1 to 100. Default: 2.
    pub const fn factor(mut self, factor: f64) -> Self {
        self.factor = Some(factor);
        self
    }

    /// How they are spread. Default: [`Jitter::Full`].
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = Some(jitter);
        self
    }

    pub(super) fn check(self, mistakes: &mut Mistakes) -> Checked {
        const ZERO: &str = "without a pause the next attempt meets the same failure";
        let first = self.first.map(|length| mistakes.length("first", length, ZERO));
        let cap = self.cap.map(|length| mistakes.length("cap", length, ZERO));
        let jitter = match self.jitter {
            Some(Jitter::Within(length)) => mistakes.length("jitter", length, "that moves nothing"),
            _ => 0,
        };
        if self.factor.is_some_and(|factor| !(1.0..=MOST_FACTOR).contains(&factor)) {
            mistakes.add(format!("`factor` has to be a number from 1 to {MOST_FACTOR}"), "write 2.0 to double");
        }
        let useless = [
            (
                self.factor.is_some() && self.curve != Curve::Exponential,
                "only exponential pauses are multiplied",
                "leave `factor` out, or begin with `Backoff::exponential()`",
            ),
            (
                self.cap.is_some() && self.curve == Curve::Constant,
                "constant pauses do not grow, so there is nothing to cap",
                "leave `cap` out, or begin with `Backoff::exponential()`",
            ),
            (
                self.jitter.is_some() && self.curve == Curve::Decorrelated,
                "decorrelated pauses are drawn already",
                "leave `jitter` out, or begin with `Backoff::exponential()`",
            ),
        ];
        for (_, what, remedy) in useless.into_iter().filter(|(wrong, ..)| *wrong) {
            mistakes.add(what, remedy);
        }
        if let (Some(first), Some(cap)) = (first, cap)
            && first > cap
        {
            mistakes
                .add("the longest pause is shorter than the first one", "write a longer `cap`, or a shorter `first`");
        }
        Checked { backoff: self, first, cap, jitter }
    }
}

/// A backoff in nanoseconds.
pub(super) struct Checked {
    backoff: Backoff,
    first: Option<u64>,
    cap: Option<u64>,
    jitter: u64,
}

impl Checked {
    /// The longest pause, as far as it was written.
    pub(super) fn longest(&self) -> Option<u64> {
        self.cap.or(self.first)
    }

    pub(super) fn apply(&self, config: Config) -> Config {
        let Backoff { curve, factor, jitter, .. } = self.backoff;
        let mut config = match curve {
            Curve::Exponential => factor.map_or(config, |factor| config.factor(factor)),
            Curve::Constant => config.constant(),
            Curve::Linear => config.linear(),
            Curve::Fibonacci => config.fibonacci(),
            Curve::Decorrelated => config.decorrelated(),
        };
        // The first one lifts the default cap where it is longer, so it comes before a cap that was written.
        config = self.first.map_or(config, |nanos| config.first(nanos));
        config = self.cap.map_or(config, |nanos| config.cap(nanos));
        match jitter {
            None | Some(Jitter::Full) => config,
            Some(Jitter::Equal) => config.jitter_equal(),
            Some(Jitter::None) => config.jitter_none(),
            Some(Jitter::Within(_)) => config.jitter_within(self.jitter),
        }
    }
}
