//! A guard's breaker, in types: `breaker(..)` of the attribute.
//!
//! Which of the closure's errors count is asked of the guard's judge; what stands here is everything else.
//!
//! Invariant: what is checked here is what `macros/src/parse/breaker.rs` and `macros/src/validate.rs` check.

use std::borrow::Cow;
use std::time::Duration;

use super::mistakes::Mistakes;
use super::sites::interned;
use crate::declaration::limits::{LONGEST_WINDOW, MOST_CALLS, MOST_PROBES, SHORTEST_WINDOW, WINDOW};
use crate::strategies::breaker::Config;

/// When calls are refused because the last ones failed. What is not said has the attribute's default.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::Breaker;
///
/// let own = Breaker::own();
/// let shared = Breaker::named("search").window(50).failures(0.2).min_calls(10).cooldown(Duration::from_secs(10));
/// let joined = Breaker::join("search");
/// # let _ = (own, shared, joined);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "does nothing until a guard is given it"]
pub struct Breaker {
    name: Option<Cow<'static, str>>,
    joins: bool,
    window: Option<Window>,
    failures: Option<f64>,
    min_calls: Option<u32>,
    slow: Option<Duration>,
    slow_rate: Option<f64>,
    cooldown: Option<Duration>,
    probes: Option<u32>,
    on: Option<Vec<BreakerOn>>,
}

#[derive(Clone, Copy, Debug)]
enum Window {
    Calls(u32),
    Time(Duration),
}

/// What counts against the dependency; a panic always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerOn {
    /// The closure's own errors, as the guard's judge has it.
    Error,
    /// Attempts that timed out.
    Timeout,
    /// Refusals by a full bulkhead.
    Full,
    /// Waits for a slot that were in vain.
    Wait,
}

impl Breaker {
    /// The guard's own breaker.
    pub fn own() -> Self {
        Self::default()
    }

    /// A breaker that others may join.
    pub fn named(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// Joins one that is declared elsewhere.
    pub fn join(name: impl Into<Cow<'static, str>>) -> Self {
        Self { joins: true, ..Self::named(name) }
    }

    /// Judges the last so many results together, 1 to 100 000. Default: 100.
    pub fn window(self, calls: u32) -> Self {
        Self { window: Some(Window::Calls(calls)), ..self }
    }

    /// Judges the results of the last so long, 100 ms to an hour.
    pub fn window_time(self, length: Duration) -> Self {
        Self { window: Some(Window::Time(length)), ..self }
    }

    /// Opens at this share of failures, 0.001 to 1. Default: 0.5.
    pub fn failures(self, share: f64) -> Self {
        Self { failures: Some(share), ..self }
    }

    /// Does not judge before so many results, at most those of the window. Default: 20, or the window where that is smaller.
    pub fn min_calls(self, calls: u32) -> Self {
        Self { min_calls: Some(calls), ..self }
    }

    /// An attempt that takes so long is slow, whatever it answers; at most the timeout. Default: none is.
    pub fn slow(self, length: Duration) -> Self {
        Self { slow: Some(length), ..self }
    }

    /// Opens at this share of slow attempts, 0.001 to 1. Default: 0.8.
    pub fn slow_rate(self, share: f64) -> Self {
        Self { slow_rate: Some(share), ..self }
    }

    /// Stays open so long, less up to a tenth at random. Default: 5 s.
    pub fn cooldown(self, length: Duration) -> Self {
        Self { cooldown: Some(length), ..self }
    }

    /// Lets so many trial calls through after the cooldown, 1 to 1 000. Default: 1.
    pub fn probes(self, probes: u32) -> Self {
        Self { probes: Some(probes), ..self }
    }

    /// Exactly what counts. Default: errors and timeouts.
    pub fn on(self, causes: impl IntoIterator<Item = BreakerOn>) -> Self {
        Self { on: Some(causes.into_iter().collect()), ..self }
    }

    pub(super) fn check(
        self,
        timeout: Option<Duration>,
        has_bulkhead: bool,
        mistakes: &mut Mistakes,
    ) -> impl FnOnce() -> Config + use<> {
        if let Some(name) = &self.name {
            mistakes.name("breaker", name);
        }
        let written = [self.failures, self.slow_rate].iter().any(Option::is_some)
            || [self.min_calls, self.probes].iter().any(Option::is_some)
            || [self.slow, self.cooldown].iter().any(Option::is_some);
        if self.joins && (written || self.window.is_some() || self.on.is_some()) {
            mistakes.add(
                "a breaker that is joined has its settings from where it is declared",
                "leave them out, or declare the breaker: `Breaker::named(name)`",
            );
        }
        self.check_figures(timeout, mistakes);
        let on = self.on.clone();
        if let Some(on) = &on {
            mistakes.list("breaker.on", on, "nothing counts");
            for cause in [BreakerOn::Full, BreakerOn::Wait] {
                if on.contains(&cause) && !has_bulkhead {
                    mistakes.add(
                        format!("{cause:?} is a bulkhead's refusal, and this guard has no bulkhead"),
                        "add `bulkhead`, or take it out of the breaker's list",
                    );
                }
            }
        }
        let cooldown = "a breaker that closes at once protects nothing";
        let cooldown = self.cooldown.map(|length| mistakes.length("cooldown", length, cooldown));
        let slow = self.slow.map(|length| mistakes.length("slow", length, "every call would be slow"));
        move || self.config(cooldown, slow)
    }

    fn check_figures(&self, timeout: Option<Duration>, mistakes: &mut Mistakes) {
        if let Some(share) = self.failures {
            mistakes.share("failures", share);
        }
        if let Some(share) = self.slow_rate {
            mistakes.share("slow_rate", share);
        }
        if let Some(calls) = self.min_calls {
            mistakes.count(
                "min_calls",
                calls,
                &(1..=MOST_CALLS),
                "write how many calls there must be before a judgement",
            );
        }
        if let Some(probes) = self.probes {
            mistakes.count("probes", probes, &(1..=MOST_PROBES), "write how many trial calls are let through");
        }
        let holds = match self.window {
            None => Some(WINDOW),
            Some(Window::Calls(calls)) => {
                mistakes.count(
                    "window",
                    calls,
                    &(1..=MOST_CALLS),
                    "write how many of the last calls are judged together",
                );
                Some(calls)
            }
            Some(Window::Time(length)) => {
                let (least, most) = (Duration::from_nanos(SHORTEST_WINDOW), Duration::from_nanos(LONGEST_WINDOW));
                if !(least..=most).contains(&length) {
                    mistakes.add(
                        format!("`window_time` is {length:?}: it has to be from 100ms to 1h"),
                        "write for how long results are judged together",
                    );
                }
                None
            }
        };
        if let (Some(holds), Some(calls)) = (holds, self.min_calls)
            && calls > holds
        {
            mistakes.add(
                format!("the window holds {holds} calls, so {calls} would never be reached and it would never open"),
                format!("write `min_calls` of {holds} or less, or a larger `window`"),
            );
        }
        if self.slow_rate.is_some() && self.slow.is_none() {
            mistakes.add("nothing says how long a slow call takes", "add `slow`");
        }
        if let (Some(slow), Some(timeout)) = (self.slow, timeout)
            && slow > timeout
        {
            mistakes.add(
                format!("an attempt is cut off before it has taken the {slow:?} of `slow`, so none would ever be slow"),
                "write a `slow` of the timeout or less",
            );
        }
    }

    /// From what was checked. Lengths are in nanoseconds.
    fn config(self, cooldown: Option<u64>, slow: Option<u64>) -> Config {
        let mut config = match self.name.map(interned) {
            None => Config::own(),
            Some(name) if self.joins => Config::join(name),
            Some(name) => Config::named(name),
        };
        config = match self.window {
            None => config,
            Some(Window::Calls(calls)) => config.window(calls),
            Some(Window::Time(length)) => {
                config.window_time(u64::try_from(length.as_nanos()).unwrap_or(LONGEST_WINDOW))
            }
        };
        config = self.failures.map_or(config, |share| config.failures(share));
        config = self.min_calls.map_or(config, |calls| config.min_calls(calls));
        config = slow.map_or(config, |nanos| config.slow(nanos));
        config = self.slow_rate.map_or(config, |share| config.slow_rate(share));
        config = cooldown.map_or(config, |nanos| config.cooldown(nanos));
        config = self.probes.map_or(config, |probes| config.probes(probes));
        let Some(on) = self.on else { return config };
        let marks = [
            (!on.contains(&BreakerOn::Error), Config::not_on_error as fn(Config) -> Config),
            (!on.contains(&BreakerOn::Timeout), Config::not_on_timeout),
            (on.contains(&BreakerOn::Full), Config::on_full),
            (on.contains(&BreakerOn::Wait), Config::on_wait),
        ];
        marks.into_iter().filter(|(set, _)| *set).fold(config, |config, (_, mark)| mark(config))
    }
}
