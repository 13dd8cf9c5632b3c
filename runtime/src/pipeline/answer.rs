//! From how a call ended to what its caller gets: the body's answer, our refusal in the caller's own type, or the
//! fallback's answer. The fate is booked here, last of all, when what the fallback did is known.
//!
//! Invariant: each of these books exactly once, unless it is dropped or panics, which the call's Drop books.

use std::pin::Pin;

use super::call::Call;
use super::end::{End, Refusable};
use crate::call::{Failure, FallbackUse};
use crate::strategies::fallback::{Answers, Shape};

/// Without a fallback: a refusal reaches the caller.
#[inline]
pub fn answer<R: Refusable>(call: Pin<&mut Call>, end: End<R>) -> R {
    call.book(FallbackUse::None);
    match end {
        End::Answered(answer) => answer,
        End::Refused(error) => R::refused(error),
    }
}

/// Without a fallback and without anything that could refuse.
///
/// # Panics
///
/// If a call was refused all the same, which no declaration without refusing strategies allows.
#[inline]
pub fn answer_unrefused<R>(call: Pin<&mut Call>, end: End<R>) -> R {
    call.book(FallbackUse::None);
    match end {
        End::Answered(answer) => answer,
        End::Refused(error) => unreachable!("watertight refused a call that nothing can refuse: {error}"),
    }
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
        End::Refused(error) => Failure::Refused(error),
    };
    call.as_mut().ask_fallback();
    let whole = fallback.answer(failure).await;
    call.book(if S::is_failure(&whole) { FallbackUse::Failed } else { FallbackUse::Used });
    whole
}
