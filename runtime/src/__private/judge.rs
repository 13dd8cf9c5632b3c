//! The choices made by type: each question has one trait per answer, and the most special one that fits is found first.

use super::{BoxError, Classify, Fallible, Judged, Keep, Plain, Returned, Verdict};
use crate::call::Class;

/// A result whose error says what it means.
pub trait JudgeClassified {
    /// What retry and breaker are told.
    fn verdict(&self) -> Verdict;
}

impl<T, E: Classify> JudgeClassified for &&Judged<'_, Result<T, E>> {
    #[inline]
    fn verdict(&self) -> Verdict {
        match self.0 {
            Ok(_) => Verdict::OK,
            Err(error) => Verdict::error(error.class(), error.retry_after()),
        }
    }
}

/// A result whose error says nothing: worth another try.
pub trait JudgeResult {
    /// What retry and breaker are told.
    fn verdict(&self) -> Verdict;
}

impl<T, E> JudgeResult for &Judged<'_, Result<T, E>> {
    #[inline]
    fn verdict(&self) -> Verdict {
        match self.0 {
            Ok(_) => Verdict::OK,
            Err(_) => Verdict::error(Class::Retryable, None),
        }
    }
}

/// Anything else is a value.
pub trait JudgePlain {
    /// What retry and breaker are told.
    fn verdict(&self) -> Verdict;
}

impl<R> JudgePlain for Judged<'_, R> {
    #[inline]
    fn verdict(&self) -> Verdict {
        Verdict::OK
    }
}

/// An error that can be a source.
pub trait KeepError {
    /// Keeps it.
    fn keep(&self) -> Option<BoxError>;
}

impl<T, E: Into<BoxError>> KeepError for &Keep<Result<T, E>> {
    fn keep(&self) -> Option<BoxError> {
        self.0.take().and_then(Result::err).map(Into::into)
    }
}

/// One that cannot.
pub trait KeepNothing {
    /// Drops it.
    fn keep(&self) -> Option<BoxError>;
}

impl<R> KeepNothing for Keep<R> {
    fn keep(&self) -> Option<BoxError> {
        drop(self.0.take());
        None
    }
}

/// A return type that carries errors.
pub trait ShapeFallible {
    /// Its shape.
    type Shape;
    /// The tag of it.
    fn shape(&self) -> Self::Shape;
}

impl<T, E> ShapeFallible for Returned<Result<T, E>> {
    type Shape = Fallible<T, E>;

    fn shape(&self) -> Fallible<T, E> {
        Fallible::new()
    }
}

/// One that does not.
pub trait ShapePlain {
    /// Its shape.
    type Shape;
    /// The tag of it.
    fn shape(&self) -> Self::Shape;
}

impl<R> ShapePlain for &Returned<R> {
    type Shape = Plain<R>;

    fn shape(&self) -> Plain<R> {
        Plain::new()
    }
}
