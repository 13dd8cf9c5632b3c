//! What happens when a body has ended: the books, the slot, the breaker, and whether there is another attempt.
//!
//! Inner to outer: the body has been dropped, with whatever it had taken, before anything here runs; then the slot is
//! given back, then the breaker is told, then retry decides.
//!
//! Invariant: when this returns, the call holds nothing but, at most, a retry taken from the budget.

use std::pin::Pin;

use super::call::{Call, Stage};
use super::compartment::Compartment;
use super::{Pipeline, Retries, Switches};
use crate::base::clock::Moment;
use crate::base::rng::roll;
use crate::call::event::{Event, note};
use crate::call::tally::{AttemptFate, StopReason};
use crate::call::{Detail, Fate, Verdict, trace};
use crate::strategies::breaker::{Breaker, Sign};
use crate::strategies::bulkhead::Ended;
use crate::strategies::retry::{self, Next, Seen, Trouble};
use crate::strategies::timeout::Cause;

impl Call {
    /// The body returned. True when another attempt follows a pause.
    #[inline]
    pub(super) fn returned(mut self: Pin<&mut Self>, verdict: Verdict) -> bool {
        self.as_mut().answered(verdict);
        !verdict.ok && self.pipeline.follows_up() && self.pauses_after(Trouble::Answered(verdict))
    }

    /// The books of an attempt whose body returned; it holds nothing any more.
    #[inline]
    pub(super) fn answered(mut self: Pin<&mut Self>, verdict: Verdict) {
        let this = self.as_mut().project();
        let now = Moment::now();
        let here = this.pipeline.tally.here();
        let took = now.since(*this.started_at);
        here.took(took);
        // It answered after its limit, so it must have blocked its thread: nothing else can show that.
        if now > *this.limit {
            here.overran();
            trace::overran(this.pipeline.identity, took, now.since(*this.limit));
        }
        note(Event::BodyReturned);
        if verdict.ok {
            this.pipeline.learn(took, Ended::Answered, now);
        }
        let is_failure = verdict.failure && this.pipeline.faults.error;
        self.as_mut().give_back(if is_failure { Sign::Failure } else { Sign::Success }, took, now);
        let this = self.project();
        *this.stage = Stage::Over;
        if verdict.ok {
            here.attempt(AttemptFate::Ok);
            *this.fate = Fate::Ok;
        } else {
            here.attempt(AttemptFate::Error);
            *this.fate = Fate::Error;
            *this.now = Some(now);
        }
    }

    /// The limit was reached first and the body has been dropped. True when another attempt follows a pause.
    #[cold]
    pub(super) fn cut_off(mut self: Pin<&mut Self>) -> bool {
        let trouble = self.as_mut().cut();
        self.pauses_after(trouble)
    }

    /// The books of an attempt that reached its limit; it holds nothing any more.
    pub(super) fn cut(mut self: Pin<&mut Self>) -> Trouble {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let now = Moment::now();
        let ran = now.since(*this.started_at);
        let here = pipeline.tally.here();
        here.cut_off(ran);
        here.attempt(AttemptFate::TimedOut);
        *this.fate = Fate::TimedOut;
        *this.stage = Stage::Over;
        *this.now = Some(now);
        let cause = *this.cause;
        note(Event::BodyCutOff);
        let ended = if cause == Cause::Timeout { Ended::TimedOut } else { Ended::OutOfTime };
        pipeline.learn(ran, ended, now);
        if pipeline.tail.is_some() {
            let started_at = *this.started_at;
            self.as_mut().let_run_on(started_at, ran);
        }
        let this = self.as_mut().project();
        let sign = pipeline.sign_of_cut(cause, pipeline.live.timeout.get().is_some());
        // The timeout that this attempt began with, which need not be the one that holds now.
        let end = this.seldom.observed().map_or(*this.limit, |course| course.enforced());
        let limit = end.since(*this.started_at);
        self.as_mut().give_back(sign, ran, now);
        let (trouble, detail) = match cause {
            Cause::Timeout => (Trouble::TimedOut, Detail::TimedOut { limit }),
            Cause::Deadline => (Trouble::OutOfTime, Detail::Cut { ran }),
        };
        trace::cut_off(pipeline.identity, detail);
        *self.project().refused = Some(detail);
        trouble
    }

    #[inline]
    pub(super) fn give_back(self: Pin<&mut Self>, sign: Sign, took: u64, now: Moment) {
        let this = self.project();
        if this.standing.give_back() {
            note(Event::SlotFreed);
        }
        if let Some(admission) = this.admission.take() {
            admission.settle(sign, took, || now);
            note(Event::BreakerSettled);
        }
        if let Some(course) = this.seldom.observed() {
            course.end();
        }
    }

    /// Whether another attempt follows; if so its pause has begun and its retry is paid for.
    pub(super) fn pauses_after(mut self: Pin<&mut Self>, trouble: Trouble) -> bool {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        *this.stage = Stage::Over;
        let Some(retries) = pipeline.retries() else {
            if pipeline.observer().is_some() {
                let now = this.now.take().unwrap_or_else(Moment::now);
                self.part(trouble, now);
            }
            return false;
        };
        // What held when the call began bounds what holds now: fewer take effect at once, more with the next call.
        let mut config = *retries.config.lock();
        config.max = config.max.min(*this.most);
        if *this.is_alone && *this.attempt < config.max {
            pipeline.tally.here().stopped(StopReason::NotRetryable);
            return false;
        }
        let now = this.now.take().unwrap_or_else(Moment::now);
        if *this.attempt == 0 {
            // The earliest thing known of the first attempt; that it was refused, if nothing else is.
            *this.begun_at = (*this.begun_at).min(*this.started_at).min(now);
        }
        let seen = Seen {
            attempt: *this.attempt,
            trouble,
            remaining: this.deadline.is_set().then(|| this.deadline.at.since(now)),
            breaker_open: pipeline.breaker().is_some_and(|breaker| breaker.refuses(now)),
            elapsed: now.since(*this.begun_at),
            last_pause: this.seldom.look().map_or(0, |more| more.last_pause),
        };
        let mut next = retry::decide(&config, seen, roll());
        if let (Next::Again(_), Some(budget)) = (next, retries.budget) {
            match budget.withdraw(now) {
                Some(ticket) => this.seldom.more().ticket = Some(ticket),
                None => next = Next::Stop(StopReason::Budget),
            }
        }
        match next {
            Next::Stop(reason) => {
                pipeline.tally.here().stopped(reason);
                false
            }
            Next::Again(pause) => {
                *this.limit = now.plus(pause);
                this.seldom.more().last_pause = pause;
                *this.stage = Stage::Paused;
                note(Event::Paused);
                true
            }
        }
    }

    /// Keeps the error of an attempt that is followed by another, as the source of whatever ends the call; `said` is
    /// whether anybody has told what it means.
    pub(super) fn keep_error(self: Pin<&mut Self>, error: Option<crate::call::BoxError>, said: bool) {
        let this = self.project();
        if error.is_some() || this.seldom.look().is_some() {
            this.seldom.more().last_error = error;
        }
        if !said {
            this.pipeline.tally.retried_unsaid();
        }
    }
}

impl Pipeline {
    /// The retries, where they are enforced.
    fn retries(&self) -> Option<&Retries> {
        self.retry.as_ref().filter(|_| self.live.switches.is_on(Switches::RETRY))
    }

    /// The breaker, where it is enforced.
    pub(super) fn breaker(&self) -> Option<&'static Breaker> {
        self.breaker.filter(|_| self.live.switches.is_on(Switches::BREAKER))
    }

    /// Whether anything is asked after a failure: whether to try again, here or where that is only observed.
    #[inline]
    pub(super) fn follows_up(&self) -> bool {
        self.retry.is_some() || self.observer.get().is_some()
    }

    /// Tells a bulkhead whose slots follow the latency, while the attempt still holds its slot.
    #[inline]
    pub(super) fn learn(&self, took: u64, ended: Ended, now: Moment) {
        if let Some(Compartment { bulkhead, learns: true, .. }) = &self.bulkhead {
            bulkhead.learn(took, ended, now);
        }
    }
}
