//! What happens before the body runs: the deadline, the breaker, the token, the slot.
//!
//! On the way down the clock is read as seldom as the accounting allows. A refusal by a full bulkhead reads none; a call
//! without a deadline reads it when its body starts; with a deadline that reading serves the body's start too.
//!
//! Invariants: an attempt that is refused holds nothing; a slot that is granted to a call without time left passes on
//! at once.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::call::{Call, Stage};
use super::compartment::{Compartment, Entered, Entry};
use super::standing::Standing;
use super::throttle::Throttled;
use super::{Pipeline, Switches};
use crate::base::clock::Moment;
use crate::call::context::Deadline;
use crate::call::event::{Event, note};
use crate::call::intake;
use crate::call::tally::WaitFate;
use crate::call::{Detail, Fate, Refusal, trace};
use crate::strategies::breaker::{Causes, Sign};
use crate::strategies::bulkhead::{Held, Slot};
use crate::strategies::deadline::Turn;
use crate::strategies::rate::Token;
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
        if !pipeline.tally.intake.is_open() && !pipeline.takes_in(*this.attempt > 0 || *this.is_hedge) {
            return Err(Refused::note(this.refused, Detail::ShuttingDown));
        }
        let mut now = this.now.take();
        if this.deadline.is_set() && pipeline.live.switches.is_on(Switches::DEADLINES) {
            let (now, deadline) = (*now.get_or_insert_with(Moment::now), *this.deadline);
            if *this.attempt == 0 {
                pipeline.tally.here().deadline_used(deadline.tenths_used(now));
            }
            pipeline
                .check_deadline(now, deadline, Turn { in_queue: false, wanted: false })
                .map_err(|why| Refused::note(this.refused, why))?;
        }
        if let Some(breaker) = pipeline.breaker
            && pipeline.live.switches.is_on(Switches::BREAKER)
        {
            let admission = breaker.admit(|| *now.get_or_insert_with(Moment::now));
            *this.admission = Some(admission.map_err(|why| Refused::note(this.refused, why))?);
            note(Event::BreakerPassed);
        }
        match &pipeline.rate {
            Some(throttle) if pipeline.live.switches.is_on(Switches::RATE) => {
                let now = now.unwrap_or_else(Moment::now);
                self.ask_token(cx, throttle, now)
            }
            _ => self.ask_slot(cx, now, None),
        }
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
        if let Some(compartment) = &pipeline.bulkhead
            && pipeline.live.switches.is_on(Switches::BULKHEAD)
        {
            match compartment.enter(*this.id, this.standing, this.refused) {
                Entered::Held => {}
                Entered::Refused if !*this.is_hedge => return Err(Refused),
                Entered::Refused | Entered::NotYet => return self.ask_apart(compartment, cx, now, token),
            }
        }
        *this.now = now;
        self.enter_at_once(token);
        Ok(())
    }

    /// The slot was free, or none is needed.
    #[inline]
    fn enter_at_once(mut self: Pin<&mut Self>, token: Option<Token>) {
        let this = self.as_mut().project();
        if let Standing::Held(held) = this.standing {
            let here = this.pipeline.tally.here();
            if held.is_borrowed() {
                here.lent();
            }
            here.entered_at_once();
            note(Event::SlotTaken);
        }
        if let Some(token) = token {
            token.spend();
        }
        self.start();
    }

    /// It is not as simple as that: a key's slot, a thread's, a place in the queue, or none.
    #[inline(never)]
    fn ask_apart(
        mut self: Pin<&mut Self>,
        compartment: &'static Compartment,
        cx: &mut Context<'_>,
        now: Option<Moment>,
        token: Option<Token>,
    ) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        match compartment.ask(this.keys.compartment, cx, *this.id, *this.is_hedge) {
            Err(why) => {
                *this.refused = why;
                return Err(Refused);
            }
            Ok(Entry::Held(held)) => {
                *this.standing = Standing::Held(held);
                *this.now = now;
                self.enter_at_once(token);
            }
            Ok(Entry::Waiting(waiting)) => {
                let now = now.unwrap_or_else(Moment::now);
                if *this.attempt == 0 {
                    *this.begun_at = (*this.begun_at).min(now);
                }
                *this.standing = Standing::Waiting(waiting, now);
                *this.limit = now.plus(compartment.patience()).min(pipeline.heeded(*this.deadline).at);
                *this.stage = Stage::Queued;
                if let Some(token) = token {
                    this.seldom.more().throttled = Some(Throttled::Token(token));
                }
                pipeline.tally.here().queued();
                note(Event::Queued);
            }
        }
        Ok(())
    }

    /// The attempt has all it needs: its timeout runs from now.
    #[inline]
    fn start(mut self: Pin<&mut Self>) {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let now = this.now.take().unwrap_or_else(Moment::now);
        (*this.limit, *this.cause) = timeout::decide(now, pipeline.live.timeout.get(), pipeline.heeded(*this.deadline));
        *this.started_at = now;
        *this.stage = Stage::Running;
        if *this.attempt == 0
            && let Some(budget) = pipeline.budget
        {
            budget.deposit(pipeline.tally.here().lane(), now);
        }
        pipeline.tally.body_begun();
        if let Some(observer) = pipeline.observer() {
            self.observe_start(observer, now);
        }
        note(Event::BodyStarted);
    }

    /// A wait for a slot: handed over, waited enough, or still waiting.
    fn poll_slot(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        let Standing::Waiting(waiting, since) = self.as_mut().project().standing else { return Poll::Pending };
        let since = *since;
        if let Poll::Ready(slot) = waiting.poll_slot(cx) {
            return Poll::Ready(self.granted(slot, since));
        }
        if !self.pipeline.is_closed() {
            ready!(self.as_mut().poll_limit(cx));
        }
        // The slot may have been handed over in this very moment: then it is ours after all.
        let late = self.as_mut().project().standing.leave_queue().and_then(|(waiting, _)| waiting.give_up());
        Poll::Ready(match late {
            Some(slot) => self.granted(slot, since),
            None => Err(self.wait_in_vain(since)),
        })
    }

    /// A slot was handed over: it is ours, unless there is too little time left to use it.
    fn granted(mut self: Pin<&mut Self>, slot: Slot, since: Moment) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let now = Moment::now();
        let held = Held::own(slot, *this.id);
        *this.standing = Standing::Nowhere;
        let deadline = pipeline.heeded(*this.deadline);
        let passed = if pipeline.is_closed() {
            Err(Detail::ShuttingDown)
        } else if deadline.is_set() {
            let key = this.keys.compartment;
            let wanted = pipeline.bulkhead.as_ref().is_some_and(|it| it.queued(key) > 0);
            pipeline.check_deadline(now, deadline, Turn { in_queue: true, wanted })
        } else {
            Ok(())
        };
        let fate = if passed.is_ok() { WaitFate::Ran } else { WaitFate::Expired };
        pipeline.tally.here().left_queue(fate, now.since(since));
        let passed = passed.and_then(|()| pipeline.bulkhead.as_ref().map_or(Ok(()), Compartment::staff));
        passed.map_err(|why| Refused::note(this.refused, why))?;
        *this.standing = Standing::Held(held);
        *this.now = Some(now);
        if let Some(throttled) = this.seldom.take_throttled() {
            throttled.spend();
        }
        note(Event::SlotTaken);
        self.start();
        Ok(())
    }

    fn wait_in_vain(self: Pin<&mut Self>, since: Moment) -> Refused {
        let this = self.project();
        let now = Moment::now();
        let waited = now.since(since);
        this.pipeline.tally.here().left_queue(WaitFate::Expired, waited);
        if let (Some(compartment), Some((place, _))) = (&this.pipeline.bulkhead, this.keys.compartment)
            && let Some(keyed) = compartment.keyed
        {
            keyed.waited_in_vain(place);
        }
        let why = match &this.pipeline.bulkhead {
            _ if this.pipeline.is_closed() => Detail::ShuttingDown,
            Some(compartment) if now < this.deadline.at => compartment.in_vain(waited),
            _ => Detail::Spent { in_queue: true },
        };
        Refused::note(this.refused, why)
    }

    /// We refused the attempt: neutral for the breaker unless the site says otherwise, and seldom worth another. True when
    /// another follows a pause.
    fn pauses_when_refused(mut self: Pin<&mut Self>) -> bool {
        let this = self.as_mut().project();
        let faults = this.pipeline.faults;
        drop(this.seldom.take_throttled());
        if let Some(admission) = this.admission.take() {
            let sign = this.refused.as_ref().map_or(Sign::Neutral, |why| sign_of_refusal(faults, why));
            admission.settle(sign, 0, Moment::now);
        }
        *this.stage = Stage::Over;
        // Of a hedge the first attempt runs on, and what becomes of the call is its business.
        if *this.is_hedge {
            return false;
        }
        if let Some(why) = this.refused {
            trace::refused(this.pipeline.identity, *why);
        }
        *this.fate = this.refused.as_ref().map_or(Fate::Refused(Refusal::Deadline), Detail::fate);
        this.pipeline.follows_up() && {
            let trouble = this.refused.as_ref().map_or(Trouble::OutOfTime, trouble_of);
            self.pauses_after(trouble)
        }
    }

    /// A pause is over: the next attempt asks for everything anew.
    fn begin_again(self: Pin<&mut Self>) {
        let this = self.project();
        *this.attempt += 1;
        *this.stage = Stage::Fresh;
        *this.refused = None;
        if let Some(ticket) = this.seldom.take_ticket() {
            ticket.spend();
        }
        this.pipeline.tally.here().retried(*this.attempt);
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
        Detail::ShuttingDown => Trouble::Closed,
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

impl Pipeline {
    /// Whether a call, or a further step of one, may begin although the process is to stop. One that has no place for a
    /// refusal always may: there is nothing that it could be told.
    #[cold]
    fn takes_in(&self, is_further: bool) -> bool {
        !self.can_say_so || self.tally.intake.lets_in(is_further)
    }

    /// Whether nothing begins any more.
    pub(super) fn is_closed(&self) -> bool {
        !self.tally.intake.is_open() && self.tally.intake.read() == intake::Stage::Closed
    }

    /// The deadline as far as this site takes notice of it.
    #[inline]
    pub(super) fn heeded(&self, deadline: Deadline) -> Deadline {
        if self.live.switches.is_on(Switches::DEADLINES) { deadline } else { Deadline::NONE }
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
