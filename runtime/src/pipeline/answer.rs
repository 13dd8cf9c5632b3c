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
use crate::call::{Detail, Error, Failure, FallbackUse};
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
fn refusal(call: Pin<&mut Call>) -> Error {
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
    _: K,
    call: &'a mut Pin<&mut Call>,
    failure: Failure<K::Error>,
    fallback: A,
) -> Answering<'a, K, A::Later> {
    let (now, later) = match fallback.answer(failure) {
        Landed::Now(whole) => (Some(whole), None),
        Landed::Later(later) => (None, Some(later)),
    };
    Answering { call: call.as_mut(), now, later }
}

pin_project! {
    /// The future of [`fall_back`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Answering<'a, K: Kind, L> {
        call: Pin<&'a mut Call>,
        now: Option<K::Whole>,
        #[pin]
        later: Option<L>,
    }
}

impl<K: Kind, L: Future<Output = K::Whole>> Future for Answering<'_, K, L> {
    type Output = K::Whole;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<K::Whole> {
        let this = self.project();
        let whole = match (this.now.take(), this.later.as_pin_mut()) {
            (Some(whole), _) => whole,
            (None, Some(later)) => ready!(later.poll(cx)),
            (None, None) => return Poll::Pending,
        };
        book::<K>(this.call.as_mut(), &whole);
        Poll::Ready(whole)
    }
}

fn book<K: Kind>(call: Pin<&mut Call>, whole: &K::Whole) {
    let used = if call.pipeline.last_good.is_some() { FallbackUse::LastGood } else { FallbackUse::Used };
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
    OrAnswer { attempt: Attempt::new(call.as_mut(), body, kind), fallback: Some((fallback, A::answer)), later: None }
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
    OrAnswer { attempt: Attempt::new(call.as_mut(), body, kind), fallback: Some((fallback, A::answer)), later: None }
}

/// How a fallback is asked. A pointer, so that the future below need not repeat what a fallback has to be: the compiler
/// would say twice what is wrong with one that does not fit.
type Ask<K, A, L> = fn(A, Failure<<K as Kind>::Error>) -> Landed<<K as Kind>::Whole, L>;

pin_project! {
    /// The future of [`once_or`] and [`attempt_or`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct OrAnswer<'a, F, K: Kind, A, L, N> {
        attempt: Attempt<'a, F, K, N>,
        fallback: Option<(A, Ask<K, A, L>)>,
        #[pin]
        later: Option<L>,
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
            match ask(fallback, failure) {
                Landed::Now(whole) => {
                    book::<K>(this.attempt.frame.call.as_mut(), &whole);
                    return Poll::Ready(N::end(whole));
                }
                Landed::Later(later) => this.later.set(Some(later)),
            }
        }
        let Some(later) = this.later.as_mut().as_pin_mut() else { return Poll::Pending };
        let whole = ready!(later.poll(cx));
        book::<K>(this.attempt.frame.call.as_mut(), &whole);
        Poll::Ready(N::end(whole))
    }
}
