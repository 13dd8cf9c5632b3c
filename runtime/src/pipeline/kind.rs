//! What a return type says, decided once per guarded function.
//!
//! Three questions are put to it: does it carry errors, do those say what they mean, and can one of them be kept as the
//! source of another. Each has a general answer and a special one, and generated code cannot know which holds: an alias
//! of `Result` is a `Result`, and whether `E: Classify` is written somewhere else. So the compiler is asked by autoref
//! specialisation: `(&&&&&Returned::by(&body)).__wt_kind()` finds the implementation that needs the fewest references, the
//! most special one first, and what comes back is a tag of no size, whose type holds all three answers.
//!
//! One look-up and one tag per function is not only shorter to read than a closure for each question. Every expression
//! in generated code is type-checked in every annotated function, and method look-ups cost the most of all.
//!
//! Invariant: a tag is of no size; choosing one runs no code of the user's.

use std::marker::PhantomData;
use std::pin::Pin;

use super::end::End;
use crate::call::{BoxError, Class, Classify, Error, Verdict};

/// A return type, as the pipeline sees it.
pub trait Kind {
    /// The return type.
    type Whole;
    /// What it is worth when all went well.
    type Value;
    /// What it can carry when it did not.
    type Error;

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

    /// Whether it is an error.
    fn is_error(whole: &Self::Whole) -> bool;

    /// What it is worth, if it is no error.
    fn value(whole: &Self::Whole) -> Option<&Self::Value>;
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
pub struct Errs<T, E, Meaning, Keeping>(PhantomData<fn() -> Result<T, E>>, PhantomData<(Meaning, Keeping)>);

/// The kind of everything else.
#[derive(Debug)]
pub struct Never<R>(PhantomData<fn() -> R>);

/// What the errors of a type mean.
pub trait Means<E> {
    /// What retry and breaker are told of an error.
    fn verdict(error: &E) -> Verdict;
}

/// What becomes of an error that is tried again.
pub trait Keeps<E> {
    /// The error as a source.
    fn keep(error: E) -> Option<BoxError>;
}

/// The errors say it themselves, or can be kept.
#[derive(Debug)]
pub struct Said;

/// The errors say nothing: worth another try, and dropped.
#[derive(Debug)]
pub struct Unsaid;

impl<E: Classify> Means<E> for Said {
    #[inline]
    fn verdict(error: &E) -> Verdict {
        Verdict::error(error.class(), error.retry_after())
    }
}

impl<E> Means<E> for Unsaid {
    #[inline]
    fn verdict(_: &E) -> Verdict {
        Verdict::error(Class::Retryable, None)
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

impl<T, E, Meaning: Means<E>, Keeping: Keeps<E>> Kind for Errs<T, E, Meaning, Keeping> {
    type Whole = Result<T, E>;
    type Value = T;
    type Error = E;

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

    fn is_error(whole: &Result<T, E>) -> bool {
        whole.is_err()
    }

    fn value(whole: &Result<T, E>) -> Option<&T> {
        whole.as_ref().ok()
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

    fn is_error(_: &R) -> bool {
        false
    }

    fn value(whole: &R) -> Option<&R> {
        Some(whole)
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

    fn is_error(whole: &K::Whole) -> bool {
        K::is_error(whole)
    }

    fn value(whole: &K::Whole) -> Option<&K::Value> {
        K::value(whole)
    }
}

/// One trait per answer. Their one method has a name that no trait of the user's has.
macro_rules! kinds {
    ($($choice:ident: [$($generic:tt)+] $for:ty => $kind:ty, $make:expr;)+) => {
        $(/// One of the answers.
        pub trait $choice {
            /// The tag's type.
            type Kind;
            /// The tag.
            fn __wt_kind(&self) -> Self::Kind;
        }

        impl<$($generic)+> $choice for $for {
            type Kind = $kind;

            #[inline]
            fn __wt_kind(&self) -> $kind {
                $make
            }
        })+
    };
}

kinds! {
    SaidAndKept: [T, E: Classify + Into<BoxError>] &&&&Returned<Result<T, E>> => Errs<T, E, Said, Said>, Errs(PhantomData, PhantomData);
    SaidOnly: [T, E: Classify] &&&Returned<Result<T, E>> => Errs<T, E, Said, Unsaid>, Errs(PhantomData, PhantomData);
    KeptOnly: [T, E: Into<BoxError>] &&Returned<Result<T, E>> => Errs<T, E, Unsaid, Said>, Errs(PhantomData, PhantomData);
    NeitherOfThem: [T, E] &Returned<Result<T, E>> => Errs<T, E, Unsaid, Unsaid>, Errs(PhantomData, PhantomData);
    NoErrors: [R] Returned<R> => Never<R>, Never(PhantomData);
}
