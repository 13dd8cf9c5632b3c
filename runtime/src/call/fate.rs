//! How a call ended: exactly one fate per call.
//!
//! A figure can be trusted when the parts sum to the whole. So the fates exclude one another, a refused call carries
//! its reason, and what the fallback did is a second axis instead of a seventh fate: a call that timed out and was
//! answered from a cache stays a call that timed out.
//!
//! Invariant: over every site and at every quiet moment, calls = the sum over fates and fallback uses.

/// Why a call's body never ran (or never ran again).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// Every slot was taken and the queue was full.
    Full,
    /// It waited for a slot as long as it may.
    Waited,
    /// The breaker was open or half-open with its probes under way.
    Open,
    /// Its deadline was spent before the body started.
    Deadline,
    /// So little time was left that this function has practically never finished in it.
    Doomed,
    /// It came too often.
    Rate,
    /// The process is shutting down.
    Shutdown,
}

impl Refusal {
    /// Every reason, in the order of [`Refusal::as_str`]'s table.
    pub const ALL: [Self; 7] =
        [Self::Full, Self::Waited, Self::Open, Self::Deadline, Self::Doomed, Self::Rate, Self::Shutdown];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Waited => "waited",
            Self::Open => "open",
            Self::Deadline => "deadline",
            Self::Doomed => "doomed",
            Self::Rate => "rate",
            Self::Shutdown => "shutdown",
        }
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// The body returned a value.
    Ok,
    /// The body's last error was final.
    Error,
    /// The last attempt was cut short by its timeout or by the deadline.
    TimedOut,
    /// It was refused.
    Refused(Refusal),
    /// The caller dropped it.
    Cancelled,
    /// The body panicked.
    Panicked,
}

/// How many distinct fates there are, reasons counted apart.
pub(crate) const FATES: usize = 5 + Refusal::ALL.len();

impl Fate {
    /// Every fate, reasons counted apart.
    pub const ALL: [Self; FATES] = [
        Self::Ok,
        Self::Error,
        Self::TimedOut,
        Self::Cancelled,
        Self::Panicked,
        Self::Refused(Refusal::Full),
        Self::Refused(Refusal::Waited),
        Self::Refused(Refusal::Open),
        Self::Refused(Refusal::Deadline),
        Self::Refused(Refusal::Doomed),
        Self::Refused(Refusal::Rate),
        Self::Refused(Refusal::Shutdown),
    ];

    /// The word used in figures and metric labels; a refusal's reason is a label of its own.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::Refused(_) => "refused",
        }
    }

    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Ok => 0,
            Self::Error => 1,
            Self::TimedOut => 2,
            Self::Cancelled => 3,
            Self::Panicked => 4,
            Self::Refused(reason) => 5 + reason as usize,
        }
    }
}

/// What the fallback did for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackUse {
    /// It was not needed, does not answer for this failure, or there is none.
    None,
    /// It answered.
    Used,
    /// It was asked and failed itself.
    Failed,
    /// It answered with the most recent success.
    LastGood,
    /// It was not asked, since it answered for as many calls as it may.
    Full,
}

impl FallbackUse {
    /// Every use.
    pub const ALL: [Self; 5] = [Self::None, Self::Used, Self::Failed, Self::LastGood, Self::Full];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Used => "used",
            Self::Failed => "failed",
            Self::LastGood => "last_good",
            Self::Full => "full",
        }
    }
}

/// How a wait for a slot or a token ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitFate {
    /// It got it.
    Ran,
    /// It waited as long as it may, or its deadline passed.
    Expired,
    /// The caller dropped it.
    Cancelled,
}

impl WaitFate {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Ran, Self::Expired, Self::Cancelled];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fate_has_a_place_of_its_own() {
        for (place, fate) in Fate::ALL.into_iter().enumerate() {
            assert_eq!(fate.index(), place);
        }
        for (place, reason) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }
}
