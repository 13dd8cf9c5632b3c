//! One error for everything that watertight itself does to a call.
//!
//! The remedies differ, so the causes are kept apart: a full queue wants more slots or fewer callers, a long wait wants
//! a faster dependency, a timeout wants another number, a spent deadline wants the caller to be looked at. Whoever
//! folds these into one "overloaded" has thrown away the only thing the reader needed.
//!
//! The figures that were seen at the moment of the decision travel inside, by value: building one neither allocates
//! nor captures a backtrace, because a refusal must stay cheaper than the work it turns away.
//!
//! Invariants: `Send + Sync + 'static`; no larger than 96 bytes, so that it fits users' own error enums; Display is one
//! sentence that names the function.

use std::fmt;
use std::time::Duration;

use super::fate::{Fate, Refusal};
use super::identity::Identity;
use super::outcome::BoxError;

/// Why watertight refused a call or cut it short.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use watertight::{resilient, ErrorKind};
///
/// #[resilient(timeout = "20ms")]
/// async fn slow() -> Result<(), watertight::Error> {
///     std::future::pending().await
/// }
///
/// let error = slow().await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::TimedOut);
/// assert_eq!(error.to_string(), "slow: timed out after 20ms (timeout)");
/// # }
/// ```
pub struct Error {
    site: Option<&'static Identity>,
    detail: Detail,
    source: Option<BoxError>,
}

/// The kinds of [`Error`], for matching.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An attempt was cut off at its `timeout`.
    TimedOut,
    /// An attempt was cut off, or not begun, at the deadline.
    Deadline,
    /// Not begun: less time was left than this function practically ever needed.
    Doomed,
    /// Not begun: all slots and the whole queue were taken.
    BulkheadFull,
    /// Not begun: no slot came free within the longest wait.
    BulkheadWait,
    /// Not begun: the breaker is open, or half-open with its probes under way.
    BreakerOpen,
    /// Not begun: every thread of its own was taken, and the whole queue, or the system refused to start a thread.
    IsolateFull,
    /// Not begun: no thread of its own came free within the longest wait.
    IsolateWait,
    /// Not begun: it came too often, and no token was to be had in time.
    RateLimited,
    /// Not begun: the process is shutting down.
    ShuttingDown,
    /// Cut off, or not begun: a cancellation token says that it is not wanted any more.
    Cancelled,
}

/// The facts behind each kind, as seen when the decision fell. Lengths are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    TimedOut {
        limit: u64,
    },
    Cut {
        ran: u64,
    },
    /// What the fallback would have said came too late.
    FallbackCut,
    /// The other side was told when to stop, and has.
    #[cfg_attr(
        not(any(feature = "reqwest", feature = "sqlx", feature = "tokio-postgres", feature = "tonic")),
        expect(dead_code)
    )]
    Stopped,
    Spent {
        in_queue: bool,
    },
    ShuttingDown,
    #[cfg_attr(not(feature = "tokio-util"), expect(dead_code))]
    Cancelled {
        has_begun: bool,
    },
    Doomed {
        remaining: u64,
        floor: u64,
    },
    Full {
        name: &'static str,
        slots: u32,
        running: u32,
        queue: u32,
        queued: u32,
    },
    /// `total` is 0 where it was the key's own slots that were taken.
    KeyFull {
        name: &'static str,
        slots: u32,
        running: u32,
        queue: u32,
        queued: u32,
        total: u32,
    },
    Waited {
        name: &'static str,
        slots: u32,
        waited: u64,
    },
    Open {
        name: &'static str,
        retry_after: u64,
        isolated: bool,
    },
    /// `at_large` of the threads run what nobody waits for any more.
    Crowded {
        name: &'static str,
        threads: u32,
        at_large: u32,
        queue: u32,
        queued: u32,
    },
    Unstaffed {
        name: &'static str,
        threads: u32,
    },
    WaitedThread {
        name: &'static str,
        threads: u32,
        at_large: u32,
        waited: u64,
    },
    Limited {
        name: &'static str,
        count: u32,
        unit: u64,
        retry_after: u64,
    },
}

impl Error {
    pub(crate) fn new(site: Option<&'static Identity>, detail: Detail) -> Self {
        Self { site, detail, source: None }
    }

    /// One that says the same, without a source.
    pub(crate) fn again(&self) -> Self {
        Self::new(self.site, self.detail)
    }

    pub(crate) fn with_source(mut self, source: Option<BoxError>) -> Self {
        self.source = source;
        self
    }

    /// The same without what it was caused by.
    #[cfg(feature = "tonic")]
    pub(crate) fn without_source(&self) -> Self {
        Self::new(self.site, self.detail)
    }

    /// Which kind of refusal or cut this is.
    pub fn kind(&self) -> ErrorKind {
        match self.detail {
            Detail::TimedOut { .. } => ErrorKind::TimedOut,
            Detail::Cut { .. } | Detail::FallbackCut | Detail::Stopped | Detail::Spent { .. } => ErrorKind::Deadline,
            Detail::Doomed { .. } => ErrorKind::Doomed,
            Detail::Full { .. } | Detail::KeyFull { .. } => ErrorKind::BulkheadFull,
            Detail::Waited { .. } => ErrorKind::BulkheadWait,
            Detail::Open { .. } => ErrorKind::BreakerOpen,
            Detail::Crowded { .. } | Detail::Unstaffed { .. } => ErrorKind::IsolateFull,
            Detail::WaitedThread { .. } => ErrorKind::IsolateWait,
            Detail::Limited { .. } => ErrorKind::RateLimited,
            Detail::ShuttingDown => ErrorKind::ShuttingDown,
            Detail::Cancelled { .. } => ErrorKind::Cancelled,
        }
    }

    /// The function it happened to; `None` for a scope opened by hand.
    pub fn site(&self) -> Option<&'static Identity> {
        self.site
    }

    /// The strategy that decided: `"timeout"`, `"deadline"`, `"bulkhead"`, `"isolate"`, `"rate"` or `"breaker"`; `"shutdown"` and
    /// `"cancellation"` are none of them.
    pub fn strategy(&self) -> &'static str {
        match self.kind() {
            ErrorKind::TimedOut => "timeout",
            ErrorKind::Deadline | ErrorKind::Doomed => "deadline",
            ErrorKind::BulkheadFull | ErrorKind::BulkheadWait => "bulkhead",
            ErrorKind::BreakerOpen => "breaker",
            ErrorKind::IsolateFull | ErrorKind::IsolateWait => "isolate",
            ErrorKind::RateLimited => "rate",
            ErrorKind::ShuttingDown => "shutdown",
            ErrorKind::Cancelled => "cancellation",
        }
    }

    /// The name of the bulkhead, rate, breaker or set of threads that decided; what is a function's own has the function's
    /// name.
    pub fn name(&self) -> Option<&'static str> {
        match self.detail {
            Detail::Full { name, .. }
            | Detail::Waited { name, .. }
            | Detail::Open { name, .. }
            | Detail::Crowded { name, .. }
            | Detail::Unstaffed { name, .. }
            | Detail::WaitedThread { name, .. }
            | Detail::KeyFull { name, .. }
            | Detail::Limited { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether the body was never started, so that nothing can have happened.
    pub fn is_refusal(&self) -> bool {
        !matches!(
            self.detail,
            Detail::TimedOut { .. }
                | Detail::Cut { .. }
                | Detail::FallbackCut
                | Detail::Stopped
                | Detail::Cancelled { has_begun: true }
        )
    }

    /// When it makes sense to come back, where that is known: the rest of an open breaker's cooldown, and the moment at
    /// which a token will be there (to the nanosecond, if nobody else takes it).
    pub fn retry_after(&self) -> Option<Duration> {
        match self.detail {
            Detail::Open { retry_after, isolated: false, .. } | Detail::Limited { retry_after, .. } => {
                Some(Duration::from_nanos(retry_after))
            }
            _ => None,
        }
    }
}

impl Detail {
    /// The fate of a call that ends with this.
    pub(crate) fn fate(&self) -> Fate {
        match self {
            Self::TimedOut { .. } | Self::Cut { .. } | Self::FallbackCut | Self::Stopped => Fate::TimedOut,
            Self::Spent { .. } => Fate::Refused(Refusal::Deadline),
            Self::Doomed { .. } => Fate::Refused(Refusal::Doomed),
            Self::Full { .. } | Self::KeyFull { .. } | Self::Crowded { .. } | Self::Unstaffed { .. } => {
                Fate::Refused(Refusal::Full)
            }
            Self::Waited { .. } | Self::WaitedThread { .. } => Fate::Refused(Refusal::Waited),
            Self::Open { .. } => Fate::Refused(Refusal::Open),
            Self::Limited { .. } => Fate::Refused(Refusal::Rate),
            Self::ShuttingDown => Fate::Refused(Refusal::Shutdown),
            Self::Cancelled { .. } => Fate::Cancelled,
        }
    }
}

fn show(nanos: u64) -> impl fmt::Debug {
    Duration::from_nanos(nanos)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(site) = self.site {
            write!(f, "{}: ", site.name)?;
        }
        match self.detail {
            Detail::TimedOut { limit } => write!(f, "timed out after {:?} (timeout)", show(limit)),
            Detail::Cut { ran } => write!(f, "cut off by the deadline after {:?}", show(ran)),
            Detail::FallbackCut => f.write_str("its fallback was cut off by the deadline"),
            Detail::Stopped => f.write_str("stopped at the deadline, which the other side had been told"),
            Detail::Spent { in_queue: false } => f.write_str("not started, the deadline was already spent"),
            Detail::Spent { in_queue: true } => f.write_str("not started, the deadline passed in the queue"),
            Detail::ShuttingDown => f.write_str("not started, the process is shutting down"),
            Detail::Cancelled { has_begun: true } => f.write_str("cancelled by the caller"),
            Detail::Cancelled { has_begun: false } => f.write_str("not started, the caller had cancelled it"),
            Detail::Doomed { remaining, floor } => write!(
                f,
                "not started, {:?} left and it practically never finishes within {:?}",
                show(remaining),
                show(floor)
            ),
            // Nobody declares none: it is a share of a fleet's limit that has none at the moment.
            Detail::Full { name, slots: 0, running, queue, queued } => write!(
                f,
                "bulkhead `{name}` is full (this process has no share of the fleet's slots now, {running} running, \
                 {queued} of {queue} queued)"
            ),
            Detail::Full { name, slots, running, queue, queued } => {
                write!(f, "bulkhead `{name}` is full ({running} of {slots} slots running, {queued} of {queue} queued)")
            }
            Detail::KeyFull { name, slots, running, queue, queued, total: 0 } => write!(
                f,
                "bulkhead `{name}` is full for this key ({running} of {slots} slots running, {queued} of {queue} queued)"
            ),
            Detail::KeyFull { name, queue, queued, total, .. } => write!(
                f,
                "bulkhead `{name}` is full ({total} of {total} slots of all keys running, {queued} of {queue} queued for this key)"
            ),
            Detail::Waited { name, slots, waited } => {
                write!(f, "waited {:?} for one of the {slots} slots of bulkhead `{name}`", show(waited))
            }
            Detail::Crowded { name, threads, at_large, queue, queued } => write!(
                f,
                "isolate `{name}` is full ({threads} threads taken, {at_large} of them by abandoned work, {queued} of {queue} queued)"
            ),
            Detail::Unstaffed { name, threads } => {
                write!(f, "isolate `{name}` has {threads} threads and the system refused to start another")
            }
            Detail::WaitedThread { name, threads, at_large, waited } => write!(
                f,
                "waited {:?} for one of the {threads} threads of isolate `{name}`, {at_large} of them taken by abandoned work",
                show(waited)
            ),
            Detail::Open { name, isolated: true, .. } => write!(f, "breaker `{name}` is held open by hand"),
            Detail::Open { name, retry_after, .. } => {
                write!(f, "breaker `{name}` is open, next probe in {:?}", show(retry_after))
            }
            Detail::Limited { name, count, unit, retry_after } => {
                write!(f, "rate `{name}` allows {count} in {:?}, next one in {:?}", show(unit), show(retry_after))
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug
            .field("kind", &self.kind())
            .field("site", &self.site.map(ToString::to_string))
            .field("facts", &self.detail);
        if let Some(source) = &self.source {
            debug.field("source", source);
        }
        debug.finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// A timeout or a spent deadline becomes `TimedOut`, every refusal `WouldBlock`; the error stays inside and can be
/// downcast.
impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::TimedOut | ErrorKind::Deadline | ErrorKind::Doomed => std::io::ErrorKind::TimedOut,
            _ => std::io::ErrorKind::WouldBlock,
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_small_and_travels() {
        fn travels<T: Send + Sync + 'static>() {}
        travels::<Error>();
        assert!(size_of::<Error>() <= 96, "{}", size_of::<Error>());
    }

    #[test]
    fn io_errors_keep_it_inside() {
        let error = Error::new(None, Detail::Full { name: "recs", slots: 8, running: 8, queue: 16, queued: 16 });
        let io = std::io::Error::from(error);
        assert_eq!(io.kind(), std::io::ErrorKind::WouldBlock);
        let inner = io.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).expect("kept");
        assert_eq!(inner.name(), Some("recs"));
        assert_eq!(inner.to_string(), "bulkhead `recs` is full (8 of 8 slots running, 16 of 16 queued)");
    }
}
