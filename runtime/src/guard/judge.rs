//! What an answer means: to the caller, to retry and to the breaker.
//!
//! Behind the attribute the compiler picks the judge by the error's type: a type that implements [`Classify`] speaks for
//! itself, any other error is a failure. Generic code cannot ask whether a type implements a trait, so here the guard
//! says which it is, once: [`EveryError`] unless told otherwise, [`ByClass`], or a function of the whole answer.
//!
//! A judge also keeps the error of an attempt that is followed by another, so that a later refusal can name it as its
//! source. For that it has to be an error; a judge of other types keeps nothing.
//!
//! Invariant: judging changes nothing about what the caller receives.

use std::marker::PhantomData;

#[cfg(feature = "testing")]
use crate::call::fault::AnyError;
use crate::call::{BoxError, Class, Classify, Verdict};
use crate::pipeline::Kind;

/// Says what an answer of type `R` means.
///
/// Implement it for a type of your own where the guard has to be named in a struct; a closure for
/// [`Guard::judge`](super::Guard::judge) will do everywhere else.
///
/// ```
/// use watertight::guard::Judge;
/// use watertight::{Class, Guard, Verdict};
///
/// struct ByStatus;
///
/// impl<E> Judge<Result<u16, E>> for ByStatus {
///     fn verdict(&self, answer: &Result<u16, E>) -> Verdict {
///         match answer {
///             Ok(500..) | Err(_) => Verdict::error(Class::Retryable, None),
///             Ok(_) => Verdict::OK,
///         }
///     }
/// }
///
/// struct Client {
///     vendor: Guard<ByStatus>,
/// }
/// # let vendor = Guard::named("doc-by-status").retry(1).build().unwrap().judge(ByStatus);
/// # let _ = Client { vendor }.vendor;
/// ```
#[diagnostic::on_unimplemented(
    message = "nothing says what `{R}` means to this guard",
    label = "this guard's judge does not know `{R}`",
    note = "without a word about it every `Err` is a failure, of an error type that implements `std::error::Error`",
    note = "`.classified()` asks an error type that implements `watertight::Classify` too",
    note = "anything else is judged by a function: `.judge(|answer: &Result<_, _>| ..)`"
)]
pub trait Judge<R> {
    /// What retry and breaker are told.
    fn verdict(&self, answer: &R) -> Verdict;

    /// The error of an attempt that is followed by another, for a refusal to name as its source.
    fn keep(&self, answer: R) -> Option<Box<dyn std::error::Error + Send + Sync>> {
        drop(answer);
        None
    }

    /// What a fallback answered when it failed itself, told of the failure that it was asked about. Unless a judge says
    /// otherwise, the fallback's answer goes on as it is.
    fn with_first_error(&self, answer: R, first: Box<dyn std::error::Error + Send + Sync>) -> R {
        drop(first);
        answer
    }
}

/// Every `Err` is a failure and worth another try.
#[derive(Clone, Copy, Debug, Default)]
pub struct EveryError;

/// The error type says what its values mean, by [`Classify`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ByClass;

impl<T, E: Into<BoxError>> Judge<Result<T, E>> for EveryError {
    #[inline]
    fn verdict(&self, answer: &Result<T, E>) -> Verdict {
        match answer {
            Ok(_) => Verdict::OK,
            Err(_) => Verdict::error(Class::Retryable, None),
        }
    }

    fn keep(&self, answer: Result<T, E>) -> Option<BoxError> {
        answer.err().map(Into::into)
    }
}

impl<T, E: Classify + Into<BoxError>> Judge<Result<T, E>> for ByClass {
    #[inline]
    fn verdict(&self, answer: &Result<T, E>) -> Verdict {
        match answer {
            Ok(_) => Verdict::OK,
            Err(error) => Verdict::error(error.class(), error.retry_after()),
        }
    }

    fn with_first_error(&self, answer: Result<T, E>, first: BoxError) -> Result<T, E> {
        answer.map_err(|error| error.with_first_error(first))
    }

    fn keep(&self, answer: Result<T, E>) -> Option<BoxError> {
        answer.err().map(Into::into)
    }
}

/// A function of the answer says it.
impl<R, F: Fn(&R) -> Verdict> Judge<R> for F {
    #[inline]
    fn verdict(&self, answer: &R) -> Verdict {
        self(answer)
    }
}

/// A judge of results, in the place where generated code has what the return type says.
pub(super) struct Of<'a, J, T, E>(&'a J, PhantomData<fn() -> (T, E)>);

impl<'a, J, T, E> Of<'a, J, T, E> {
    pub(super) fn new(judge: &'a J) -> Self {
        Self(judge, PhantomData)
    }
}

impl<T, E, J: Judge<Result<T, E>>> Kind for Of<'_, J, T, E> {
    type Whole = Result<T, E>;
    type Value = T;
    type Error = E;

    #[inline]
    fn verdict(&self, whole: &Result<T, E>) -> Verdict {
        self.0.verdict(whole)
    }

    fn keep(&self, whole: Result<T, E>) -> Option<BoxError> {
        self.0.keep(whole)
    }

    #[inline]
    fn split(whole: Result<T, E>) -> Result<Result<T, E>, E> {
        whole.map(Ok)
    }

    fn failed(error: E) -> Option<Result<T, E>> {
        Some(Err(error))
    }

    fn with_first_error(&self, whole: Result<T, E>, first: BoxError) -> Result<T, E> {
        self.0.with_first_error(whole, first)
    }

    fn is_error(whole: &Result<T, E>) -> bool {
        whole.is_err()
    }

    fn value(whole: &Result<T, E>) -> Option<&T> {
        whole.as_ref().ok()
    }

    // Any closure, any error: nothing says that it can be injected.
    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<Result<T, E>, AnyError> {
        Err(error)
    }
}
