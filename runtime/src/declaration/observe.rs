//! Which strategies of a function only observe.
//!
//! A set, one word per strategy that can refuse, cut off or try again. (A fallback has no word: it takes no decision of
//! its own.) A strategy that joins the list gets a field and a method here, and its place in the pipeline's observer.

/// The strategies that decide and count what they would have done, and do nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // a set of independent words of the attribute
pub struct Observe {
    pub(crate) deadline: bool,
    pub(crate) retry: bool,
    pub(crate) breaker: bool,
    pub(crate) rate: bool,
    pub(crate) bulkhead: bool,
    pub(crate) timeout: bool,
}

impl Observe {
    /// None: everything declared is enforced.
    pub const NONE: Self =
        Self { deadline: false, retry: false, breaker: false, rate: false, bulkhead: false, timeout: false };
    /// All there are.
    pub const ALL: Self =
        Self { deadline: true, retry: true, breaker: true, rate: true, bulkhead: true, timeout: true };

    /// And the deadline: the function's own and the one around it.
    #[must_use]
    pub const fn deadline(self) -> Self {
        Self { deadline: true, ..self }
    }

    /// And the retries.
    #[must_use]
    pub const fn retry(self) -> Self {
        Self { retry: true, ..self }
    }

    /// And the breaker.
    #[must_use]
    pub const fn breaker(self) -> Self {
        Self { breaker: true, ..self }
    }

    /// And the rate.
    #[must_use]
    pub const fn rate(self) -> Self {
        Self { rate: true, ..self }
    }

    /// And the bulkhead.
    #[must_use]
    pub const fn bulkhead(self) -> Self {
        Self { bulkhead: true, ..self }
    }

    /// And the timeout.
    #[must_use]
    pub const fn timeout(self) -> Self {
        Self { timeout: true, ..self }
    }
}
