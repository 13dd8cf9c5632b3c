//! What a site declares about its fallback.
//!
//! | setting | default | unit | why |
//! |---|---|---|---|
//! | `on` | every failure | | whoever wrote a fallback wants an answer |
//! | `limit` | none | calls | most fallbacks answer at once, and then there is nothing to bound |
//! | `last_good` | none: a function of the user's answers | length | |
//!
//! Lengths are in nanoseconds.

/// A declaration of a fallback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) on: On,
    pub(crate) limit: Option<u32>,
    /// The oldest success that answers.
    pub(crate) last_good: Option<u64>,
    /// Whether each key has one of its own.
    pub(crate) keyed: bool,
    /// It is asked about the function's own errors and nothing else, so there must be nothing else.
    pub(crate) errors_alone: bool,
}

/// Which failures it answers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct On(u8);

impl On {
    pub(crate) const NOTHING: Self = Self(0);
    pub(crate) const ERROR: Self = Self(1);
    pub(crate) const TIMEOUT: Self = Self(1 << 1);
    pub(crate) const FULL: Self = Self(1 << 2);
    pub(crate) const WAIT: Self = Self(1 << 3);
    pub(crate) const RATE: Self = Self(1 << 4);
    pub(crate) const OPEN: Self = Self(1 << 5);
    /// Refusals that have no word of their own: a deadline that is spent or would be, a process that shuts down.
    pub(crate) const OTHER: Self = Self(1 << 6);
    pub(crate) const REFUSED: Self = Self(0b111_1100);
    pub(crate) const ALL: Self = Self(0b111_1111);

    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The words that come to this.
    pub(crate) fn words(self) -> Vec<&'static str> {
        let each = [(Self::FULL, "full"), (Self::WAIT, "wait"), (Self::RATE, "rate"), (Self::OPEN, "open")];
        let three = [(Self::ERROR, "error"), (Self::TIMEOUT, "timeout"), (Self::REFUSED, "refused")];
        let each = each.into_iter().filter(|_| !self.has(Self::REFUSED));
        three.into_iter().chain(each).filter(|(on, _)| self.has(*on)).map(|(_, word)| word).collect()
    }
}

/// One method for each word.
macro_rules! words {
    ($($method:ident $word:ident $what:literal;)*) => {
        $(#[doc = $what]
        #[must_use]
        pub const fn $method(mut self) -> Self {
            self.on = self.on.and(On::$word);
            self
        })*
    };
}

impl Config {
    /// Answers for everything.
    #[must_use]
    #[allow(clippy::new_without_default)] // built in constants alone
    pub const fn new() -> Self {
        Self { on: On::ALL, limit: None, last_good: None, keyed: false, errors_alone: false }
    }

    /// Answers with the most recent success, not older than so many nanoseconds.
    #[must_use]
    pub const fn last_good(mut self, nanos: u64) -> Self {
        self.last_good = Some(nanos);
        self
    }

    /// Keeps one for each key.
    #[must_use]
    pub const fn keyed(mut self) -> Self {
        self.keyed = true;
        self
    }

    /// Answers for so many calls at once at most.
    #[must_use]
    pub const fn limit(mut self, calls: u32) -> Self {
        self.limit = Some(calls);
        self
    }

    /// Has no answer for what is not the function's own error.
    #[must_use]
    pub const fn errors_alone(mut self) -> Self {
        self.errors_alone = true;
        self
    }

    /// Answers for nothing, until it is named.
    #[must_use]
    pub const fn on_nothing(mut self) -> Self {
        self.on = On::NOTHING;
        self
    }

    words! {
        on_error ERROR "Answers for the function's own errors.";
        on_timeout TIMEOUT "Answers for attempts that were cut off.";
        on_refused REFUSED "Answers for every refusal.";
        on_full FULL "Answers for a full bulkhead's refusal.";
        on_wait WAIT "Answers for a wait in vain.";
        on_rate RATE "Answers for a rate limit's refusal.";
        on_open OPEN "Answers for an open breaker's refusal.";
    }
}
