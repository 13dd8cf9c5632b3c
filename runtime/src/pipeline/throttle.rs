//! Waiting for a token, the one stage of the line that is seldom entered and never by most.
//!
//! What such an attempt has to remember is therefore kept in a box that only it asks for, and not in every call. The same box
//! keeps a token while its attempt waits for a slot.
//!
//! Invariants: a token is spent when the body starts, and given back on every other way; when a token is had in the last
//! moment, the deadline is asked again before anything else is taken.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use super::Throttle;
use super::call::{Call, Stage};
use super::gate::Refused;
use crate::base::clock::Moment;
use crate::call::Detail;
use crate::call::event::{Event, note};
use crate::call::tally::WaitFate;
use crate::strategies::deadline::Turn;
use crate::strategies::rate::{Asked, Looked, Token, Waiting};

/// What an attempt has of a rate before its body starts.
#[derive(Debug)]
pub(super) enum Throttled {
    Waiting { place: Waiting, since: Moment },
    Token(Token),
}

impl Throttled {
    /// The body starts.
    pub(super) fn spend(self) {
        if let Self::Token(token) = self {
            token.spend();
        }
    }
}

impl Call {
    /// A token, or a place in line, or a refusal; then the stages behind the rate.
    #[inline(never)]
    pub(super) fn ask_token(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        throttle: &'static Throttle,
        now: Moment,
    ) -> Result<(), Refused> {
        let this = self.as_mut().project();
        let deadline = this.pipeline.heeded(*this.deadline);
        // A hedge takes what is there, or is not made.
        let wait = if *this.is_hedge { 0 } else { throttle.patience() };
        match throttle.rate.ask(this.keys.bucket, now, wait, deadline.at, cx) {
            Asked::Token(granted) => {
                note(Event::TokenTaken);
                self.ask_slot(cx, Some(now), Some(granted))
            }
            Asked::Waiting(waiting) => {
                self.wait_for_token(waiting, now);
                Ok(())
            }
            Asked::Refused(why) => Err(Refused::note(this.refused, why)),
        }
    }

    #[cold]
    fn wait_for_token(self: Pin<&mut Self>, place: Waiting, now: Moment) {
        let this = self.project();
        if *this.attempt == 0 {
            *this.begun_at = now;
        }
        *this.limit = place.due();
        this.seldom.more().throttled = Some(Throttled::Waiting { place, since: now });
        *this.stage = Stage::Throttled;
        this.pipeline.tally.here().throttled();
        note(Event::Throttled);
    }

    /// A wait for a token: there, in vain, or still waiting.
    pub(super) fn poll_token(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        loop {
            let this = self.as_mut().project();
            let now = Moment::now();
            let Some(Throttled::Waiting { place, since }) = this.seldom.throttled() else { return Poll::Pending };
            let since = *since;
            let looked =
                if this.pipeline.is_closed() { Looked::InVain(Detail::ShuttingDown) } else { place.look(now, cx) };
            let (fate, outcome) = match looked {
                Looked::Until(due) => {
                    *this.limit = due;
                    ready!(self.as_mut().poll_limit(cx));
                    continue;
                }
                Looked::InVain(why) => (WaitFate::Expired, Err(why)),
                Looked::Token(token) => (WaitFate::Ran, Ok(token)),
            };
            let pipeline = *this.pipeline;
            drop(this.seldom.take_throttled());
            pipeline.tally.here().left_throttle(fate, now.since(since));
            let token = match outcome {
                Ok(token) => token,
                Err(why) => return Poll::Ready(Err(Refused::note(this.refused, why))),
            };
            let deadline = pipeline.heeded(*this.deadline);
            if deadline.is_set()
                && let Err(why) = pipeline.check_deadline(now, deadline, Turn { in_queue: true, wanted: false })
            {
                return Poll::Ready(Err(Refused::note(this.refused, why)));
            }
            note(Event::TokenTaken);
            return Poll::Ready(self.ask_slot(cx, Some(now), Some(token)));
        }
    }

    /// Dropped, or at its end: whatever it has of a rate goes back.
    pub(super) fn leave_throttle(self: Pin<&mut Self>) {
        let this = self.project();
        if let Some(throttled) = this.seldom.take_throttled()
            && let Throttled::Waiting { since, .. } = &throttled
        {
            this.pipeline.tally.here().left_throttle(WaitFate::Cancelled, Moment::now().since(*since));
        }
    }
}
