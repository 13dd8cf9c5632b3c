//! What a return type says, decided once per guarded function.
//!
//! Three questions are put to it: does it carry errors, do those say what they mean, and can one of them be kept as the
//! source of another. Each has a general answer and a special one, and generated code cannot know which holds: an alias
//! of `Result` is a `Result`, and whether `E: Classify` is written somewhere else. So the compiler is asked by autoref
//! specialisation: `(&&&&&Returned::by(&body)).__wt_kind()` finds the implementation that needs the fewest references, the
//! most special one first, and what comes back is a tag of no size, whose type holds all three answers.
//!
//! All of them are of one trait. Where the look-up passes by a step it tries each trait in scope that has a method of that name;
//! one trait per answer would be five to try instead of one.
//!
//! One look-up and one tag per function is not only shorter to read than a closure for each question. Every expression
//! in generated code is type-checked in every annotated function, and method look-ups cost the most of all.
//!
//! Invariant: a tag is of no size; choosing one runs no code of the user's.

use std::marker::PhantomData;
use std::pin::Pin;

use super::end::End;
#[cfg(feature = "testing")]
use crate::call::fault::{AnyError, Injectable};
use crate::call::{BoxError, Class, Classify, Error, Verdict};

/// A return type, as the pipeline sees it.
pub trait Kind {
    /// The return type.
    type Whole;
    /// What it is worth when all went well.
    type Value;
    /// What it can carry when it did not.
    type Error;

    /// Whether anybody has said what its errors mean: their type, or a predicate.
    const SAID: bool = true;

    /// What retry and breaker are told of an answer.
    fn verdict(&self, whole: &Self::Whole) -> Verdict;

    /// The error of an answer that is tried again, if it can be a source.
    fn keep(&self, whole: Self::Whole) -> Option<BoxError>;

    /// Tells a success, which stays what it is, from an error.
    ///
    /// # Errors
    ///
    /// The function's own error, when it returned one.
    fn split(whole: Self::Whole) -> Result<Self::Whole, Self::Error>;

    /// The return type with an error that was split off it; nothing where it holds none.
    fn failed(error: Self::Error) -> Option<Self::Whole>;

    /// A fallback's own error, told of the failure that the fallback was asked about.
    fn with_first_error(&self, whole: Self::Whole, first: BoxError) -> Self::Whole {
        drop(first);
        whole
    }

    /// Whether it is an error.
    fn is_error(whole: &Self::Whole) -> bool;

    /// What it is worth, if it is no error.
    fn value(whole: &Self::Whole) -> Option<&Self::Value>;

    /// An error that a test has injected, as this type returns it; given back where it cannot.
    ///
    /// # Errors
    ///
    /// The error, when it is of another type.
    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<Self::Whole, AnyError>;
}

/// A return type that nothing is known of yet.
#[derive(Debug)]
pub struct Returned<R>(PhantomData<fn() -> R>);

impl<R> Returned<R> {
    /// What a body will return.
    pub const fn by<F: Future<Output = R>>(_: &Pin<&mut Option<F>>) -> Self {
        Self(PhantomData)
    }

    /// What a call ended with.
    pub const fn of(_: &End<R>) -> Self {
        Self(PhantomData)
    }
}

/// The kind of `Result<T, E>`, under whatever name, by what is known of `E`.
#[derive(Debug)]
pub struct Errs<T, E, Meaning, Keeping, Striking>(
    PhantomData<fn() -> Result<T, E>>,
    PhantomData<(Meaning, Keeping, Striking)>,
);

/// The kind of everything else.
#[derive(Debug)]
pub struct Never<R>(PhantomData<fn() -> R>);

/// What the errors of a type mean.
pub trait Means<E> {
    /// Whether the type has said it.
    const SAID: bool;

    /// What retry and breaker are told of an error.
    fn verdict(error: &E) -> Verdict;

    /// The error, told of the one before it.
    fn with_first_error(error: E, first: BoxError) -> E;
}

/// What becomes of an error that is tried again.
pub trait Keeps<E> {
    /// The error as a source.
    fn keep(error: E) -> Option<BoxError>;
}

/// Whether a test can inject an error.
pub trait Strikes<E> {
    /// The error as its own type; given back where it is none.
    #[cfg(feature = "testing")]
    #[allow(clippy::missing_errors_doc)] // said above
    fn strike(error: AnyError) -> Result<E, AnyError>;
}

/// The errors say it themselves, can be kept, or be injected.
#[derive(Debug)]
pub struct Said;

/// The errors say nothing: worth another try, and dropped.
#[derive(Debug)]
pub struct Unsaid;

impl<E: Classify> Means<E> for Said {
    const SAID: bool = true;

    #[inline]
    fn verdict(error: &E) -> Verdict {
        Verdict::error(error.class(), error.retry_after())
    }

    fn with_first_error(error: E, first: BoxError) -> E {
        error.with_first_error(first)
    }
}

impl<E> Means<E> for Unsaid {
    const SAID: bool = false;

    #[inline]
    fn verdict(_: &E) -> Verdict {
        Verdict::error(Class::Retryable, None)
    }

    fn with_first_error(error: E, _: BoxError) -> E {
        error
    }
}

impl<E: Into<BoxError>> Keeps<E> for Said {
    fn keep(error: E) -> Option<BoxError> {
        Some(error.into())
    }
}

impl<E> Keeps<E> for Unsaid {
    fn keep(_: E) -> Option<BoxError> {
        None
    }
}

#[cfg(feature = "testing")]
impl<E: Injectable> Strikes<E> for Said {
    fn strike(error: AnyError) -> Result<E, AnyError> {
        E::from_injected(error)
    }
}

impl<E> Strikes<E> for Unsaid {
    #[cfg(feature = "testing")]
    fn strike(error: AnyError) -> Result<E, AnyError> {
        Err(error)
    }
}

impl<T, E, Meaning: Means<E>, Keeping: Keeps<E>, Striking: Strikes<E>> Kind for Errs<T, E, Meaning, Keeping, Striking> {
    type Whole = Result<T, E>;
    type Value = T;
    type Error = E;
    const SAID: bool = Meaning::SAID;

    #[inline]
    fn verdict(&self, whole: &Result<T, E>) -> Verdict {
        match whole {
            Ok(_) => Verdict::OK,
            Err(error) => Meaning::verdict(error),
        }
    }

    fn keep(&self, whole: Result<T, E>) -> Option<BoxError> {
        whole.err().and_then(Keeping::keep)
    }

    #[inline]
    fn split(whole: Result<T, E>) -> Result<Result<T, E>, E> {
        whole.map(Ok)
    }

    fn failed(error: E) -> Option<Result<T, E>> {
        Some(Err(error))
    }

    fn with_first_error(&self, whole: Result<T, E>, first: BoxError) -> Result<T, E> {
        whole.map_err(|error| Meaning::with_first_error(error, first))
    }

    fn is_error(whole: &Result<T, E>) -> bool {
        whole.is_err()
    }

    fn value(whole: &Result<T, E>) -> Option<&T> {
        whole.as_ref().ok()
    }

    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<Result<T, E>, AnyError> {
        Striking::strike(error).map(Err)
    }
}

impl<R> Kind for Never<R> {
    type Whole = R;
    type Value = R;
    type Error = Error;

    #[inline]
    fn verdict(&self, _: &R) -> Verdict {
        Verdict::OK
    }

    fn keep(&self, _: R) -> Option<BoxError> {
        None
    }

    #[inline]
    fn split(whole: R) -> Result<R, Error> {
        Ok(whole)
    }

    fn failed(_: Error) -> Option<R> {
        None
    }

    fn is_error(_: &R) -> bool {
        false
    }

    fn value(whole: &R) -> Option<&R> {
        Some(whole)
    }

    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<R, AnyError> {
        Err(error)
    }
}

/// A kind whose verdict the user's predicates change.
#[derive(Debug)]
pub struct Asking<K, J> {
    kind: K,
    judge: J,
}

/// Lets predicates have their say after the type has had its own.
#[inline]
pub fn asking<K: Kind, J: Fn(Verdict, &K::Whole) -> Verdict>(kind: K, judge: J) -> Asking<K, J> {
    Asking { kind, judge }
}

impl<K: Kind, J: Fn(Verdict, &K::Whole) -> Verdict> Kind for Asking<K, J> {
    type Whole = K::Whole;
    type Value = K::Value;
    type Error = K::Error;

    #[inline]
    fn verdict(&self, whole: &K::Whole) -> Verdict {
        (self.judge)(self.kind.verdict(whole), whole)
    }

    fn keep(&self, whole: K::Whole) -> Option<BoxError> {
        self.kind.keep(whole)
    }

    #[inline]
    fn split(whole: K::Whole) -> Result<K::Whole, K::Error> {
        K::split(whole)
    }

    fn failed(error: K::Error) -> Option<K::Whole> {
        K::failed(error)
    }

    fn with_first_error(&self, whole: K::Whole, first: BoxError) -> K::Whole {
        self.kind.with_first_error(whole, first)
    }

    fn is_error(whole: &K::Whole) -> bool {
        K::is_error(whole)
    }

    fn value(whole: &K::Whole) -> Option<&K::Value> {
        K::value(whole)
    }

    #[cfg(feature = "testing")]
    fn strike(&self, error: AnyError) -> Result<K::Whole, AnyError> {
        self.kind.strike(error)
    }
}

/// Where the compiler looks for the answer. One trait for all of them: where the look-up passes by a step, it has one
/// candidate to try there and not five. The name of its method is one that no trait of the user's has.
pub trait Choice {
    /// The tag's type.
    type Kind;
    /// The tag.
    fn __wt_kind(&self) -> Self::Kind;
}

/// One answer per type that the look-up comes by.
macro_rules! kinds {
    ($([$($generic:tt)+] $for:ty => $kind:ty, $make:expr;)+) => {
        $(impl<$($generic)+> Choice for $for {
            type Kind = $kind;

            #[inline]
            fn __wt_kind(&self) -> $kind {
                $make
            }
        })+
    };
}

#[cfg(not(feature = "testing"))]
kinds! {
    [T, E: Classify + Into<BoxError>] &&&&Returned<Result<T, E>> => Errs<T, E, Said, Said, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E: Classify] &&&Returned<Result<T, E>> => Errs<T, E, Said, Unsaid, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E: Into<BoxError>] &&Returned<Result<T, E>> => Errs<T, E, Unsaid, Said, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E] &Returned<Result<T, E>> => Errs<T, E, Unsaid, Unsaid, Unsaid>, Errs(PhantomData, PhantomData);
    [R] Returned<R> => Never<R>, Never(PhantomData);
}

// A fourth question, for tests alone, takes as many answers again. They come first, in the places that generated code asks
// by reference; the others move down to where the compiler gets by dereferencing.
#[cfg(feature = "testing")]
kinds! {
    [T, E: Injectable + Classify + Into<BoxError>] &&&&Returned<Result<T, E>> => Errs<T, E, Said, Said, Said>, Errs(PhantomData, PhantomData);
    [T, E: Injectable + Classify] &&&Returned<Result<T, E>> => Errs<T, E, Said, Unsaid, Said>, Errs(PhantomData, PhantomData);
    [T, E: Injectable + Into<BoxError>] &&Returned<Result<T, E>> => Errs<T, E, Unsaid, Said, Said>, Errs(PhantomData, PhantomData);
    [T, E: Injectable] &Returned<Result<T, E>> => Errs<T, E, Unsaid, Unsaid, Said>, Errs(PhantomData, PhantomData);
    [T, E: Classify + Into<BoxError>] Returned<Result<T, E>> => Errs<T, E, Said, Said, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E: Classify] Further<1, Result<T, E>> => Errs<T, E, Said, Unsaid, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E: Into<BoxError>] Further<2, Result<T, E>> => Errs<T, E, Unsaid, Said, Unsaid>, Errs(PhantomData, PhantomData);
    [T, E] Further<3, Result<T, E>> => Errs<T, E, Unsaid, Unsaid, Unsaid>, Errs(PhantomData, PhantomData);
    [R] Further<4, R> => Never<R>, Never(PhantomData);
}

/// A return type, so many steps further down.
#[cfg(feature = "testing")]
#[derive(Debug)]
pub struct Further<const STEPS: usize, R>(PhantomData<fn() -> R>);

/// One step down.
#[cfg(feature = "testing")]
macro_rules! down {
    ($($from:ty => $to:ty;)+) => {
        $(impl<R> std::ops::Deref for $from {
            type Target = $to;

            fn deref(&self) -> &$to {
                &Further(PhantomData)
            }
        })+
    };
}

#[cfg(feature = "testing")]
down! {
    Returned<R> => Further<1, R>;
    Further<1, R> => Further<2, R>;
    Further<2, R> => Further<3, R>;
    Further<3, R> => Further<4, R>;
}
