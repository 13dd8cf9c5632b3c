//! What a site declares about its breaker.
//!
//! | setting | default | why |
//! |---|---|---|
//! | window | 100 results | long enough that one bad second does not decide, short enough to notice within a few |
//! | failures | 50 % | a dependency that fails every other call is not up |
//! | `min_calls` | 20, or the window if that is smaller | below this a rate is an anecdote |
//! | cooldown | 5 s | what a restarted process needs to be back |
//! | probes | 1 | the gentlest question |

/// A declaration of a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// `None`: the site's own, known by the site's name.
    pub(crate) name: Option<&'static str>,
    /// `None`: joins one that another site declares.
    pub(crate) rules: Option<Rules>,
}

/// When it opens, for how long, and how it asks again. The cooldown is in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rules {
    pub(crate) window: u32,
    pub(crate) failures: f64,
    pub(crate) min_calls: u32,
    pub(crate) cooldown: u64,
    pub(crate) probes: u32,
}

impl Rules {
    pub(crate) const DEFAULT: Self =
        Self { window: 100, failures: 0.5, min_calls: 20, cooldown: 5_000_000_000, probes: 1 };

    /// The stricter of two declarations, figure by figure: opens sooner, stays open longer, asks more gently.
    pub(crate) fn stricter(self, other: Self) -> Self {
        Self {
            window: self.window.min(other.window),
            failures: self.failures.min(other.failures),
            min_calls: self.min_calls.min(other.min_calls),
            cooldown: self.cooldown.max(other.cooldown),
            probes: self.probes.min(other.probes),
        }
    }
}

impl Config {
    /// The site's own breaker, with the defaults.
    pub const fn own() -> Self {
        Self { name: None, rules: Some(Rules::DEFAULT) }
    }

    /// A breaker shared by name, with the defaults.
    pub const fn named(name: &'static str) -> Self {
        Self { name: Some(name), rules: Some(Rules::DEFAULT) }
    }

    /// Joins a breaker that another site declares.
    pub const fn join(name: &'static str) -> Self {
        Self { name: Some(name), rules: None }
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
        self.with(Rules { window, min_calls, ..rules })
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
}
