//! The states, and what is said of a change from one to another.
//!
//! "It opened" is half of what whoever is woken by it needs: 57 of 100 failed is a broken dependency, 20 of 20 slow is
//! a drowning one, and "by hand" is a colleague. So a change carries its cause and the figures that were judged.
//!
//! Invariant: a change is plain data and borrows nothing that may change.

use std::fmt;

/// The states of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Lets everyone through.
    Closed,
    /// Refuses everyone until its cooldown is over.
    Open,
    /// Lets its probes through.
    HalfOpen,
    /// Held open by hand.
    Isolated,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Open, Self::HalfOpen, Self::Isolated];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::Isolated => "isolated",
        }
    }
}

/// Why a breaker changed its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Failures reached their share of the window.
    Failures,
    /// Slow attempts reached theirs.
    Slow,
    /// The cooldown is over, and somebody came.
    CooldownOver,
    /// A probe failed.
    ProbeFailed,
    /// A probe took as long as a slow attempt.
    ProbeSlow,
    /// All probes succeeded.
    ProbesSucceeded,
    /// Somebody did it by hand.
    ByHand,
    /// New settings ask for fewer probes than have succeeded already.
    Settings,
}

impl Cause {
    /// The word used in figures.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failures => "failures",
            Self::Slow => "slow",
            Self::CooldownOver => "cooldown_over",
            Self::ProbeFailed => "probe_failed",
            Self::ProbeSlow => "probe_slow",
            Self::ProbesSucceeded => "probes_succeeded",
            Self::ByHand => "by_hand",
            Self::Settings => "settings",
        }
    }
}

/// A breaker went from one state to another.
///
/// Its Display is one sentence: ``breaker `recs` went from closed to open: 57 of 100 failed, 12 were slow``.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The breaker's name; a function's own breaker has the function's.
    pub name: &'static str,
    /// The state before.
    pub from: State,
    /// The state since.
    pub to: State,
    /// Why.
    pub cause: Cause,
    /// Results in the window that was judged; 0 where none was.
    pub calls: u64,
    /// Failures among them.
    pub failures: u64,
    /// Slow ones among them, failed or not.
    pub slow: u64,
}

/// The results in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) calls: u64,
    pub(crate) failures: u64,
    pub(crate) slow: u64,
}

/// A change, before anybody's name is on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) from: State,
    pub(crate) to: State,
    pub(crate) cause: Cause,
    pub(crate) seen: Seen,
}

impl Step {
    pub(super) fn of(self, name: &'static str) -> Change {
        let Self { from, to, cause, seen: Seen { calls, failures, slow } } = self;
        Change { name, from, to, cause, calls, failures, slow }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, from, to, cause, calls, failures, slow } = self;
        let spoken = |state: &State| state.as_str().replace('_', "-");
        write!(f, "breaker `{name}` went from {} to {}: ", spoken(from), spoken(to))?;
        match cause {
            Cause::Failures | Cause::Slow => write!(f, "{failures} of {calls} failed, {slow} were slow"),
            Cause::CooldownOver => f.write_str("the cooldown is over"),
            Cause::ProbeFailed => f.write_str("a probe failed"),
            Cause::ProbeSlow => f.write_str("a probe was slow"),
            Cause::ProbesSucceeded => f.write_str("the probes succeeded"),
            Cause::ByHand => f.write_str("by hand"),
            Cause::Settings => f.write_str("by new settings"),
        }
    }
}
