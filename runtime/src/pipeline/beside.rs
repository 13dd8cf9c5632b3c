//! The second attempt of a hedged one: a call of the same kind that books an attempt and no fate.
//!
//! ```text
//!   first's body pending        its time          ticket, breaker, slot         either answers, or both failed
//!   ──────────────────▶ Paused ─────────▶ Fresh ──────────────────────▶ Running ──────────────────▶ Over
//!                       (asleep)            └─ no ticket, or refused: not made
//! ```
//!
//! It is a [`Call`], so that it goes the way of every attempt: whatever stands in line between retry and body is asked for
//! the second attempt by the same lines as for the first, and can neither be forgotten nor come in another order. It has the
//! first one's id and deadline, a number of its own, and a mark by which three things differ: it takes no place in a queue,
//! no retry follows it, and its Drop books no fate.
//!
//! Asleep it holds nothing but a timer, and its Drop says nothing. From its time on it ends in exactly one [`HedgeFate`].
//!
//! Invariants: a ticket is spent when its body may start, and goes back when it was refused; an attempt that lost is
//! neutral for the breaker, unless it was slow, which it was, whoever answered.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::Switches;
use super::call::{Call, Stage, Start};
use super::gate::Gate;
use crate::base::clock::Moment;
use crate::call::event::{Event, note};
use crate::call::tally::AttemptFate;
use crate::call::{Detail, Fate, HedgeFate};
use crate::strategies::breaker::Sign;
use crate::strategies::bulkhead::Ended;
use crate::strategies::hedge;

impl Call {
    /// The second attempt beside this one, asleep until it is due; `None` when none will be.
    pub(super) fn hedge(&self) -> Option<Self> {
        let pipeline = self.pipeline;
        let pace = pipeline.hedge.as_deref().filter(|_| pipeline.live.switches.is_on(Switches::HEDGE))?;
        let at = hedge::due(&pace.config(), self.started_at, self.limit, || {
            pace.percentile(self.started_at, || pipeline.tally.lengths())
        })?;
        let mut hedge = Self::from_start(Start { pipeline, id: self.id, deadline: self.deadline, now: None });
        hedge.keys = self.keys;
        hedge.attempt = self.attempt + self.seldom.look().map_or(0, |more| more.hedges) + 1;
        hedge.stage = Stage::Paused;
        hedge.limit = at;
        hedge.is_hedge = true;
        hedge.booked = true;
        Some(hedge)
    }

    /// Whether it sleeps.
    pub(super) fn is_asleep(&self) -> bool {
        self.stage == Stage::Paused
    }

    /// Ready when this second attempt's body may be polled (true), or when it will never be.
    pub(super) fn poll_hedge(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        if self.is_running() {
            return Poll::Ready(true);
        }
        if self.is_asleep() {
            ready!(self.as_mut().poll_limit(cx));
            if !self.as_mut().pays() {
                self.book_hedge(HedgeFate::NoBudget);
                return Poll::Ready(false);
            }
        }
        let may_run = ready!(self.as_mut().poll_gate(cx)) == Gate::Run;
        let this = self.as_mut().project();
        let ticket = this.seldom.take_ticket();
        if !may_run {
            drop(ticket);
            self.book_hedge(HedgeFate::Refused);
            return Poll::Ready(false);
        }
        if let Some(ticket) = ticket {
            ticket.spend();
        }
        if let Some(held) = this.standing.held_mut() {
            held.holding.mark_second();
        }
        Poll::Ready(true)
    }

    /// Its time has come: takes a ticket, where there is a budget.
    fn pays(self: Pin<&mut Self>) -> bool {
        let this = self.project();
        let now = Moment::now();
        *this.now = Some(now);
        *this.stage = Stage::Fresh;
        *this.booked = false;
        note(Event::Hedged);
        if let Some(budget) = this.pipeline.budget {
            let Some(ticket) = budget.withdraw(now) else { return false };
            this.seldom.more().ticket = Some(ticket);
        }
        true
    }

    /// A second attempt's one entry among the hedges.
    pub(super) fn book_hedge(self: Pin<&mut Self>, fate: HedgeFate) {
        let this = self.project();
        *this.booked = true;
        *this.stage = Stage::Over;
        this.pipeline.tally.here().hedged(fate);
    }

    /// The other of the two attempts has answered, and this one's body has been dropped.
    pub(super) fn lose(mut self: Pin<&mut Self>) {
        let this = self.as_mut().project();
        let now = Moment::now();
        let ran = now.since(*this.started_at);
        let here = this.pipeline.tally.here();
        here.cut_off(ran);
        here.attempt(AttemptFate::Lost);
        *this.stage = Stage::Over;
        note(Event::BodyLost);
        this.pipeline.learn(ran, Ended::OutOfTime, now);
        self.give_back(Sign::Neutral, ran, now);
    }

    /// What an attempt came to, or two, before retry is asked, and why it was cut off, if it was. The numbers of further
    /// attempts take into account that there were two.
    #[inline]
    pub(super) fn conclude(self: Pin<&mut Self>, fate: Fate, cut_off: Option<Detail>, hedged: bool) {
        let this = self.project();
        *this.fate = fate;
        *this.refused = cut_off;
        if hedged {
            this.seldom.more().hedges += 1;
            // The first may have failed long before the second did.
            *this.now = None;
        }
    }

    /// The other attempt's body has panicked, so the call has.
    pub(super) fn panicked_beside(self: Pin<&mut Self>) {
        *self.project().fate = Fate::Panicked;
    }
}
