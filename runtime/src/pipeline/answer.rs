//! From how a call ended to what its caller gets: the body's answer, our refusal in the caller's own type, or the
//! fallback's answer. The fate is booked here, last of all, when what the fallback did is known.
//!
//! Invariant: each of these books exactly once, unless it is dropped or panics, which the call's Drop books.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::call::Call;
use super::end::{End, Refusable};
use crate::call::{Detail, Error, Failure, FallbackUse};
use crate::strategies::fallback::{Answers, Shape};

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
pub fn settle<S: Shape>(_: &S, mut call: Pin<&mut Call>, end: End<S::Whole>) -> Result<S::Whole, Failure<S::Error>> {
    let failure = match end {
        End::Answered(whole) => match S::split(whole) {
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

/// With a fallback: it answers for a failure.
pub fn fall_back<S: Shape, Form, A: Answers<S, Form>>(
    _: S,
    call: Pin<&mut Call>,
    failure: Failure<S::Error>,
    fallback: A,
) -> Answering<'_, S, A::Answer> {
    Answering { call, answer: fallback.answer(failure), shape: PhantomData }
}

pin_project! {
    /// The future of [`fall_back`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Answering<'a, S, F> {
        call: Pin<&'a mut Call>,
        #[pin]
        answer: F,
        shape: PhantomData<fn() -> S>,
    }
}

impl<S: Shape, F: Future<Output = S::Whole>> Future for Answering<'_, S, F> {
    type Output = S::Whole;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<S::Whole> {
        let this = self.project();
        let whole = ready!(this.answer.poll(cx));
        this.call.as_mut().book(if S::is_failure(&whole) { FallbackUse::Failed } else { FallbackUse::Used });
        Poll::Ready(whole)
    }
}
