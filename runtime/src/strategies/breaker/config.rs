//! What a site declares about its breaker.
//!
//! | setting | default | unit | why |
//! |---|---|---|---|
//! | window | 100 | results, or a length of time | long enough that one bad second does not decide, short enough to notice within a few |
//! | failures | 50 % | share of the window | a dependency that fails every other call is not up |
//! | `min_calls` | 20, or the window if that is smaller | results | below this a rate is an anecdote |
//! | slow | off | length of an attempt | only the site knows what slow is |
//! | `slow_rate` | 80 % | share of the window | a few quick answers (from a cache, say) must not hide that all others crawl |
//! | cooldown | 5 s | length | what a restarted process needs to be back |
//! | probes | 1 | attempts | the gentlest question |
//! | on | the body's errors by their class, timeouts | | our own refusals say nothing about the dependency |
//!
//! Lengths are in nanoseconds. What counts (`on`) belongs to the site; everything else belongs to the breaker's name.

/// A declaration of a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// `None`: the site's own, known by the site's name.
    pub(crate) name: Option<&'static str>,
    /// `None`: joins one that another site declares.
    pub(crate) rules: Option<Rules>,
    pub(crate) on: Causes,
}

/// When it opens, for how long, and how it asks again. The cooldown is in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) window: Window,
    pub(crate) failures: f64,
    pub(crate) min_calls: u32,
    pub(crate) slow: Option<Slow>,
    pub(crate) cooldown: u64,
    pub(crate) probes: u32,
}

/// What is judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// The last so many results.
    Calls(u32),
    /// The results of the last so many nanoseconds, in tenths.
    Time(u64),
}

/// When it opens for slowness: attempts that took at least so many nanoseconds, and their share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Slow {
    pub(crate) at_least: u64,
    pub(crate) rate: f64,
}

/// What one site counts against the dependency; a panic always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // a set of four independent words of the attribute
pub(crate) struct Causes {
    pub(crate) error: bool,
    pub(crate) timeout: bool,
    pub(crate) full: bool,
    pub(crate) wait: bool,
}

impl Causes {
    pub(crate) const DEFAULT: Self = Self { error: true, timeout: true, full: false, wait: false };
}

impl Window {
    /// The shorter one. Results and seconds cannot be compared, so where both are declared the results win: they bound
    /// how much must go wrong whatever the traffic.
    fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Calls(one), Self::Calls(two)) => Self::Calls(one.min(two)),
            (Self::Time(one), Self::Time(two)) => Self::Time(one.min(two)),
            (calls @ Self::Calls(_), _) | (_, calls @ Self::Calls(_)) => calls,
        }
    }
}

impl Slow {
    pub(crate) const RATE: f64 = 0.8;

    fn stricter(self, other: Self) -> Self {
        Self { at_least: self.at_least.min(other.at_least), rate: self.rate.min(other.rate) }
    }
}

impl Rules {
    pub(crate) const DEFAULT: Self = Self {
        window: Window::Calls(100),
        failures: 0.5,
        min_calls: 20,
        slow: None,
        cooldown: 5_000_000_000,
        probes: 1,
    };

    /// The stricter of two declarations, figure by figure: opens sooner, stays open longer, asks more gently.
    pub(crate) fn stricter(self, other: Self) -> Self {
        Self {
            window: self.window.stricter(other.window),
            failures: self.failures.min(other.failures),
            min_calls: self.min_calls.min(other.min_calls),
            slow: [self.slow, other.slow].into_iter().flatten().reduce(Slow::stricter),
            cooldown: self.cooldown.max(other.cooldown),
            probes: self.probes.min(other.probes),
        }
    }
}

impl Config {
    /// The site's own breaker, with the defaults.
    pub const fn own() -> Self {
        Self { name: None, rules: Some(Rules::DEFAULT), on: Causes::DEFAULT }
    }

    /// A breaker shared by name, with the defaults.
    pub const fn named(name: &'static str) -> Self {
        Self { name: Some(name), ..Self::own() }
    }

    /// Joins a breaker that another site declares.
    pub const fn join(name: &'static str) -> Self {
        Self { name: Some(name), rules: None, on: Causes::DEFAULT }
    }

    const fn with(mut self, rules: Rules) -> Self {
        self.rules = Some(rules);
        self
    }

    const fn rules(&self) -> Rules {
        match self.rules {
            Some(rules) => rules,
            None => Rules::DEFAULT,
        }
    }

    /// Judges the last `window` results. A window below the minimum number of calls lowers that to itself.
    #[must_use]
    pub const fn window(self, window: u32) -> Self {
        let rules = self.rules();
        let min_calls = if window < rules.min_calls { window } else { rules.min_calls };
        self.with(Rules { window: Window::Calls(window), min_calls, ..rules })
    }

    /// Judges the results of the last so many nanoseconds, at least ten.
    #[must_use]
    pub const fn window_time(self, nanos: u64) -> Self {
        self.with(Rules { window: Window::Time(nanos), ..self.rules() })
    }

    /// Opens at this share of failures, above 0 and up to 1.
    #[must_use]
    pub const fn failures(self, share: f64) -> Self {
        self.with(Rules { failures: share, ..self.rules() })
    }

    /// Does not judge before this many results.
    #[must_use]
    pub const fn min_calls(self, calls: u32) -> Self {
        self.with(Rules { min_calls: calls, ..self.rules() })
    }

    /// Counts attempts that take at least so many nanoseconds as slow, and opens when most are.
    #[must_use]
    pub const fn slow(self, nanos: u64) -> Self {
        self.with(Rules { slow: Some(Slow { at_least: nanos, rate: Slow::RATE }), ..self.rules() })
    }

    /// Opens at this share of slow attempts, above 0 and up to 1; nothing without a length said before.
    #[must_use]
    pub const fn slow_rate(self, share: f64) -> Self {
        let rules = self.rules();
        match rules.slow {
            Some(slow) => self.with(Rules { slow: Some(Slow { rate: share, ..slow }), ..rules }),
            None => self,
        }
    }

    /// Stays open this long, in nanoseconds, less up to a tenth at random.
    #[must_use]
    pub const fn cooldown(self, nanos: u64) -> Self {
        self.with(Rules { cooldown: nanos, ..self.rules() })
    }

    /// Lets this many probes through at once when half-open; all must succeed to close it.
    #[must_use]
    pub const fn probes(self, probes: u32) -> Self {
        self.with(Rules { probes, ..self.rules() })
    }

    /// Does not count the body's own errors.
    #[must_use]
    pub const fn not_on_error(mut self) -> Self {
        self.on.error = false;
        self
    }

    /// Does not count timeouts.
    #[must_use]
    pub const fn not_on_timeout(mut self) -> Self {
        self.on.timeout = false;
        self
    }

    /// Counts refusals by a full bulkhead.
    #[must_use]
    pub const fn on_full(mut self) -> Self {
        self.on.full = true;
        self
    }

    /// Counts waits for a slot that were in vain.
    #[must_use]
    pub const fn on_wait(mut self) -> Self {
        self.on.wait = true;
        self
    }
}
