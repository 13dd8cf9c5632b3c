//! From how a call ended to what its caller gets: the body's answer, our refusal in the caller's own type, or the
//! fallback's answer. The fate is booked here, last of all, when what the fallback did is known.
//!
//! Invariant: each of these books exactly once, unless it is dropped or panics, which the call's Drop books.

use std::pin::Pin;

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

/// With a fallback: it answers for every failure.
pub async fn fall_back<S, Form, A>(_shape: S, mut call: Pin<&mut Call>, end: End<S::Whole>, fallback: A) -> S::Whole
where
    S: Shape,
    A: Answers<S, Form>,
{
    let failure = match end {
        End::Answered(whole) => match S::split(whole) {
            Ok(whole) => {
                call.book(FallbackUse::None);
                return whole;
            }
            Err(error) => Failure::Failed(error),
        },
        End::Refused => Failure::Refused(refusal(call.as_mut())),
    };
    call.as_mut().ask_fallback();
    let whole = fallback.answer(failure).await;
    call.book(if S::is_failure(&whole) { FallbackUse::Failed } else { FallbackUse::Used });
    whole
}
