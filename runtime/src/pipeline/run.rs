//! The driver: one attempt after another, and the body by reference.
//!
//! These are the only lines of the pipeline that are built once per guarded function, so they hold nothing but what
//! needs the body's type: polling it, dropping it, judging its answer. The body comes as `Pin<&mut Option<F>>`: pinned
//! in the caller's own frame, so that no wrapper stores it a second time, and in an `Option`, so that it can be dropped
//! at its limit, where it stands, while the frame lives on.
//!
//! The body is polled before the clock is asked, so an answer that is there is never reported late.
//!
//! Invariants: the body is dropped inside its own scope, before the slot it ran in is given back; a cancelled attempt
//! drops its body first.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::call::Call;
use super::end::{End, Step};
use super::gate::Gate;
use crate::call::{BoxError, Verdict};

/// Runs the only attempt of a call.
#[inline]
pub fn once<'a, F: Future, J: Fn(&F::Output) -> Verdict>(
    call: Pin<&'a mut Call>,
    body: Pin<&'a mut Option<F>>,
    judge: J,
) -> Once<'a, F, J> {
    Once { frame: Frame { call, body }, judge }
}

/// Runs one attempt of a call that may have more.
#[inline]
pub fn attempt<'a, F: Future, J: Fn(&F::Output) -> Verdict, K: Fn(F::Output) -> Option<BoxError>>(
    call: Pin<&'a mut Call>,
    body: Pin<&'a mut Option<F>>,
    judge: J,
    keep: K,
) -> Attempt<'a, F, J, K> {
    Attempt { frame: Frame { call, body }, judge, keep }
}

/// A call and its body, for the length of an attempt.
struct Frame<'a, F> {
    call: Pin<&'a mut Call>,
    body: Pin<&'a mut Option<F>>,
}

/// How polling a body came out.
enum Polled<R> {
    Answer(R, Verdict),
    CutOff,
}

impl<F: Future> Frame<'_, F> {
    #[inline]
    fn poll_body<J: Fn(&F::Output) -> Verdict>(&mut self, cx: &mut Context<'_>, judge: &J) -> Poll<Polled<F::Output>> {
        let inside = self.call.as_mut().enter();
        let polled = self.body.as_mut().as_pin_mut().map_or(Poll::Pending, |body| body.poll(cx));
        // Judged inside the scope: a predicate is the user's code too, and a panic in it is the call's.
        let polled = polled.map(|answer| {
            self.body.set(None);
            let verdict = judge(&answer);
            Polled::Answer(answer, verdict)
        });
        inside.leave();
        if polled.is_ready() {
            return polled;
        }
        ready!(self.call.as_mut().poll_limit(cx));
        self.drop_body();
        Poll::Ready(Polled::CutOff)
    }
}

impl<F> Frame<'_, F> {
    fn drop_body(&mut self) {
        let inside = self.call.as_mut().enter();
        self.body.set(None);
        inside.leave();
    }
}

impl<F> Drop for Frame<'_, F> {
    fn drop(&mut self) {
        // A body that never ran has nothing to end in its scope. Unwinding from the body itself, the scope is gone
        // already and the call is marked: leave that as it is.
        if self.call.is_running() && self.body.is_some() && !std::thread::panicking() {
            self.drop_body();
        }
    }
}

/// The future of [`once`].
#[must_use = "futures do nothing unless awaited"]
pub struct Once<'a, F, J> {
    frame: Frame<'a, F>,
    judge: J,
}

impl<F, J> Unpin for Once<'_, F, J> {}

impl<F: Future, J: Fn(&F::Output) -> Verdict> Future for Once<'_, F, J> {
    type Output = End<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { frame, judge } = self.get_mut();
        match ready!(frame.call.as_mut().poll_gate(cx)) {
            Gate::Run => {}
            Gate::Refused => return Poll::Ready(End::Refused),
            // Without retries no pause begins; if one did, the body is gone and nothing more would come.
            Gate::Again => return Poll::Pending,
        }
        match ready!(frame.poll_body(cx, judge)) {
            Polled::Answer(answer, verdict) => {
                frame.call.as_mut().returned(verdict);
                Poll::Ready(End::Answered(answer))
            }
            Polled::CutOff => {
                frame.call.as_mut().cut_off();
                Poll::Ready(End::Refused)
            }
        }
    }
}

/// The future of [`attempt`].
#[must_use = "futures do nothing unless awaited"]
pub struct Attempt<'a, F, J, K> {
    frame: Frame<'a, F>,
    judge: J,
    keep: K,
}

impl<F, J, K> Unpin for Attempt<'_, F, J, K> {}

impl<F, J, K> Future for Attempt<'_, F, J, K>
where
    F: Future,
    J: Fn(&F::Output) -> Verdict,
    K: Fn(F::Output) -> Option<BoxError>,
{
    type Output = Step<F::Output>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { frame, judge, keep } = self.get_mut();
        loop {
            match ready!(frame.call.as_mut().poll_gate(cx)) {
                Gate::Run => {}
                Gate::Refused => return Poll::Ready(Step::End(End::Refused)),
                Gate::Again => return Poll::Ready(Step::Again),
            }
            match ready!(frame.poll_body(cx, judge)) {
                Polled::Answer(answer, verdict) => {
                    if !frame.call.as_mut().returned(verdict) {
                        return Poll::Ready(Step::End(End::Answered(answer)));
                    }
                    frame.call.as_mut().keep_error(keep(answer));
                }
                Polled::CutOff => {
                    if !frame.call.as_mut().cut_off() {
                        return Poll::Ready(Step::End(End::Refused));
                    }
                }
            }
        }
    }
}
