//! A body that may be left running: in its place like any other, or in a box that can be handed on.
//!
//! Invariants: a body is handed on only while [`released`] drops it for its own call, and only if it has been polled; one
//! that has ended, or was never begun, is just dropped.

use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::Tail;
use crate::base::clock::Moment;
use crate::call::context::Ambient;

/// A body that goes on without its call, whatever it is.
pub(crate) trait Body: Send {
    /// Ready when it has ended: whether with an error.
    fn poll_end(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool>;
}

/// A body that was cut off and not dropped.
pub(crate) type Released = Pin<Box<dyn Body>>;

/// Tells an error from an answer.
type IsError<R> = fn(&R) -> bool;

pin_project! {
    /// The body of an attempt of a function with the key `observe`.
    #[must_use = "futures do nothing unless awaited"]
    pub struct Observed<F>
    where
        F: Future,
        F: Send,
        F: 'static,
    {
        // Where it was made, as almost all are.
        #[pin]
        here: Option<F>,
        // Or in a box.
        apart: Option<Apart<F>>,
    }
}

/// Makes the body of an attempt one that may be left running for so many nanoseconds in all, if it is drawn.
#[inline]
pub fn observed<F: Future + Send + 'static>(tail: Option<(&'static Tail, u64)>, body: F) -> Observed<F> {
    match tail {
        Some((tail, cap)) if tail.draws() => Observed { here: None, apart: Some(Apart::new(cap, body)) },
        _ => Observed { here: Some(body), apart: None },
    }
}

impl<F: Future + Send + 'static> Observed<F> {
    /// Told how an error is known for one.
    #[inline]
    pub(crate) fn judged(self: Pin<&mut Self>, is_error: IsError<F::Output>) {
        if let Some(apart) = self.project().apart {
            apart.judged(is_error);
        }
    }

    /// The same before it is in its place.
    #[inline]
    pub(crate) fn judging(mut self, is_error: IsError<F::Output>) -> Self {
        if let Some(apart) = &mut self.apart {
            apart.judged(is_error);
        }
        self
    }
}

impl<F: Future + Send + 'static> Future for Observed<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        match (this.here.as_pin_mut(), this.apart) {
            (Some(body), _) => body.poll(cx),
            (None, Some(apart)) => apart.poll(cx),
            (None, None) => Poll::Pending,
        }
    }
}

pin_project! {
    /// A body and what is known of its answers.
    struct Owned<F: Future> {
        #[pin]
        body: F,
        is_error: Option<IsError<F::Output>>,
    }
}

impl<F: Future + Send> Body for Owned<F> {
    fn poll_end(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let this = self.project();
        this.body.poll(cx).map(|answer| this.is_error.is_some_and(|is_error| is_error(&answer)))
    }
}

/// A body in a box.
struct Apart<F: Future + Send + 'static> {
    boxed: Option<Pin<Box<Owned<F>>>>,
    cap: u64,
    /// Until when it may run; never, before it has begun.
    until: Moment,
}

impl<F: Future + Send + 'static> Apart<F> {
    #[cold]
    fn new(cap: u64, body: F) -> Self {
        Self { boxed: Some(Box::pin(Owned { body, is_error: None })), cap, until: Moment::NEVER }
    }

    #[cold]
    fn judged(&mut self, is_error: IsError<F::Output>) {
        if let Some(boxed) = &mut self.boxed {
            *boxed.as_mut().project().is_error = Some(is_error);
        }
    }

    #[cold]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(boxed) = &mut self.boxed else { return Poll::Pending };
        if self.until == Moment::NEVER {
            self.until = Moment::now().plus(self.cap);
        }
        let _scope = Ambient::limited_anew(self.until);
        let polled = boxed.as_mut().project().body.poll(cx);
        if polled.is_ready() {
            self.boxed = None;
        }
        polled
    }
}

impl<F: Future + Send + 'static> Drop for Apart<F> {
    fn drop(&mut self) {
        if self.until != Moment::NEVER
            && let Some(boxed) = self.boxed.take()
        {
            hand_on(boxed);
        }
    }
}

thread_local! {
    /// The call that has its body dropped at its limit; no call has the number 0.
    static OPEN: Cell<u64> = const { Cell::new(0) };
    static LETTER: Cell<Option<Released>> = const { Cell::new(None) };
}

/// The letterbox, while it is open.
struct Open(u64);

impl Open {
    fn of(call: u64) -> Self {
        Self(OPEN.replace(call))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        OPEN.set(self.0);
    }
}

/// Has the body of a call dropped, and takes what it hands on.
pub(crate) fn released(call: u64, drop_body: impl FnOnce()) -> Option<Released> {
    let open = Open::of(call);
    drop_body();
    drop(open);
    LETTER.take()
}

/// Hands the body on, if its own call's limit is what drops it. What it has inside is dropped in contexts of their own.
fn hand_on(body: Released) {
    let is_open = OPEN.try_with(|open| open.get() != 0 && open.get() == Ambient::here().call);
    if is_open.unwrap_or(false) {
        LETTER.set(Some(body));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::super::Config;
    use super::*;

    /// A tail that draws every attempt, with a cap of 1000 ns.
    fn all() -> (&'static Tail, u64) {
        (Box::leak(Box::new(Tail::new(Config::new(1.0)))), 1_000)
    }

    fn context(call: u64) -> Ambient {
        Ambient { limit: Moment::now().plus(100), call, ..Ambient::here() }
    }

    fn polled<F: Future>(body: Pin<&mut F>) -> Poll<F::Output> {
        body.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn edges_are_told_the_cap_by_one_that_was_drawn_and_the_limit_by_the_others() {
        let context = context(7);
        let _scope = context.enter();
        let told = || async { Ambient::here().limit };
        let Poll::Ready(drawn) = polled(pin!(observed(Some(all()), told()))) else { panic!("ready") };
        let Poll::Ready(other) = polled(pin!(observed(None, told()))) else { panic!("ready") };
        assert!(drawn >= context.limit.plus(800) && other == context.limit, "{drawn:?} {other:?}");
        assert_eq!(Ambient::here().limit, context.limit, "and what was around is around again");
    }

    #[test]
    fn only_its_own_calls_limit_has_a_body_handed_on_and_only_one_that_has_begun() {
        let _scope = context(7).enter();
        let begun = || {
            let mut body = Box::pin(Some(observed(Some(all()), std::future::pending::<()>())));
            assert!(polled(body.as_mut().as_pin_mut().expect("there")).is_pending());
            body
        };
        let mut own = begun();
        assert!(released(7, || own.set(None)).is_some());
        let mut others = begun();
        assert!(released(8, || others.set(None)).is_none(), "another call's limit");
        let mut cancelled = begun();
        cancelled.set(None);
        assert!(released(7, || ()).is_none(), "dropped for another reason");
        let mut fresh = Box::pin(Some(observed(Some(all()), std::future::pending::<()>())));
        assert!(released(7, || fresh.set(None)).is_none(), "never polled");
        let mut here = Box::pin(Some(observed(None, std::future::pending::<()>())));
        assert!(released(7, || here.set(None)).is_none(), "not drawn");
    }
}
