//! What a site declares about its bulkhead.

use super::adapt::{DEFAULT_CEILING, DEFAULT_FLOOR};

/// The longest wait of a site that has neither `/wait` nor a timeout: one second, in nanoseconds.
pub(crate) const DEFAULT_WAIT: u64 = 1_000_000_000;

/// A declaration: `"NAME:SLOTS/queue:N/wait:DUR/fleet"`, `"NAME:auto/floor:N/ceiling:N"`, or a name declared elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    pub(crate) name: &'static str,
    pub(crate) limits: Option<Limits>,
    pub(crate) wait: Option<u64>,
    /// The fewest slots, where their number is found by measuring; those of `limits` are the most, then.
    pub(crate) floor: Option<u32>,
    /// Whether each key has a compartment of its own, and how many may run in all of them together.
    pub(crate) keyed: bool,
    pub(crate) total: Option<u32>,
    /// Whether slots and total are those of all processes together.
    pub(crate) fleet: bool,
    /// The pool it stands in front of.
    pub(crate) guards: Option<&'static str>,
}

/// How many may run and how many may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) slots: u32,
    pub(crate) queue: u32,
}

impl Limits {
    /// What a name gets that nobody declared: small enough to protect, and reported by the check.
    pub(crate) const UNDECLARED: Self = Self { slots: 10, queue: 0 };

    /// The stricter of two declarations, figure by figure, so that the outcome does not depend on who came first.
    pub(crate) fn stricter(self, other: Self) -> Self {
        Self { slots: self.slots.min(other.slots), queue: self.queue.min(other.queue) }
    }
}

impl Config {
    /// Declares `slots` slots and no queue under a name.
    pub const fn new(name: &'static str, slots: u32) -> Self {
        Self {
            name,
            limits: Some(Limits { slots, queue: 0 }),
            wait: None,
            floor: None,
            keyed: false,
            total: None,
            fleet: false,
            guards: None,
        }
    }

    /// Declares slots whose number is found by measuring, and no queue.
    pub const fn auto(name: &'static str) -> Self {
        Self { floor: Some(DEFAULT_FLOOR), ..Self::new(name, DEFAULT_CEILING) }
    }

    /// Never fewer slots than this, where their number is found by measuring.
    #[must_use]
    pub const fn floor(self, slots: u32) -> Self {
        Self { floor: Some(slots), ..self }
    }

    /// Never more slots than this, where their number is found by measuring; a floor above it counts as the ceiling.
    #[must_use]
    pub const fn ceiling(mut self, slots: u32) -> Self {
        if let Some(limits) = self.limits {
            self.limits = Some(Limits { slots, ..limits });
        }
        self
    }

    /// Joins a bulkhead that another site declares.
    pub const fn join(name: &'static str) -> Self {
        Self { name, limits: None, wait: None, floor: None, keyed: false, total: None, fleet: false, guards: None }
    }

    /// Gives each key a compartment of its own.
    #[must_use]
    pub const fn keyed(self) -> Self {
        Self { keyed: true, ..self }
    }

    /// Bounds how many may run over all keys together.
    #[must_use]
    pub const fn total(self, slots: u32) -> Self {
        Self { total: Some(slots), ..self }
    }

    /// Slots and total are those of all processes of the fleet together.
    #[must_use]
    pub const fn fleet(self) -> Self {
        Self { fleet: true, ..self }
    }

    /// Lets up to `queue` callers wait.
    #[must_use]
    pub const fn queue(mut self, queue: u32) -> Self {
        if let Some(limits) = self.limits {
            self.limits = Some(Limits { queue, ..limits });
        }
        self
    }

    /// Names the pool that whoever has a slot goes on to.
    #[must_use]
    pub const fn guards(self, pool: &'static str) -> Self {
        Self { guards: Some(pool), ..self }
    }

    /// Bounds a wait, in nanoseconds. Without it a caller waits at most the site's timeout, else a second.
    #[must_use]
    pub const fn wait(mut self, nanos: u64) -> Self {
        self.wait = Some(nanos);
        self
    }
}
