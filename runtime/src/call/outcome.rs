//! How an attempt came out, in three classes.
//!
//! "It returned an error" is too coarse to act on. A missing row is an answer; a refused connection may be gone on the
//! next try; a rejected password will be rejected again. Retry and breaker therefore never see the user's error, only a
//! [`Verdict`]: whether the caller gets a value, which [`Class`] the outcome has, and how long the other side asked us
//! to wait. (The three-way split follows Finagle's response classifier.)
//!
//! An error type says what its values mean by [`Classify`]; a type that does not is taken as retryable, which is what
//! an author who wrote `retry = 2` and nothing else expects. A predicate in the attribute overrides either.
//!
//! Invariants: a verdict is plain data and cheap; classifying never changes what the caller receives.

use std::fmt;
use std::time::Duration;

use super::Error;

/// An error that can be kept as another's source.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What an outcome says about the dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// The dependency did its work. An `Err` can be of this class too ("no such user"): it is neither retried nor
    /// counted against the dependency.
    Success,
    /// It failed, and the same call may succeed a moment later.
    Retryable,
    /// It failed, and would fail again.
    Permanent,
}

/// Implemented by error types that know which of their values are worth another try.
///
/// Without an implementation every value counts as [`Class::Retryable`].
///
/// ```
/// use std::time::Duration;
/// use watertight::{Class, Classify};
///
/// enum ShopError { NotFound, Busy { seconds: u64 }, Forbidden }
///
/// impl Classify for ShopError {
///     fn class(&self) -> Class {
///         match self {
///             Self::NotFound => Class::Success,
///             Self::Busy { .. } => Class::Retryable,
///             Self::Forbidden => Class::Permanent,
///         }
///     }
///
///     fn retry_after(&self) -> Option<Duration> {
///         match self {
///             Self::Busy { seconds } => Some(Duration::from_secs(*seconds)),
///             _ => None,
///         }
///     }
/// }
/// # assert_eq!(ShopError::NotFound.class(), Class::Success);
/// # assert_eq!(ShopError::Busy { seconds: 3 }.retry_after(), Some(Duration::from_secs(3)));
/// # assert_eq!(ShopError::Forbidden.class(), Class::Permanent);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which of its values are worth another try",
    note = "implement `watertight::Classify` for it, or name a predicate: `retry(2, on = is_transient)`"
)]
pub trait Classify {
    /// What this error says about the dependency.
    fn class(&self) -> Class;

    /// How long the other side asked to be left alone, if it did. It wins over the computed backoff.
    fn retry_after(&self) -> Option<Duration> {
        None
    }

    /// This error, told of the failure that came first: a fallback was asked about `first` and failed with `self`.
    ///
    /// An error type that has a place for a source keeps it here; by default the fallback's error goes on as it is. Not
    /// called where the fallback was given the failure, since it can do as much itself.
    ///
    /// ```
    /// use std::error::Error;
    /// use watertight::{Class, Classify};
    ///
    /// struct ShopError { what: &'static str, first: Option<Box<dyn Error + Send + Sync>> }
    ///
    /// impl Classify for ShopError {
    ///     fn class(&self) -> Class {
    ///         Class::Retryable
    ///     }
    ///
    ///     fn with_first_error(self, first: Box<dyn Error + Send + Sync>) -> Self {
    ///         Self { first: Some(first), ..self }
    ///     }
    /// }
    /// # let told = ShopError { what: "no cache", first: None }.with_first_error("down".into());
    /// # assert_eq!((told.what, told.first.unwrap().to_string().as_str()), ("no cache", "down"));
    /// ```
    #[must_use]
    fn with_first_error(self, first: Box<dyn std::error::Error + Send + Sync>) -> Self
    where
        Self: Sized,
    {
        drop(first);
        self
    }
}

/// An error of ours that comes up from an inner guarded function.
///
/// An inner refusal says that *we* turned the work away, so it is no failure of the dependency and asking again at once
/// would only be refused again; an inner timeout is a failure, and not retried since a timed-out write may have
/// happened.
impl Classify for Error {
    fn class(&self) -> Class {
        if self.is_refusal() { Class::Success } else { Class::Permanent }
    }

    fn retry_after(&self) -> Option<Duration> {
        Error::retry_after(self)
    }

    /// As its source, where it has none.
    fn with_first_error(self, first: BoxError) -> Self {
        if std::error::Error::source(&self).is_some() { self } else { self.with_source(Some(first)) }
    }
}

/// What retry and breaker are told of an attempt's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verdict {
    /// Whether the caller gets a value rather than an error.
    pub ok: bool,
    /// Whether retry may ask again because of this answer.
    pub retryable: bool,
    /// Whether the breaker counts it as a failure.
    pub failure: bool,
    /// How long the other side asked to be left alone.
    pub retry_after: Option<Duration>,
}

impl Verdict {
    /// A value.
    pub const OK: Self = Self { ok: true, retryable: false, failure: false, retry_after: None };

    /// An error of a class.
    pub fn error(class: Class, retry_after: Option<Duration>) -> Self {
        Self { ok: false, retryable: class == Class::Retryable, failure: class != Class::Success, retry_after }
    }
}

/// Why a call has no value: what a fallback is given.
///
/// ```
/// use watertight::Failure;
///
/// fn from_cache(why: Failure<std::io::Error>) -> Vec<u32> {
///     if why.refusal().is_some() { vec![1] } else { vec![2] }
/// }
/// # assert_eq!(from_cache(Failure::Failed(std::io::Error::other("x"))), [2]);
/// ```
#[derive(Debug)]
pub enum Failure<E> {
    /// We refused it, cut it short, or ran out of time.
    Refused(Error),
    /// The function's own final error.
    Failed(E),
}

impl<E> Failure<E> {
    /// Our own error, when it was we who refused the call or cut it short.
    pub fn refusal(&self) -> Option<&Error> {
        match self {
            Self::Refused(error) => Some(error),
            Self::Failed(_) => None,
        }
    }

    /// The function's own error.
    pub fn error(&self) -> Option<&E> {
        match self {
            Self::Refused(_) => None,
            Self::Failed(error) => Some(error),
        }
    }
}

impl<E: From<Error>> Failure<E> {
    /// The function's own error type, for those with a place for refusals.
    ///
    /// ```
    /// # let failure = watertight::Failure::Failed(std::io::Error::other("x"));
    /// let error: std::io::Error = failure.into_error();
    /// # assert_eq!(error.to_string(), "x");
    /// ```
    pub fn into_error(self) -> E {
        match self {
            Self::Refused(error) => error.into(),
            Self::Failed(error) => error,
        }
    }
}

/// So that guards inside guards add no wrapper, see [`Guard::run_into`](crate::Guard::run_into).
impl<E> From<Error> for Failure<E> {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

/// It is what it holds, sources and all.
impl<E: std::error::Error> std::error::Error for Failure<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Refused(error) => std::error::Error::source(error),
            Self::Failed(error) => error.source(),
        }
    }
}

/// A refusal of ours says what it always says, an error what its type says.
impl<E: Classify> Classify for Failure<E> {
    fn class(&self) -> Class {
        match self {
            Self::Refused(error) => error.class(),
            Self::Failed(error) => error.class(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(error) => Classify::retry_after(error),
            Self::Failed(error) => error.retry_after(),
        }
    }

    fn with_first_error(self, first: BoxError) -> Self {
        match self {
            Self::Refused(error) => Self::Refused(error.with_first_error(first)),
            Self::Failed(error) => Self::Failed(error.with_first_error(first)),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}
