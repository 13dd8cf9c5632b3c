//! The driver of an attempt that may be hedged: two bodies of one type, and the first good answer.
//!
//! Both bodies are pinned in the caller's frame and both are polled in the caller's task, the first one first, so nothing
//! is spawned, boxed or sent. The second one is made when it is needed, by a closure that makes the first one too. What
//! needs no body's type is in [`super::beside`].
//!
//! A call that answers at once pays for nothing here but the check whether it did. One that is pending asks for one timer, as
//! it would without a hedge: the second attempt's, which comes before its own limit; that one is armed when the first has
//! fired.
//!
//! Invariants: bodies are polled before any clock is asked; a body is dropped inside its own scope, before the slot it ran in
//! is given back; the loser is dropped before the winner's answer is handed on; the call has one fate, whatever two attempts
//! did.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::call::Call;
use super::end::End;
use super::gate::Gate;
use super::kind::Kind;
#[cfg(feature = "testing")]
use super::run::poll_unless_struck;
#[cfg(feature = "testing")]
use crate::call::fault::Struck;
use crate::call::{Detail, Fate, HedgeFate, Verdict};
use crate::strategies::hedge::ends_race;
use crate::strategies::retry::Trouble;

/// Runs one attempt of a call, and beside it a second one made by `again` if the first takes long. `again` is told whether
/// nobody will ask once more. Without an end, another attempt follows, and its pause is over.
#[inline]
pub fn race<'a, F, M, K>(
    call: &'a mut Pin<&mut Call>,
    body: Pin<&'a mut Option<F>>,
    (hedge, hedge_body): (Pin<&'a mut Option<Call>>, Pin<&'a mut Option<F>>),
    again: M,
    kind: K,
) -> Race<'a, F, M, K>
where
    F: Future,
    M: FnMut(bool) -> F,
    K: Kind<Whole = F::Output>,
{
    let first = Racer { call: call.as_mut(), body };
    let instead = <[Instead; 2]>::default();
    Race { first, hedge, hedge_body, again, kind, asked: false, failed: None, instead }
}

/// What a test has a body do instead, once it begins.
#[cfg(feature = "testing")]
type Instead = Option<Struck>;
#[cfg(not(feature = "testing"))]
type Instead = ();

/// A call and the body of its attempt.
struct Racer<'a, F> {
    call: Pin<&'a mut Call>,
    body: Pin<&'a mut Option<F>>,
}

impl<F: Future> Racer<'_, F> {
    /// The body alone; its answer is judged inside its scope, since a predicate is the user's code too.
    #[inline]
    fn poll_body<K: Kind<Whole = F::Output>>(
        &mut self,
        instead: &mut Instead,
        cx: &mut Context<'_>,
        kind: &K,
    ) -> Poll<Ended<F::Output>> {
        #[cfg(feature = "testing")]
        let struck = (self.call.pipeline.identity, instead);
        #[cfg(not(feature = "testing"))]
        let () = *instead;
        let inside = self.call.as_mut().enter();
        let body = self.body.as_mut().as_pin_mut();
        #[cfg(feature = "testing")]
        let polled = poll_unless_struck(struck, body, kind, cx);
        #[cfg(not(feature = "testing"))]
        let polled = body.map_or(Poll::Pending, |body| body.poll(cx));
        let polled = polled.map(|answer| {
            self.body.set(None);
            let verdict = kind.verdict(&answer);
            Ended::Answer(answer, verdict)
        });
        inside.leave();
        if let Poll::Ready(Ended::Answer(_, verdict)) = &polled {
            self.call.as_mut().answered(*verdict);
        }
        polled
    }

    fn poll_limit(&mut self, cx: &mut Context<'_>) -> Poll<Ended<F::Output>> {
        ready!(self.call.as_mut().poll_cut(cx));
        self.drop_cut();
        let trouble = self.call.as_mut().cut();
        Poll::Ready(Ended::CutOff(trouble, self.call.as_mut().project().refused.take()))
    }
}

impl<F> Racer<'_, F> {
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

    fn lose(&mut self) {
        self.drop_body();
        self.call.as_mut().lose();
    }

    /// Dropped before its end. Unwinding from its own body its scope is gone already, and it is marked: that stays as it is.
    fn leave(&mut self) {
        if self.call.is_running() && !self.call.polling && self.body.is_some() {
            self.drop_body();
        }
    }
}

/// How an attempt came out.
enum Ended<R> {
    Answer(R, Verdict),
    CutOff(Trouble, Option<Detail>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    First,
    Hedge,
}

/// The future of [`race`].
#[must_use = "futures do nothing unless awaited"]
pub struct Race<'a, F: Future, M, K> {
    first: Racer<'a, F>,
    /// The second attempt: absent, asleep, running, or failed.
    hedge: Pin<&'a mut Option<Call>>,
    hedge_body: Pin<&'a mut Option<F>>,
    again: M,
    kind: K,
    /// Whether it is known if there will be a second attempt.
    asked: bool,
    /// How the one that failed first came out, while the other runs.
    failed: Option<Ended<F::Output>>,
    /// For the first and for the second.
    instead: [Instead; 2],
}

impl<F: Future, M, K> Unpin for Race<'_, F, M, K> {}

impl<F, M, K> Future for Race<'_, F, M, K>
where
    F: Future,
    M: FnMut(bool) -> F,
    K: Kind<Whole = F::Output>,
{
    type Output = Option<End<F::Output>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        loop {
            // A first attempt that has failed while the second runs asks for nothing.
            if this.first.call.is_running() || this.failed.is_none() {
                match ready!(this.first.call.as_mut().poll_gate(cx)) {
                    Gate::Run => {}
                    Gate::Refused => return Poll::Ready(Some(End::Refused)),
                    Gate::Again => return Poll::Ready(None),
                }
                if let Poll::Ready(ended) = this.first.poll_body(&mut this.instead[0], cx, &this.kind) {
                    if let Some(end) = this.ended(Who::First, ended) {
                        return Poll::Ready(Some(end));
                    }
                    continue;
                }
            }
            if let Some(end) = ready!(this.poll_beside(cx)) {
                return Poll::Ready(Some(end));
            }
        }
    }
}

impl<F, M, K> Race<'_, F, M, K>
where
    F: Future,
    M: FnMut(bool) -> F,
    K: Kind<Whole = F::Output>,
{
    /// Everything but the first body: the second attempt, then the limits. Ready when one of the two has ended, with the
    /// end of the call if that was it.
    fn poll_beside(&mut self, cx: &mut Context<'_>) -> Poll<Option<End<F::Output>>> {
        if !self.asked {
            self.asked = true;
            self.hedge.set(self.first.call.hedge());
        }
        if let Some(mut call) = self.hedge.as_mut().as_pin_mut() {
            match call.as_mut().poll_hedge(cx) {
                // Its time comes before the first's limit, so one timer is enough until then.
                Poll::Pending if call.is_asleep() => return Poll::Pending,
                Poll::Pending => {}
                Poll::Ready(false) => self.hedge.set(None),
                Poll::Ready(true) => {
                    if self.hedge_body.is_none() {
                        let body = (self.again)(self.first.call.is_last());
                        self.hedge_body.set(Some(body));
                    }
                    let polled =
                        Racer { call, body: self.hedge_body.as_mut() }.poll_body(&mut self.instead[1], cx, &self.kind);
                    if let Poll::Ready(ended) = polled {
                        return Poll::Ready(self.ended(Who::Hedge, ended));
                    }
                }
            }
        }
        if self.first.call.is_running()
            && let Poll::Ready(ended) = self.first.poll_limit(cx)
        {
            return Poll::Ready(self.ended(Who::First, ended));
        }
        if let Some(mut hedge) = self.running_hedge()
            && let Poll::Ready(ended) = hedge.poll_limit(cx)
        {
            return Poll::Ready(self.ended(Who::Hedge, ended));
        }
        Poll::Pending
    }

    /// One of the attempts has ended. The end of the call, unless the other attempt or a pause comes first.
    #[inline]
    fn ended(&mut self, who: Who, how: Ended<F::Output>) -> Option<End<F::Output>> {
        if self.hedge.is_none() { self.conclude(how, false) } else { self.ended_of_two(who, how) }
    }

    fn ended_of_two(&mut self, who: Who, how: Ended<F::Output>) -> Option<End<F::Output>> {
        let ends_race = matches!(&how, Ended::Answer(_, verdict) if ends_race(*verdict));
        let other_runs = match who {
            Who::First => self.running_hedge().is_some(),
            Who::Hedge => self.first.call.is_running(),
        };
        if other_runs && !ends_race {
            self.failed = Some(how);
            return None;
        }
        let fate = match (ends_race, who) {
            (true, Who::Hedge) => HedgeFate::Won,
            (true, Who::First) => HedgeFate::Lost,
            (false, _) => HedgeFate::Failed,
        };
        match who {
            Who::Hedge if other_runs => self.first.lose(),
            Who::First if other_runs => self.running_hedge().iter_mut().for_each(Racer::lose),
            _ => {}
        }
        let call = self.hedge.as_mut().as_pin_mut().filter(|call| !call.is_asleep());
        let hedged = call.map(|call| call.book_hedge(fate)).is_some();
        self.hedge.set(None);
        let how = match (ends_race, self.failed.take()) {
            // The error that came first speaks for both; of two that were cut off the later, which knows what time is left.
            (false, Some(earlier @ Ended::Answer(..))) => earlier,
            _ => how,
        };
        self.conclude(how, hedged)
    }

    /// Both attempts are over, or the only one: the end, unless retry pauses for another.
    #[inline]
    fn conclude(&mut self, how: Ended<F::Output>, hedged: bool) -> Option<End<F::Output>> {
        let mut call = self.first.call.as_mut();
        match how {
            Ended::Answer(answer, verdict) => {
                call.as_mut().conclude(if verdict.ok { Fate::Ok } else { Fate::Error }, None, hedged);
                if verdict.ok || !call.as_mut().pauses_after(Trouble::Answered(verdict)) {
                    return Some(End::Answered(answer));
                }
                call.keep_error(self.kind.keep(answer), K::SAID);
                None
            }
            Ended::CutOff(trouble, why) => {
                call.as_mut().conclude(Fate::TimedOut, why, hedged);
                (!call.pauses_after(trouble)).then_some(End::Refused)
            }
        }
    }
}

impl<F: Future, M, K> Race<'_, F, M, K> {
    fn running_hedge(&mut self) -> Option<Racer<'_, F>> {
        let call = self.hedge.as_mut().as_pin_mut().filter(|call| call.is_running())?;
        Some(Racer { call, body: self.hedge_body.as_mut() })
    }
}

impl<F: Future, M, K> Drop for Race<'_, F, M, K> {
    fn drop(&mut self) {
        let has_panicked = match self.running_hedge() {
            Some(hedge) if hedge.call.polling => true,
            Some(mut hedge) => {
                hedge.leave();
                false
            }
            None => false,
        };
        if has_panicked {
            self.first.call.as_mut().panicked_beside();
        }
        self.first.leave();
    }
}
