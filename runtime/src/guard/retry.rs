//! A guard's retries, in types: `retry(..)` of the attribute.
//!
//! Which of the closure's errors are tried again, and which are final, is asked of the guard's judge; what stands here
//! is everything else.
//!
//! Invariant: what is checked here is what `macros/src/parse/retry.rs` and `macros/src/validate.rs` check.

use std::borrow::Cow;
use std::time::Duration;

use super::backoff::{self, Backoff};
use super::mistakes::Mistakes;
use super::sites::interned;
use crate::declaration::limits::{MOST_PER_SECOND, MOST_RETRIES};
use crate::strategies::retry::Config;

/// Which failed attempts are followed by another. A number will do: `.retry(2)`.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::{Backoff, Budget, Retry, RetryOn};
///
/// let long = Retry::new(3)
///     .backoff(Backoff::between(Duration::from_millis(50), Duration::from_secs(2)))
///     .on([RetryOn::Error, RetryOn::Full])
///     .max_duration(Duration::from_secs(3))
///     .budget(Budget::share(0.1).per_second(5.0));
/// # let _ = long;
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until a guard is given it"]
pub struct Retry {
    times: u32,
    backoff: Option<Backoff>,
    on: Option<Vec<RetryOn>>,
    max_duration: Option<Duration>,
    budget: Option<Budget>,
}

/// What is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryOn {
    /// The closure's own errors, as the guard's judge has it.
    Error,
    /// Attempts that timed out; only with [`Builder::idempotent`](super::Builder::idempotent).
    Timeout,
    /// Refusals by a full bulkhead.
    Full,
    /// Waits for a slot that were in vain.
    Wait,
    /// Refusals by a rate limit.
    Rate,
    /// Refusals by the breaker, so that the pauses wait out its cooldown.
    Open,
}

impl From<u32> for Retry {
    fn from(times: u32) -> Self {
        Self::new(times)
    }
}

impl Retry {
    /// Up to so many further attempts, 1 to 100.
    pub fn new(times: u32) -> Self {
        Self { times, backoff: None, on: None, max_duration: None, budget: None }
    }

    /// How long the pauses are. Default: exponential from 50 ms to 2 s, full jitter.
    pub fn backoff(self, backoff: Backoff) -> Self {
        Self { backoff: Some(backoff), ..self }
    }

    /// Exactly what is tried again. Default: the closure's errors, and timeouts where the guard is idempotent.
    pub fn on(self, causes: impl IntoIterator<Item = RetryOn>) -> Self {
        Self { on: Some(causes.into_iter().collect()), ..self }
    }

    /// No further attempt begins later than this after the first; it cuts none short. Default: no bound.
    pub fn max_duration(self, length: Duration) -> Self {
        Self { max_duration: Some(length), ..self }
    }

    /// How many retries all calls together may make. Default: a fifth of the calls and one a second, of its own.
    pub fn budget(self, budget: Budget) -> Self {
        Self { budget: Some(budget), ..self }
    }

    pub(super) fn check(
        self,
        idempotent: bool,
        has_bulkhead: bool,
        has_rate: bool,
        mistakes: &mut Mistakes,
    ) -> impl FnOnce() -> Config + use<> {
        let Self { times, backoff, on, max_duration, budget } = self;
        mistakes.count(
            "retry",
            times,
            &(1..=MOST_RETRIES),
            "write how many further attempts there may be, or leave it out",
        );
        let backoff = backoff.map(|backoff| backoff.check(mistakes));
        if let (Some(most), Some(longest)) = (max_duration, backoff.as_ref().and_then(backoff::Checked::longest))
            && u128::from(longest) >= most.as_nanos()
        {
            mistakes.add(
                format!("the longest pause could not end before the {most:?} of `max_duration`"),
                "write a longer `max_duration`, or shorter pauses",
            );
        }
        let max_duration =
            max_duration.map(|length| mistakes.length("max_duration", length, "nothing would ever be retried"));
        if let Some(budget) = &budget {
            budget.check(mistakes);
        }
        if let Some(on) = &on {
            mistakes.list("retry.on", on, "nothing would ever be retried");
            if on.contains(&RetryOn::Timeout) && !idempotent {
                mistakes.add(
                    "an attempt that timed out may have written before it was cut off, and trying again would write twice",
                    "add `idempotent()` if running twice does no harm, or take Timeout out of the list",
                );
            }
            if on.contains(&RetryOn::Rate) && !has_rate {
                mistakes.add(
                    "Rate is a rate limit's refusal, and this guard has none",
                    "add `rate`, or take it out of the list of `retry`",
                );
            }
            for cause in [RetryOn::Full, RetryOn::Wait] {
                if on.contains(&cause) && !has_bulkhead {
                    mistakes.add(
                        format!("{cause:?} is a bulkhead's refusal, and this guard has no bulkhead"),
                        "add `bulkhead`, or take it out of the list of `retry`",
                    );
                }
            }
        }
        move || {
            let mut config = Config::new(times);
            config = backoff.map_or(config, |backoff| backoff.apply(config));
            config = max_duration.map_or(config, |nanos| config.max_duration(nanos));
            config = budget.map_or(config, |budget| budget.apply(config));
            let named = |cause| on.as_ref().map_or(cause == RetryOn::Error, |on| on.contains(&cause));
            let marks = [
                (!named(RetryOn::Error), Config::not_on_error as fn(Config) -> Config),
                // Without a list, whoever says that running twice does no harm means the timeouts.
                (named(RetryOn::Timeout) || (on.is_none() && idempotent), Config::on_timeout),
                (named(RetryOn::Full), Config::on_full),
                (named(RetryOn::Wait), Config::on_wait),
                (named(RetryOn::Rate), Config::on_rate),
                (named(RetryOn::Open), Config::on_open),
            ];
            marks.into_iter().filter(|(set, _)| *set).fold(config, |config, (_, mark)| mark(config))
        }
    }
}

/// How many retries all calls together may make.
#[derive(Clone, Debug)]
#[must_use = "does nothing until retries are given it"]
pub struct Budget(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Share { name: Option<Cow<'static, str>>, per_call: f64, per_second: f64 },
    Join(Cow<'static, str>),
    Off,
}

impl Budget {
    /// So much of a retry for each call, 0 to 1, and one retry a second on top.
    pub const fn share(per_call: f64) -> Self {
        Self(Kind::Share { name: None, per_call, per_second: 1.0 })
    }

    /// So many retries a second on top, up to a million.
    pub fn per_second(mut self, granted: f64) -> Self {
        if let Kind::Share { per_second, .. } = &mut self.0 {
            *per_second = granted;
        }
        self
    }

    /// Lets others draw from it, too.
    pub fn named(mut self, shared: impl Into<Cow<'static, str>>) -> Self {
        if let Kind::Share { name, .. } = &mut self.0 {
            *name = Some(shared.into());
        }
        self
    }

    /// Draws from one that is declared elsewhere.
    pub fn join(name: impl Into<Cow<'static, str>>) -> Self {
        Self(Kind::Join(name.into()))
    }

    /// None: retries are bounded by their number and the deadline alone.
    pub const fn off() -> Self {
        Self(Kind::Off)
    }

    fn check(&self, mistakes: &mut Mistakes) {
        let (name, per_call, per_second) = match &self.0 {
            Kind::Share { name, per_call, per_second } => (name.as_ref(), *per_call, *per_second),
            Kind::Join(name) => (Some(name), 1.0, 1.0),
            Kind::Off => return,
        };
        if let Some(name) = name {
            mistakes.name("budget", name);
        }
        if !(0.0..=1.0).contains(&per_call) {
            let what = format!("the budget's share is {per_call}: it has to be from 0 to 1, more is no budget");
            mistakes.add(what, "write 0.1 for a retry per ten calls, or `Budget::off()`");
        }
        if !(0.0..=MOST_PER_SECOND).contains(&per_second) {
            let what =
                format!("the budget grants {per_second} a second: it has to be from 0 to a million, more is no budget");
            mistakes.add(what, "write fewer, or `Budget::off()`");
        }
        if per_call == 0.0 && per_second == 0.0 {
            mistakes.add("by this budget nothing would ever be retried", "leave `retry` out, or allow some");
        }
    }

    fn apply(self, config: Config) -> Config {
        match self.0 {
            Kind::Share { name, per_call, per_second } => {
                let config = config.budget(per_call, per_second);
                name.map_or(config, |name| config.budget_name(interned(name)))
            }
            Kind::Join(name) => config.join_budget(interned(name)),
            Kind::Off => config.no_budget(),
        }
    }
}
