//! From how a call ended to what its caller gets: the body's answer, our refusal in the caller's own type, or the
//! fallback's answer. The fate is booked here, last of all, when what the fallback did is known.
//!
//! Invariant: each of these books exactly once, unless it is dropped or panics, which the call's Drop books.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::call::Call;
use super::end::{End, Refusable};
use super::kind::Kind;
use super::run::{Again, Attempt, Once, Times};
use super::terms::Terms;
use crate::call::{BoxError, Detail, Error, Failure, FallbackUse, Identity};
use crate::strategies::fallback::{Answers, Landed};

/// Without a fallback: a refusal reaches the caller.
#[inline]
pub fn answer<R: Refusable>(mut call: Pin<&mut Call>, end: End<R>) -> R {
    call.as_mut().book(FallbackUse::None);
    match end {
        End::Answered(answer) => answer,
        End::Refused => R::refused(refusal(call)),
    }
}

/// Without a fallback and without anything that could refuse.
///
/// # Panics
///
/// If a call was refused all the same, which no declaration without refusing strategies allows.
#[inline]
pub fn answer_unrefused<R>(mut call: Pin<&mut Call>, end: End<R>) -> R {
    call.as_mut().book(FallbackUse::None);
    match end {
        End::Answered(answer) => answer,
        End::Refused => unreachable!("watertight refused a call that nothing can refuse: {}", refusal(call)),
    }
}

#[cold]
pub(super) fn refusal(call: Pin<&mut Call>) -> Error {
    // A call without an answer always knows why; were that ever wrong, a spent deadline is the mildest thing to say.
    call.take_refusal().unwrap_or_else(|| Error::new(None, Detail::Spent { in_queue: false }))
}

/// With a fallback: tells a success, which is booked, from a failure, for which the fallback is asked next.
///
/// # Errors
///
/// The failure.
#[inline]
pub fn settle<K: Kind>(_: &K, call: &mut Pin<&mut Call>, end: End<K::Whole>) -> Result<K::Whole, Failure<K::Error>> {
    divide::<K>(call.as_mut(), end)
}

#[inline]
fn divide<K: Kind>(mut call: Pin<&mut Call>, end: End<K::Whole>) -> Result<K::Whole, Failure<K::Error>> {
    let failure = match end {
        End::Answered(whole) => match K::split(whole) {
            Ok(whole) => {
                call.book(FallbackUse::None);
                return Ok(whole);
            }
            Err(error) => Failure::Failed(error),
        },
        End::Refused => Failure::Refused(refusal(call.as_mut())),
    };
    call.ask_fallback();
    Err(failure)
}

/// With a fallback that may name the call's arguments, and therefore runs when the body and its frame are gone.
pub fn fall_back<'a, K: Kind, Form, A: Answers<K::Value, K::Error, K::Whole, Form>>(
    kind: K,
    call: &'a mut Pin<&mut Call>,
    failure: Failure<K::Error>,
    fallback: A,
) -> Answering<'a, K, A::Later> {
    fall_back_on(kind, call, failure, fallback, Terms::NONE)
}

/// The same with a fallback that has terms.
pub fn fall_back_on<'a, K: Kind, Form, A: Answers<K::Value, K::Error, K::Whole, Form>>(
    kind: K,
    call: &'a mut Pin<&mut Call>,
    failure: Failure<K::Error>,
    fallback: A,
    terms: Terms<K::Whole>,
) -> Answering<'a, K, A::Later> {
    let why = terms.within.and_then(|_| failure.refusal().map(Error::again));
    let site = call.pipeline.identity;
    let (landed, failure) = fallback.answer(failure);
    let (now, later, first) = match landed {
        Landed::Now(whole) => (Some(knowing(&kind, whole, failure)), None, None),
        Landed::Later(later) => (None, Some(later), Some(Box::new(First { site, failure, why }))),
    };
    Answering { call: call.as_mut(), kind, now, later, first, terms }
}

/// The failure that a fallback was asked about, while it takes its time.
struct First<E> {
    site: &'static Identity,
    /// It, where the fallback was not given it.
    failure: Option<Failure<E>>,
    /// What a refusal says, where it may have to be said again.
    why: Option<Error>,
}

impl<E> First<E> {
    /// What the caller gets when the fallback is late.
    fn late<K: Kind<Error = E>>(self, carry: fn(Error) -> K::Whole) -> Option<K::Whole> {
        match self.failure {
            Some(Failure::Failed(error)) => K::failed(error),
            Some(Failure::Refused(error)) => Some(carry(error)),
            None => Some(carry(self.why.unwrap_or_else(|| Error::new(Some(self.site), Detail::FallbackCut)))),
        }
    }
}

/// The fallback's answer; if it is an error, one that knows of the first.
fn knowing<K: Kind>(kind: &K, whole: K::Whole, first: Option<Failure<K::Error>>) -> K::Whole {
    match first.filter(|_| K::is_error(&whole)).and_then(|first| as_source(kind, first)) {
        Some(first) => kind.with_first_error(whole, first),
        None => whole,
    }
}

/// A failure as another's source, if it can be one.
fn as_source<K: Kind>(kind: &K, failure: Failure<K::Error>) -> Option<BoxError> {
    match failure {
        Failure::Refused(error) => Some(error.into()),
        Failure::Failed(error) => kind.keep(K::failed(error)?),
    }
}

pin_project! {
    /// The future of [`fall_back`] and [`fall_back_on`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Answering<'a, K: Kind, L> {
        call: Pin<&'a mut Call>,
        kind: K,
        now: Option<K::Whole>,
        #[pin]
        later: Option<L>,
        first: Option<Box<First<K::Error>>>,
        terms: Terms<K::Whole>,
    }
}

impl<K: Kind, L: Future<Output = K::Whole>> Future for Answering<'_, K, L> {
    type Output = K::Whole;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<K::Whole> {
        let mut this = self.project();
        let whole = match (this.now.take(), this.later.as_mut().as_pin_mut()) {
            (Some(whole), _) => whole,
            (None, None) => return Poll::Pending,
            (None, Some(later)) => match later.poll(cx) {
                Poll::Ready(whole) => knowing(this.kind, whole, this.first.take().and_then(|first| first.failure)),
                Poll::Pending => {
                    let Some(carry) = this.terms.within else { return Poll::Pending };
                    ready!(this.call.as_mut().poll_late(cx));
                    let Some(late) = this.first.take().and_then(|first| first.late::<K>(carry)) else {
                        return Poll::Pending;
                    };
                    this.later.set(None);
                    late
                }
            },
        };
        book::<K>(this.call.as_mut(), &whole);
        Poll::Ready(whole)
    }
}

fn book<K: Kind>(call: Pin<&mut Call>, whole: &K::Whole) {
    let serves = call.pipeline.fallback.as_ref().is_some_and(|answerer| answerer.serves);
    let used = if serves { FallbackUse::LastGood } else { FallbackUse::Used };
    call.book(if K::is_error(whole) { FallbackUse::Failed } else { used });
}

/// Runs the only attempt of a call, and answers for it if it fails.
#[inline]
pub fn once_or<'a, F, K, A, Form>(
    call: &'a mut Pin<&mut Call>,
    body: Pin<&'a mut Option<F>>,
    kind: K,
    fallback: A,
) -> OrAnswer<'a, F, K, A, A::Later, Once>
where
    F: Future,
    K: Kind<Whole = F::Output>,
    A: Answers<K::Value, K::Error, K::Whole, Form>,
{
    OrAnswer {
        attempt: Attempt::new(call.as_mut(), body, kind),
        fallback: Some((fallback, A::answer)),
        later: None,
        first: None,
    }
}

/// Runs one attempt of a call that may have more, and answers for the call if it was the last and failed.
#[inline]
pub fn attempt_or<'a, F, K, A, Form>(
    call: &'a mut Pin<&mut Call>,
    body: Pin<&'a mut Option<F>>,
    kind: K,
    fallback: A,
) -> OrAnswer<'a, F, K, A, A::Later, Again>
where
    F: Future,
    K: Kind<Whole = F::Output>,
    A: Answers<K::Value, K::Error, K::Whole, Form>,
{
    OrAnswer {
        attempt: Attempt::new(call.as_mut(), body, kind),
        fallback: Some((fallback, A::answer)),
        later: None,
        first: None,
    }
}

/// How a fallback is asked. A pointer, so that the future below need not repeat what a fallback has to be: the compiler
/// would say twice what is wrong with one that does not fit.
type Ask<K, A, L> = fn(A, Failure<<K as Kind>::Error>) -> (Landed<<K as Kind>::Whole, L>, GivenBack<K>);

/// The failure that a fallback had no use for.
type GivenBack<K> = Option<Failure<<K as Kind>::Error>>;

pin_project! {
    /// The future of [`once_or`] and [`attempt_or`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct OrAnswer<'a, F, K: Kind, A, L, N> {
        attempt: Attempt<'a, F, K, N>,
        fallback: Option<(A, Ask<K, A, L>)>,
        #[pin]
        later: Option<L>,
        first: Option<BoxError>,
    }
}

impl<F, K, A, L, N> Future for OrAnswer<'_, F, K, A, L, N>
where
    F: Future,
    K: Kind<Whole = F::Output>,
    L: Future<Output = F::Output>,
    N: Times,
{
    type Output = N::Step<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if this.later.is_none() {
            let Some(end) = ready!(this.attempt.poll_end(cx)) else {
                return N::again().map_or(Poll::Pending, Poll::Ready);
            };
            let failure = match divide::<K>(this.attempt.frame.call.as_mut(), end) {
                Ok(whole) => return Poll::Ready(N::end(whole)),
                Err(failure) => failure,
            };
            this.attempt.frame.drop_unstarted();
            let Some((fallback, ask)) = this.fallback.take() else { return Poll::Pending };
            let (landed, first) = ask(fallback, failure);
            match landed {
                Landed::Now(whole) => {
                    let whole = knowing(&this.attempt.kind, whole, first);
                    book::<K>(this.attempt.frame.call.as_mut(), &whole);
                    return Poll::Ready(N::end(whole));
                }
                Landed::Later(later) => {
                    // As a source and not as it is, which need not be `Send`.
                    *this.first = first.and_then(|first| as_source(&this.attempt.kind, first));
                    this.later.set(Some(later));
                }
            }
        }
        let Some(later) = this.later.as_mut().as_pin_mut() else { return Poll::Pending };
        let whole = ready!(later.poll(cx));
        let whole = match this.first.take().filter(|_| K::is_error(&whole)) {
            Some(first) => this.attempt.kind.with_first_error(whole, first),
            None => whole,
        };
        book::<K>(this.attempt.frame.call.as_mut(), &whole);
        Poll::Ready(N::end(whole))
    }
}
