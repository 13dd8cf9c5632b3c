//! The driver: one attempt after another, and the body by reference.
//!
//! These are the only lines of the pipeline that are built once per guarded function, so they hold nothing but what
//! needs the body's type: polling it, dropping it, judging its answer. The body comes as `Pin<&mut Option<F>>`: pinned
//! in the caller's own frame, so that no wrapper stores it a second time, and in an `Option`, so that it can be dropped
//! at its limit, where it stands, while the frame lives on.
//!
//! The body is polled before the clock is asked, so an answer that is there is never reported late.
//!
//! A call that cannot be retried ends with its only attempt; one that can may end there, or be asked again. Which of the
//! two holds is a type ([`Times`]), since generated code takes the answer apart by it.
//!
//! Invariants: the body is dropped inside its own scope, before the slot it ran in is given back; a cancelled attempt
//! drops its body first.

use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::call::Call;
use super::end::End;
use super::gate::Gate;
use super::kind::Kind;
use crate::call::Verdict;
#[cfg(feature = "testing")]
use crate::call::{
    Identity,
    fault::{self, Instead, Struck},
};

/// Whether a call may have another attempt, and what an attempt therefore comes to.
pub trait Times {
    /// The end of the call, if this is it.
    type Step<R>;

    /// Whether answers are kept for the attempt that may follow.
    const AGAIN: bool;

    /// The call is over.
    fn end<R>(end: R) -> Self::Step<R>;

    /// Another attempt follows, where one can.
    fn again<R>() -> Option<Self::Step<R>>;
}

/// One attempt and no more.
#[derive(Debug)]
pub struct Once;

/// Perhaps another.
#[derive(Debug)]
pub struct Again;

impl Times for Once {
    type Step<R> = R;
    const AGAIN: bool = false;

    #[inline]
    fn end<R>(end: R) -> R {
        end
    }

    fn again<R>() -> Option<R> {
        None
    }
}

impl Times for Again {
    type Step<R> = Option<R>;
    const AGAIN: bool = true;

    #[inline]
    fn end<R>(end: R) -> Option<R> {
        Some(end)
    }

    #[inline]
    fn again<R>() -> Option<Option<R>> {
        Some(None)
    }
}

/// Runs the only attempt of a call.
#[inline]
pub fn once<'a, F: Future, K: Kind<Whole = F::Output>>(
    call: &'a mut Pin<&mut Call>,
    body: Pin<&'a mut Option<F>>,
    kind: K,
) -> Attempt<'a, F, K, Once> {
    Attempt::new(call.as_mut(), body, kind)
}

/// Runs one attempt of a call that may have more; without an end, another follows, and its pause is over.
#[inline]
pub fn attempt<'a, F: Future, K: Kind<Whole = F::Output>>(
    call: &'a mut Pin<&mut Call>,
    body: Pin<&'a mut Option<F>>,
    kind: K,
) -> Attempt<'a, F, K, Again> {
    Attempt::new(call.as_mut(), body, kind)
}

/// A call and its body, for the length of an attempt.
pub(super) struct Frame<'a, F> {
    pub(super) call: Pin<&'a mut Call>,
    body: Pin<&'a mut Option<F>>,
    /// What a test has this body do instead, once it begins.
    #[cfg(feature = "testing")]
    struck: Option<Struck>,
}

/// How polling a body came out.
enum Polled<R> {
    Answer(R, Verdict),
    CutOff,
}

impl<F: Future> Frame<'_, F> {
    #[inline]
    fn poll_body<K: Kind<Whole = F::Output>>(&mut self, cx: &mut Context<'_>, kind: &K) -> Poll<Polled<F::Output>> {
        #[cfg(feature = "testing")]
        let struck = (self.call.pipeline.identity, &mut self.struck);
        let inside = self.call.as_mut().enter();
        let body = self.body.as_mut().as_pin_mut();
        #[cfg(feature = "testing")]
        let polled = poll_unless_struck(struck, body, kind, cx);
        #[cfg(not(feature = "testing"))]
        let polled = body.map_or(Poll::Pending, |body| body.poll(cx));
        // Judged inside the scope: a predicate is the user's code too, and a panic in it is the call's.
        let polled = polled.map(|answer| {
            self.body.set(None);
            let verdict = kind.verdict(&answer);
            Polled::Answer(answer, verdict)
        });
        inside.leave();
        if polled.is_ready() {
            return polled;
        }
        ready!(self.call.as_mut().poll_cut(cx));
        self.drop_cut();
        Poll::Ready(Polled::CutOff)
    }
}

/// Polls a body, or does in its place what a test has set.
#[cfg(feature = "testing")]
#[inline]
pub(super) fn poll_unless_struck<F: Future, K: Kind<Whole = F::Output>>(
    (site, struck): (&'static Identity, &mut Option<Struck>),
    body: Option<Pin<&mut F>>,
    kind: &K,
    cx: &mut Context<'_>,
) -> Poll<F::Output> {
    let struck = struck.get_or_insert_with(|| Struck::look_up(site));
    match ready!(struck.poll(cx)) {
        Instead::Run => body.map_or(Poll::Pending, |body| body.poll(cx)),
        Instead::Return(error, name) => Poll::Ready(kind.strike(error).unwrap_or_else(|_| fault::refuse(site, name))),
    }
}

impl<F> Frame<'_, F> {
    /// At its limit, where a body may have to be left running.
    fn drop_cut(&mut self) {
        let body = &mut self.body;
        self.call.as_mut().drop_cut(|call| {
            let inside = call.enter();
            body.set(None);
            inside.leave();
        });
    }

    fn drop_body(&mut self) {
        let inside = self.call.as_mut().enter();
        self.body.set(None);
        inside.leave();
    }
}

impl<F> Frame<'_, F> {
    /// Lets go of the arguments of a body that was never polled; of one that was, nothing is left.
    pub(super) fn drop_unstarted(&mut self) {
        self.body.set(None);
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

/// The future of [`once`] and [`attempt`].
#[must_use = "futures do nothing unless awaited"]
pub struct Attempt<'a, F, K, N> {
    pub(super) frame: Frame<'a, F>,
    pub(super) kind: K,
    times: PhantomData<N>,
}

impl<F, K, N> Unpin for Attempt<'_, F, K, N> {}

impl<'a, F, K, N> Attempt<'a, F, K, N> {
    #[inline]
    pub(super) fn new(call: Pin<&'a mut Call>, body: Pin<&'a mut Option<F>>, kind: K) -> Self {
        let frame = Frame {
            call,
            body,
            #[cfg(feature = "testing")]
            struck: None,
        };
        Self { frame, kind, times: PhantomData }
    }
}

impl<F: Future, K: Kind<Whole = F::Output>, N: Times> Attempt<'_, F, K, N> {
    /// Ready with the end of the call, or with nothing where another attempt follows.
    #[inline]
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<End<F::Output>>> {
        let Self { frame, kind, .. } = self;
        loop {
            match ready!(frame.call.as_mut().poll_gate(cx)) {
                Gate::Run => {}
                Gate::Refused => return Poll::Ready(Some(End::Refused)),
                Gate::Again => return Poll::Ready(None),
            }
            match ready!(frame.poll_body(cx, kind)) {
                Polled::Answer(answer, verdict) => {
                    let again = frame.call.as_mut().returned(verdict);
                    if !N::AGAIN || !again {
                        return Poll::Ready(Some(End::Answered(answer)));
                    }
                    frame.call.as_mut().keep_error(kind.keep(answer), K::SAID);
                }
                Polled::CutOff => {
                    if !frame.call.as_mut().cut_off() {
                        return Poll::Ready(Some(End::Refused));
                    }
                }
            }
        }
    }
}

impl<F: Future, K: Kind<Whole = F::Output>, N: Times> Future for Attempt<'_, F, K, N> {
    type Output = N::Step<End<F::Output>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match ready!(self.get_mut().poll_end(cx)) {
            Some(end) => Poll::Ready(N::end(end)),
            None => N::again().map_or(Poll::Pending, Poll::Ready),
        }
    }
}
