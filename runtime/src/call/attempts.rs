//! How attempts end: each run of a body, once more for the second one of a hedged pair, and why none followed.
//!
//! A hedge is not a call and not a retry: it adds no fate and ends no call. It is an attempt of its own, counted among the
//! attempts by its outcome, and here once more by what it was good for. Whoever sizes a delay looks at the share that won:
//! few wins mean that the delay is too short or that the slowness is not of the kind that asking again helps against.
//!
//! Invariants: every attempt that began ends in exactly one [`AttemptFate`]; every hedge that was due has exactly one
//! [`HedgeFate`], and those that were started are all but the last two.

/// How an attempt came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AttemptFate {
    /// A value.
    Ok,
    /// An error of the body's own.
    Error,
    /// Cut off by the timeout or the deadline.
    TimedOut,
    /// Dropped by the caller while the body ran.
    Cancelled,
    /// The body panicked.
    Panicked,
    /// Dropped while the body ran, because the other attempt of a hedged one answered first.
    Lost,
}

impl AttemptFate {
    /// Every way.
    pub const ALL: [Self; 6] = [Self::Ok, Self::Error, Self::TimedOut, Self::Cancelled, Self::Panicked, Self::Lost];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Panicked => "panicked",
            Self::Lost => "lost",
        }
    }
}

/// What became of a hedge that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HedgeFate {
    /// It gave the attempt's answer.
    Won,
    /// The first attempt answered, and it was dropped or had failed.
    Lost,
    /// It failed, and the first attempt too.
    Failed,
    /// The call ended around it: dropped by its caller, or by a panic.
    Cancelled,
    /// Not made: the retry budget was spent.
    NoBudget,
    /// Not made: breaker, bulkhead or deadline let no further attempt through.
    Refused,
}

impl HedgeFate {
    /// Every fate.
    pub const ALL: [Self; 6] = [Self::Won, Self::Lost, Self::Failed, Self::Cancelled, Self::NoBudget, Self::Refused];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Lost => "lost",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::NoBudget => "no_budget",
            Self::Refused => "refused",
        }
    }

    /// Whether its body was started.
    pub const fn was_started(self) -> bool {
        !matches!(self, Self::NoBudget | Self::Refused)
    }
}

/// Why a failed attempt was not followed by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StopReason {
    /// All attempts were used.
    Exhausted,
    /// The failure is of a kind that is not retried.
    NotRetryable,
    /// The deadline is spent, or the pause before the next attempt would not end before it.
    NoTime,
    /// The retry budget was spent.
    Budget,
    /// The breaker is open by now.
    Open,
    /// The other side asked for a longer pause than a call should make.
    Hint,
    /// The retry's own `max_duration` has passed, or would have before the pause ends.
    MaxDuration,
}

impl StopReason {
    /// Every reason.
    pub const ALL: [Self; 7] =
        [Self::Exhausted, Self::NotRetryable, Self::NoTime, Self::Budget, Self::Open, Self::Hint, Self::MaxDuration];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::NotRetryable => "not_retryable",
            Self::NoTime => "no_time",
            Self::Budget => "budget",
            Self::Open => "open",
            Self::Hint => "hint",
            Self::MaxDuration => "max_duration",
        }
    }
}
