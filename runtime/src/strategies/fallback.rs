//! An answer for the day the dependency hangs.
//!
//! A recommendations strip is worth having and not worth waiting for; the page can do without. A fallback says what it
//! does without: it answers for every failure of the call (refused, cut short, out of time, or the body's own final
//! error), once, outermost, with no slot held. A panic is a bug and is not answered for.
//!
//! The function named in the attribute may take nothing, the failure as [`Failure<E>`](crate::Failure), or the caller's
//! own error type; it may return the value or the whole result, at once or as a future. Which of these it is, is
//! resolved by its type: [`Answers`] is implemented once per form, each with a marker of its own, and exactly one fits a
//! given function.
//!
//! Invariants: the body's success never meets the fallback; what the function returns reaches the caller untouched; a
//! fallback that fails surfaces its own error.

use std::future::{Future, Ready, ready};
use std::marker::PhantomData;

use crate::call::{Error, Failure};

/// How a guarded function's return type divides into a value and a failure.
pub trait Shape {
    /// The return type.
    type Whole;
    /// What it is worth when all went well.
    type Value;
    /// What it can carry when it did not.
    type Error;

    /// Divides.
    ///
    /// # Errors
    ///
    /// The function's own error, when it returned one.
    fn split(whole: Self::Whole) -> Result<Self::Whole, Self::Error>;

    /// Whether a fallback's whole answer is a failure itself.
    fn is_failure(whole: &Self::Whole) -> bool;

    /// The return type around a value.
    fn value(value: Self::Value) -> Self::Whole;
}

/// The shape of `Result<T, E>`, under whatever name.
#[derive(Debug)]
pub struct Fallible<T, E>(PhantomData<fn() -> (T, E)>);

/// The shape of everything else: it cannot carry an error.
#[derive(Debug)]
pub struct Plain<T>(PhantomData<fn() -> T>);

impl<T, E> Fallible<T, E> {
    /// The tag.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T, E> Default for Fallible<T, E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Plain<T> {
    /// The tag.
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T> Default for Plain<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, E> Shape for Fallible<T, E> {
    type Whole = Result<T, E>;
    type Value = T;
    type Error = E;

    fn split(whole: Self::Whole) -> Result<Self::Whole, E> {
        whole.map(Ok)
    }

    fn is_failure(whole: &Self::Whole) -> bool {
        whole.is_err()
    }

    fn value(value: T) -> Self::Whole {
        Ok(value)
    }
}

impl<T> Shape for Plain<T> {
    type Whole = T;
    type Value = T;
    type Error = Error;

    fn split(whole: T) -> Result<T, Error> {
        Ok(whole)
    }

    fn is_failure(_: &T) -> bool {
        false
    }

    fn value(value: T) -> T {
        value
    }
}

/// Markers of the forms a fallback may have.
pub mod form {
    /// Takes nothing.
    #[derive(Debug)]
    pub struct Nothing;
    /// Takes the failure.
    #[derive(Debug)]
    pub struct TheFailure;
    /// Takes the caller's error type.
    #[derive(Debug)]
    pub struct TheError;
    /// Returns the value.
    #[derive(Debug)]
    pub struct Value;
    /// Returns the whole return type.
    #[derive(Debug)]
    pub struct Whole;
    /// Returns a future of the value.
    #[derive(Debug)]
    pub struct FutureValue;
    /// Returns a future of the whole return type.
    #[derive(Debug)]
    pub struct FutureWhole;
}

/// What a fallback may return, for a function of shape `S`.
pub trait Lands<S: Shape, Form> {
    /// The future of the return type.
    type Landing: Future<Output = S::Whole>;

    /// Turns it into that.
    fn land(self) -> Self::Landing;
}

impl<T, E> Lands<Fallible<T, E>, form::Value> for T {
    type Landing = Ready<Result<T, E>>;

    fn land(self) -> Self::Landing {
        ready(Ok(self))
    }
}

impl<T, E> Lands<Fallible<T, E>, form::Whole> for Result<T, E> {
    type Landing = Ready<Self>;

    fn land(self) -> Self::Landing {
        ready(self)
    }
}

impl<T> Lands<Plain<T>, form::Value> for T {
    type Landing = Ready<T>;

    fn land(self) -> Self::Landing {
        ready(self)
    }
}

impl<S: Shape, F: Future<Output = S::Value>> Lands<S, form::FutureValue> for F {
    type Landing = Wrapped<S, F>;

    fn land(self) -> Self::Landing {
        Wrapped { future: self, shape: PhantomData }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> Lands<Fallible<T, E>, form::FutureWhole> for F {
    type Landing = F;

    fn land(self) -> F {
        self
    }
}

pin_project_lite::pin_project! {
    /// A future of the value, wrapped into the return type.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Wrapped<S, F> {
        #[pin]
        future: F,
        shape: PhantomData<fn() -> S>,
    }
}

impl<S: Shape, F: Future<Output = S::Value>> Future for Wrapped<S, F> {
    type Output = S::Whole;

    fn poll(self: std::pin::Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> std::task::Poll<S::Whole> {
        self.project().future.poll(cx).map(S::value)
    }
}

/// A function or closure that can answer for a guarded function of shape `S`.
#[diagnostic::on_unimplemented(
    message = "this is not a fallback for a function that returns `{S}`",
    label = "takes or returns something else than a fallback may",
    note = "a fallback takes nothing, `watertight::Failure<E>` or the function's own error type `E`",
    note = "and returns the value or the whole return type of the function, at once or from an `async fn`"
)]
pub trait Answers<S: Shape, Form> {
    /// The future of the answer.
    type Answer: Future<Output = S::Whole>;

    /// Answers for a failure.
    fn answer(self, failure: Failure<S::Error>) -> Self::Answer;
}

impl<S: Shape, F: FnOnce() -> O, O: Lands<S, Form>, Form> Answers<S, (form::Nothing, Form)> for F {
    type Answer = O::Landing;

    fn answer(self, _: Failure<S::Error>) -> Self::Answer {
        self().land()
    }
}

impl<S: Shape, F: FnOnce(Failure<S::Error>) -> O, O: Lands<S, Form>, Form> Answers<S, (form::TheFailure, Form)> for F {
    type Answer = O::Landing;

    fn answer(self, failure: Failure<S::Error>) -> Self::Answer {
        self(failure).land()
    }
}

impl<S: Shape, F: FnOnce(S::Error) -> O, O: Lands<S, Form>, Form> Answers<S, (form::TheError, Form)> for F
where
    S::Error: From<Error>,
{
    type Answer = O::Landing;

    fn answer(self, failure: Failure<S::Error>) -> Self::Answer {
        self(match failure {
            Failure::Refused(error) => error.into(),
            Failure::Failed(error) => error,
        })
        .land()
    }
}
