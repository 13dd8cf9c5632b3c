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
//! What it answers for can be narrowed (`on`), and how many calls it answers for at once can be bounded (`limit`): the
//! others get what they would get without it.
//!
//! Invariants: the body's success never meets the fallback; what the function returns reaches the caller untouched; a
//! fallback that fails surfaces its own error, which may learn of the first one.

mod cap;
mod config;
mod decide;
mod last_good;

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) use cap::{Cap, Inside};
pub use config::Config;
pub(crate) use config::On;
pub use last_good::Keepable;
pub(crate) use last_good::LastGood;

use crate::call::{Error, Failure};

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
    /// Takes the caller's error type, where nothing refuses.
    #[derive(Debug)]
    pub struct TheErrorAlone;
    /// Is the most recent success, and no function.
    #[derive(Debug)]
    pub struct LastGood;
    /// Returns the value.
    #[derive(Debug)]
    pub struct Value;
    /// Returns the whole return type.
    #[derive(Debug)]
    pub struct Whole;
    /// Returns never.
    #[derive(Debug)]
    pub struct Diverges;
    /// Returns a future of the value.
    #[derive(Debug)]
    pub struct FutureValue;
    /// Returns a future of the whole return type.
    #[derive(Debug)]
    pub struct FutureWhole;
}

/// An answer that is there, or the future of one. Told apart, so that a fallback that answers at once costs its caller no
/// place for a future, and its answer need not be `Send`.
#[derive(Debug)]
pub enum Landed<W, L> {
    /// At once.
    Now(W),
    /// When the future is ready.
    Later(L),
}

/// What a fallback may return, for a function that returns `Whole`, which is worth `Value` when all went well.
pub trait Lands<Value, Whole, Form> {
    /// The future of the return type, where it is not returned at once.
    type Later: Future<Output = Whole>;

    /// Turns it into the return type, or a future of that.
    fn land(self) -> Landed<Whole, Self::Later>;
}

/// The future of those that need none.
#[derive(Debug)]
pub struct AtOnce<W>(Infallible, PhantomData<fn() -> W>);

impl<W> Future for AtOnce<W> {
    type Output = W;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<W> {
        match self.0 {}
    }
}

impl<T, E> Lands<T, Result<T, E>, form::Value> for T {
    type Later = AtOnce<Result<T, E>>;

    fn land(self) -> Landed<Result<T, E>, Self::Later> {
        Landed::Now(Ok(self))
    }
}

impl<V, W> Lands<V, W, form::Whole> for W {
    type Later = AtOnce<W>;

    fn land(self) -> Landed<W, Self::Later> {
        Landed::Now(self)
    }
}

impl<V, W> Lands<V, W, form::Diverges> for Diverges {
    type Later = AtOnce<W>;

    fn land(self) -> Landed<W, AtOnce<W>> {
        self
    }
}

impl<T, E, F: Future<Output = T>> Lands<T, Result<T, E>, form::FutureValue> for F {
    type Later = Succeeding<F, E>;

    fn land(self) -> Landed<Result<T, E>, Self::Later> {
        Landed::Later(Succeeding { future: self, error: PhantomData })
    }
}

impl<V, W, F: Future<Output = W>> Lands<V, W, form::FutureWhole> for F {
    type Later = F;

    fn land(self) -> Landed<W, F> {
        Landed::Later(self)
    }
}

/// The type `!`, which has no name that could be written.
type Diverges = <fn() -> ! as Returns>::Output;

/// What a function returns.
pub trait Returns {
    /// It.
    type Output;
}

impl<R> Returns for fn() -> R {
    type Output = R;
}

pin_project_lite::pin_project! {
    /// A future of the value, as one of the whole result.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Succeeding<F, E> {
        #[pin]
        future: F,
        error: PhantomData<fn() -> E>,
    }
}

impl<F: Future, E> Future for Succeeding<F, E> {
    type Output = Result<F::Output, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().future.poll(cx).map(Ok)
    }
}

/// A function or closure that can answer for a guarded function that returns `Whole`, which holds a `Value` or an `E`.
///
/// The three types stand apart, though the first would do, so that the compiler can name each of them to the user.
#[diagnostic::on_unimplemented(
    message = "this fallback does not fit a function that returns `{Whole}`",
    label = "is no function or closure that returns `{Value}`",
    note = "it may be `fn() -> {Value}`, `fn(watertight::Failure<{E}>) -> {Value}` or `fn({E}) -> {Value}`",
    note = "it may be an `async fn` of the same kind, and return `{Whole}` instead",
    note = "one that takes `{E}` needs it to be `From<watertight::Error>`, for that may be what there is to answer for"
)]
pub trait Answers<Value, E, Whole, Form> {
    /// The future of the answer, where it is not there at once.
    type Later: Future<Output = Whole>;

    /// Answers for a failure, which comes back if it was not wanted.
    fn answer(self, failure: Failure<E>) -> (Landed<Whole, Self::Later>, Option<Failure<E>>);
}

impl<V, E, W, F: FnOnce() -> O, O: Lands<V, W, Form>, Form> Answers<V, E, W, (form::Nothing, Form)> for F {
    type Later = O::Later;

    fn answer(self, failure: Failure<E>) -> (Landed<W, O::Later>, Option<Failure<E>>) {
        (self().land(), Some(failure))
    }
}

impl<V, E, W, F: FnOnce(Failure<E>) -> O, O: Lands<V, W, Form>, Form> Answers<V, E, W, (form::TheFailure, Form)> for F {
    type Later = O::Later;

    fn answer(self, failure: Failure<E>) -> (Landed<W, O::Later>, Option<Failure<E>>) {
        (self(failure).land(), None)
    }
}

impl<V, E: From<Error>, W, F: FnOnce(E) -> O, O: Lands<V, W, Form>, Form> Answers<V, E, W, (form::TheError, Form)>
    for F
{
    type Later = O::Later;

    fn answer(self, failure: Failure<E>) -> (Landed<W, O::Later>, Option<Failure<E>>) {
        (self(failure.into_error()).land(), None)
    }
}

/// A closure that takes the function's own error, where there is nothing else to be told.
#[derive(Debug)]
pub struct ErrorAlone<F>(pub F);

// No user can name it, so no message about a fallback that does not fit should.
#[diagnostic::do_not_recommend]
impl<V, E, W, F: FnOnce(E) -> O, O: Lands<V, W, Form>, Form> Answers<V, E, W, (form::TheErrorAlone, Form)>
    for ErrorAlone<F>
{
    type Later = O::Later;

    /// # Panics
    ///
    /// When it is told of a refusal all the same, which no declaration allows that says so.
    fn answer(self, failure: Failure<E>) -> (Landed<W, O::Later>, Option<Failure<E>>) {
        match failure {
            Failure::Failed(error) => (self.0(error).land(), None),
            Failure::Refused(error) => unreachable!("watertight refused a call that nothing can refuse: {error}"),
        }
    }
}
