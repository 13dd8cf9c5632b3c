//! What happens before the body runs: the deadline, the breaker, the token, the slot.
//!
//! On the way down the clock is read as seldom as the accounting allows. A refusal by a full bulkhead reads none; a call
//! without a deadline reads it when its body starts; with a deadline that reading serves the body's start too.
//!
//! Invariants: an attempt that is refused holds nothing; a slot that is granted to a call without time left passes on
//! at once.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::Pipeline;
use super::call::{Call, Stage};
use super::throttle::Throttled;
use crate::base::clock::Moment;
use crate::call::context::Deadline;
use crate::call::event::{Event, note};
use crate::call::tally::WaitFate;
use crate::call::{Detail, Fate, Refusal};
use crate::strategies::breaker::{Causes, Sign};
use crate::strategies::bulkhead::{Held, InKey, Keyed, Queued, Slot, Waiting};
use crate::strategies::deadline::Turn;
use crate::strategies::rate::{Asked, Token};
use crate::strategies::retry::Trouble;
use crate::strategies::{deadline, timeout};

/// What to do before the body is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Run,
    Refused,
    Again,
}

impl Call {
    /// Ready when the body may be polled, when the attempt is refused for good, or when a pause is over.
    #[inline]
    pub(super) fn poll_gate(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Gate> {
        loop {
            let passed = match self.stage {
                Stage::Running => return Poll::Ready(Gate::Run),
                Stage::Fresh => self.as_mut().ask_all(cx),
                Stage::Throttled => ready!(self.as_mut().poll_token(cx)),
                Stage::Queued => ready!(self.as_mut().poll_slot(cx)),
                Stage::Paused => {
                    ready!(self.as_mut().poll_limit(cx));
                    self.begin_again();
                    return Poll::Ready(Gate::Again);
                }
                // Polled after its end: nothing more will come of it.
                Stage::Over | Stage::Answering => return Poll::Pending,
            };
            if passed.is_err() && !self.as_mut().pauses_when_refused() {
                return Poll::Ready(Gate::Refused);
            }
        }
    }

    /// Every stage in line, all at once if neither a token nor a slot has to be waited for.
    #[inline]
    fn ask_all(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let mut now = this.now.take();
        let deadline = pipeline.heeded(*this.deadline);
        if deadline.is_set() {
            let now = *now.get_or_insert_with(Moment::now);
            if *this.attempt == 0 {
                pipeline.tally.here().deadline_used(deadline.tenths_used(now));
            }
            pipeline
                .check_deadline(now, deadline, Turn { in_queue: false, wanted: false })
                .map_err(|why| Refused::note(this.refused, why))?;
        }
        if let Some(breaker) = pipeline.breaker {
            let admission = breaker.admit(|| *now.get_or_insert_with(Moment::now));
            *this.admission = Some(admission.map_err(|why| Refused::note(this.refused, why))?);
            note(Event::BreakerPassed);
        }
        let mut token = None;
        if let Some(throttle) = &pipeline.rate {
            let now = *now.get_or_insert_with(Moment::now);
            // A hedge takes what is there, or is not made.
            let wait = if *this.is_hedge { 0 } else { throttle.wait };
            match throttle.rate.ask(this.keys.bucket, now, wait, deadline.at, cx) {
                Asked::Token(granted) => {
                    note(Event::TokenTaken);
                    token = Some(granted);
                }
                Asked::Waiting(waiting) => {
                    self.wait_for_token(waiting, now);
                    return Ok(());
                }
                Asked::Refused(why) => return Err(Refused::note(this.refused, why)),
            }
        }
        self.ask_slot(cx, now, token)
    }

    /// The stages behind the rate. A token is given back by being dropped, and spent by the start of the body.
    #[inline]
    pub(super) fn ask_slot(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        now: Option<Moment>,
        token: Option<Token>,
    ) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        if let Some(compartment) = &pipeline.bulkhead {
            match compartment.ask(this.keys.compartment, cx, *this.id, *this.is_hedge, this.refused)? {
                Entry::Held(held) => {
                    let here = pipeline.tally.here();
                    if held.is_borrowed() {
                        here.lent();
                    }
                    here.entered_at_once();
                    *this.held = Some(held);
                    note(Event::SlotTaken);
                }
                Entry::Waiting(waiting) => {
                    let now = now.unwrap_or_else(Moment::now);
                    *this.waiting = Some(waiting);
                    *this.queued_at = now;
                    *this.limit = now.plus(compartment.wait).min(pipeline.heeded(*this.deadline).at);
                    *this.stage = Stage::Queued;
                    *this.throttled = token.map(|token| Box::new(Throttled::Token(token)));
                    pipeline.tally.here().queued();
                    note(Event::Queued);
                    return Ok(());
                }
            }
        }
        *this.now = now;
        if let Some(token) = token {
            token.spend();
        }
        self.start();
        Ok(())
    }

    /// The attempt has all it needs: its timeout runs from now.
    #[inline]
    fn start(mut self: Pin<&mut Self>) {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let now = this.now.take().unwrap_or_else(Moment::now);
        (*this.limit, *this.cause) = timeout::decide(now, pipeline.timeout, pipeline.heeded(*this.deadline));
        *this.started_at = now;
        *this.stage = Stage::Running;
        if *this.attempt == 0
            && let Some(budget) = pipeline.budget
        {
            budget.deposit(pipeline.tally.here().lane(), now);
        }
        pipeline.tally.body_begun();
        if let Some(observer) = &pipeline.observer {
            self.observe_start(observer, now);
        }
        note(Event::BodyStarted);
    }

    /// A wait for a slot: handed over, waited enough, or still waiting.
    fn poll_slot(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        let polled = match self.as_mut().project().waiting {
            Some(waiting) => waiting.poll_slot(cx),
            None => Poll::Pending,
        };
        if let Poll::Ready(slot) = polled {
            *self.as_mut().project().waiting = None;
            return Poll::Ready(self.granted(slot));
        }
        ready!(self.as_mut().poll_limit(cx));
        // The slot may have been handed over in this very moment: then it is ours after all.
        let late = self.as_mut().project().waiting.take().and_then(Waiting::give_up);
        Poll::Ready(match late {
            Some(slot) => self.granted(slot),
            None => Err(self.wait_in_vain()),
        })
    }

    /// A slot was handed over: it is ours, unless there is too little time left to use it.
    fn granted(mut self: Pin<&mut Self>, slot: Slot) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let now = Moment::now();
        let held = Held::own(slot, *this.id);
        let deadline = pipeline.heeded(*this.deadline);
        let passed = if deadline.is_set() {
            let key = this.keys.compartment;
            let wanted = pipeline.bulkhead.as_ref().is_some_and(|it| it.queued(key) > 0);
            pipeline.check_deadline(now, deadline, Turn { in_queue: true, wanted })
        } else {
            Ok(())
        };
        let fate = if passed.is_ok() { WaitFate::Ran } else { WaitFate::Expired };
        pipeline.tally.here().left_queue(fate, now.since(*this.queued_at));
        let passed = passed.and_then(|()| pipeline.bulkhead.as_ref().map_or(Ok(()), super::Compartment::staff));
        passed.map_err(|why| Refused::note(this.refused, why))?;
        *this.held = Some(held);
        *this.now = Some(now);
        if let Some(throttled) = this.throttled.take() {
            throttled.spend();
        }
        note(Event::SlotTaken);
        self.start();
        Ok(())
    }

    fn wait_in_vain(self: Pin<&mut Self>) -> Refused {
        let this = self.project();
        let now = Moment::now();
        let waited = now.since(*this.queued_at);
        this.pipeline.tally.here().left_queue(WaitFate::Expired, waited);
        if let (Some(compartment), Some((place, _))) = (&this.pipeline.bulkhead, this.keys.compartment)
            && let Some(keyed) = compartment.keyed
        {
            keyed.waited_in_vain(place);
        }
        let why = match &this.pipeline.bulkhead {
            Some(compartment) if now < this.deadline.at => compartment.in_vain(waited),
            _ => Detail::Spent { in_queue: true },
        };
        Refused::note(this.refused, why)
    }

    /// We refused the attempt: neutral for the breaker unless the site says otherwise, and seldom worth another. True when another follows a pause.
    fn pauses_when_refused(mut self: Pin<&mut Self>) -> bool {
        let this = self.as_mut().project();
        let faults = this.pipeline.faults;
        let sign = this.refused.as_ref().map_or(Sign::Neutral, |why| sign_of_refusal(faults, why));
        *this.throttled = None;
        if let Some(admission) = this.admission.take() {
            admission.settle(sign, 0, Moment::now);
        }
        if *this.is_hedge {
            // The first attempt runs on, and what becomes of the call is its business.
            *this.stage = Stage::Over;
            return false;
        }
        let (fate, trouble) = match this.refused {
            Some(why) => (why.fate(), trouble_of(why)),
            None => (Fate::Refused(Refusal::Deadline), Trouble::OutOfTime),
        };
        *this.fate = fate;
        self.pauses_after(trouble)
    }

    /// A pause is over: the next attempt asks for everything anew.
    fn begin_again(self: Pin<&mut Self>) {
        let this = self.project();
        *this.attempt += 1;
        *this.stage = Stage::Fresh;
        *this.refused = None;
        if let Some(ticket) = this.ticket.take() {
            ticket.spend();
        }
        this.pipeline.tally.here().retried();
    }
}

/// What a refusal of ours is to the breaker: nothing, unless the site says otherwise.
pub(super) fn sign_of_refusal(faults: Causes, why: &Detail) -> Sign {
    match why {
        Detail::Full { .. } | Detail::KeyFull { .. } | Detail::Crowded { .. } | Detail::Unstaffed { .. }
            if faults.full =>
        {
            Sign::Failure
        }
        Detail::Waited { .. } | Detail::WaitedThread { .. } if faults.wait => Sign::Failure,
        _ => Sign::Neutral,
    }
}

/// What a refusal of ours is to retry.
pub(super) fn trouble_of(why: &Detail) -> Trouble {
    match why {
        Detail::Full { .. } | Detail::KeyFull { .. } | Detail::Crowded { .. } | Detail::Unstaffed { .. } => {
            Trouble::Full
        }
        Detail::Waited { .. } | Detail::WaitedThread { .. } => Trouble::Waited,
        Detail::Open { .. } => Trouble::Open,
        Detail::Limited { retry_after, .. } => Trouble::Limited(*retry_after),
        _ => Trouble::OutOfTime,
    }
}

/// Says that an attempt was refused; why is noted in the call, where it is read, instead of being handed up and copied
/// at every step.
pub(super) struct Refused;

impl Refused {
    #[inline]
    pub(super) fn note(place: &mut Option<Detail>, why: Detail) -> Self {
        *place = Some(why);
        Self
    }
}

/// What asking a compartment came to, short of being refused.
enum Entry {
    Held(Held),
    Waiting(Waiting),
}

impl super::Compartment {
    /// The slot this chain of calls holds already, else a free one, else a place in the queue; for a hedge what is free, or
    /// nothing.
    #[inline]
    fn ask(
        &self,
        key: Option<InKey>,
        cx: &mut Context<'_>,
        call: u64,
        is_hedge: bool,
        refused: &mut Option<Detail>,
    ) -> Result<Entry, Refused> {
        if let (Some(keyed), Some(key)) = (self.keyed, key) {
            return ask_key(keyed, key, cx, call, is_hedge, refused);
        }
        if let Some(held) = self.bulkhead.borrow(call) {
            return Ok(Entry::Held(held));
        }
        if let Some(slot) = self.bulkhead.try_enter() {
            let held = Held::own(slot, call);
            return self.staff().map(|()| Entry::Held(held)).map_err(|why| Refused::note(refused, why));
        }
        if is_hedge {
            return Err(Refused);
        }
        if let Some(why) = self.full() {
            return Err(Refused::note(refused, why));
        }
        match self.bulkhead.enqueue(cx.waker().clone()) {
            Queued::Slot(slot) => {
                let held = Held::own(slot, call);
                self.staff().map(|()| Entry::Held(held)).map_err(|why| Refused::note(refused, why))
            }
            Queued::Waiting(waiting) => Ok(Entry::Waiting(waiting)),
            Queued::Full(why) => Err(Refused::note(refused, self.in_own_words(why))),
        }
    }
}

/// The same for the compartment of a key.
fn ask_key(
    keyed: &'static Keyed,
    key: InKey,
    cx: &mut Context<'_>,
    call: u64,
    is_hedge: bool,
    refused: &mut Option<Detail>,
) -> Result<Entry, Refused> {
    if let Some(held) = keyed.borrow(key, call) {
        return Ok(Entry::Held(held));
    }
    let asked = match keyed.try_enter(key) {
        Some(asked) => asked,
        None if is_hedge => return Err(Refused),
        // The waker is cloned outside of the lock, and only if it may be wanted.
        None => keyed.enqueue(key, cx.waker().clone()),
    };
    match asked {
        Queued::Slot(slot) => Ok(Entry::Held(Held::own(slot, call))),
        Queued::Waiting(waiting) => Ok(Entry::Waiting(waiting)),
        Queued::Full(why) => Err(Refused::note(refused, why)),
    }
}

impl Pipeline {
    /// The deadline as far as this site takes notice of it.
    #[inline]
    pub(super) fn heeded(&self, deadline: Deadline) -> Deadline {
        if self.heeds_deadline { deadline } else { Deadline::NONE }
    }

    /// Whether what is left is worth starting with.
    #[inline]
    pub(super) fn check_deadline(&self, now: Moment, deadline: Deadline, turn: Turn) -> Result<(), Detail> {
        note(Event::DeadlineChecked);
        let limits = self.floor.get(now, self.tally);
        match deadline::decide(now, deadline, turn, limits, || self.floor.one_more_doomed()) {
            deadline::Start::Go => Ok(()),
            deadline::Start::Probe => {
                self.tally.here().doomed_probe();
                Ok(())
            }
            deadline::Start::Refuse(refused) => Err(refused),
        }
    }
}
