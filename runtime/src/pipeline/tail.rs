//! Attempts that are left running at their limit: what the line has to do for it.
//!
//! The strategy is in [`strategies/tail`](crate::strategies::tail): who is drawn, how a body leaves and how it is watched. Here is
//! what a driver calls when a limit has been reached, and what hands the body to its own task while the books of the cut
//! are made. The body is dropped before its slot is free, or it is on its way by then.

use std::pin::Pin;

use super::call::Call;
use super::kind::Kind;
use crate::base::clock::Moment;
use crate::strategies::tail::body::{Observed, released};
use crate::strategies::tail::{CutOff, Tail};

/// What draws the attempts of a site, if anything does, and how long one may run in all under the timeout in force.
#[inline]
pub fn tail(call: &Pin<&mut Call>) -> Option<(&'static Tail, u64)> {
    let pipeline: &'static super::Pipeline = call.pipeline;
    let tail = pipeline.tail.as_deref()?;
    Some((tail, tail.cap(pipeline.live.timeout.get())?))
}

/// How the answers of a kind are told from errors.
#[inline]
pub fn errors_of<K: Kind>(_: &K) -> fn(&K::Whole) -> bool {
    K::is_error
}

/// A body that is told which of its answers are errors.
#[inline]
pub fn judged<F: Future + Send + 'static>(mut body: Pin<&mut Option<Observed<F>>>, is_error: fn(&F::Output) -> bool) {
    if let Some(body) = body.as_mut().as_pin_mut() {
        body.judged(is_error);
    }
}

/// The same for one that is not in its place yet.
#[inline]
pub fn judging<F: Future + Send + 'static>(body: Observed<F>, is_error: fn(&F::Output) -> bool) -> Observed<F> {
    body.judging(is_error)
}

impl Call {
    /// Its limit has been reached: has its body dropped, and keeps what that hands on.
    #[cold]
    pub(super) fn drop_cut(mut self: Pin<&mut Self>, drop_body: impl FnOnce(Pin<&mut Self>)) {
        if self.pipeline.tail.is_none() {
            return drop_body(self);
        }
        let id = self.id;
        let kept = released(id, || drop_body(self.as_mut()));
        if kept.is_some() {
            self.project().seldom.more().released = kept;
        }
    }

    /// Lets go of a body that was handed on: into a task of its own.
    pub(super) fn let_run_on(mut self: Pin<&mut Self>, started_at: Moment, ran: u64) {
        let context = self.as_ref().context();
        let this = self.as_mut().project();
        let pipeline: &'static super::Pipeline = this.pipeline;
        if let (Some(tail), Some(body)) = (&pipeline.tail, this.seldom.take_released()) {
            // Where the timeout was changed in between, what it would be now has to do; without one it ends here.
            let cap = tail.cap(pipeline.live.timeout.get()).unwrap_or(ran);
            tail.watch(pipeline.tally, body, CutOff { started_at, cap, ran, context });
        }
    }
}
