//! The guard of one call: holds whatever the call has taken, and gives it all back however the call ends.
//!
//! It is not generic, so the compiler builds it once for all guarded functions; only the few lines that poll a body are
//! built per function ([`super::run`]). Each attempt walks through the same stages:
//!
//! ```text
//!            ┌──▶ Throttled ──┐ token due
//!   Fresh ───┴────────────────┴─┬──▶ Queued ──┬──▶ Running ──▶ Over ──▶ Answering
//!     ▲          token there    └─────────────┘       │          ▲     (the fallback)
//!     │                         slot free, or handed  │ failed   │
//!     └──────── Paused ◀──────────────────────────────┴──────────┘ refused, or no retry
//! ```
//!
//! [`super::gate`] holds what happens before the body runs, [`super::after`] what happens when it has ended, and
//! [`super::beside`] what is different for the second attempt of a hedged one; this file holds the data, the books and the
//! Drop.
//!
//! Invariants: exactly one fate is booked per call, here and nowhere else; the slot is free before the caller can see
//! the result; a call that is dropped unbooked was cancelled, or has panicked if its body was being polled.

use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use tokio::task::unconstrained;
use tokio::time::{Sleep, sleep_until};

use super::Pipeline;
use super::keyed::Keys;
use super::observe::Course;
use super::seldom::Seldom;
use super::standing::Standing;
use crate::base::clock::Moment;
use crate::base::park::alarm;
use crate::call::context::{Ambient, Deadline, Scope, next_call};
use crate::call::event::{Event, note};
use crate::call::tally::{AttemptFate, WaitFate};
use crate::call::{Detail, Error, FallbackUse, Fate, HedgeFate};
use crate::strategies::breaker::{Admission, Sign};
use crate::strategies::timeout::Cause;

/// Where an attempt stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Fresh,
    Throttled,
    Queued,
    Running,
    Paused,
    Over,
    Answering,
}

pin_project! {
    /// One call of a guarded function.
    pub struct Call {
        pub(super) pipeline: &'static Pipeline,
        pub(super) id: u64,
        // Retries so far.
        pub(super) attempt: u32,
        // Retries there may be: as it was when the call began, since the last attempt is given the arguments themselves.
        pub(super) most: u32,
        pub(super) stage: Stage,
        pub(super) deadline: Deadline,
        // A reading of the clock made in this very poll, to spare the next one.
        pub(super) now: Option<Moment>,
        pub(super) started_at: Moment,
        // When the first attempt began to wait, or its body started: known once it waits or has failed.
        pub(super) begun_at: Moment,
        // When the wait, the body or the pause under way must end, and what ends a body then.
        pub(super) limit: Moment,
        pub(super) cause: Cause,
        pub(super) admission: Option<Admission>,
        pub(super) keys: Keys,
        pub(super) standing: Standing,
        pub(super) seldom: Seldom,
        // Why we refused it or cut it short, if we did.
        pub(super) refused: Option<Detail>,
        // How it ended, once that is known; booked when the caller's answer is ready.
        pub(super) fate: Fate,
        // A second attempt beside another call's: it has no fate of its own, and no retry follows it.
        pub(super) is_hedge: bool,
        pub(super) polling: bool,
        pub(super) booked: bool,
        // What the next attempt would need cannot be had again.
        pub(super) is_alone: bool,
        armed: Moment,
        #[pin]
        timer: Option<Sleep>,
    }

    impl PinnedDrop for Call {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this;
            if !this.booked {
                this.as_mut().end_early();
            }
            // A hedge has its call's, which outlives it.
            if this.keys.are_held() && !this.is_hedge {
                this.keys.let_go(this.pipeline);
            }
        }
    }
}

/// What is settled when a call begins.
pub(crate) struct Start {
    pub(super) pipeline: &'static Pipeline,
    pub(super) id: u64,
    pub(super) deadline: Deadline,
    pub(super) now: Option<Moment>,
}

impl Start {
    #[inline]
    pub(crate) fn of(pipeline: &'static Pipeline) -> Self {
        let mut deadline = Ambient::deadline();
        let mut now = None;
        if let Some(nanos) = pipeline.live.deadline.get() {
            deadline = deadline.tighten(Deadline::starting(*now.insert(Moment::now()), nanos));
        }
        pipeline.tally.here().started();
        note(Event::CallBegun);
        Self { pipeline, id: next_call(), deadline, now }
    }
}

impl Call {
    // Inlined, so that the fields are written where the caller pins them instead of being moved there.
    #[allow(clippy::inline_always)] // measured: a move of the whole call otherwise
    #[inline(always)]
    pub(crate) fn from_start(Start { pipeline, id, deadline, now }: Start) -> Self {
        Self {
            pipeline,
            id,
            attempt: 0,
            most: pipeline.live.most_retries(),
            stage: Stage::Fresh,
            deadline,
            now,
            started_at: Moment::NEVER,
            begun_at: Moment::NEVER,
            limit: Moment::NEVER,
            cause: Cause::Timeout,
            admission: None,
            keys: Keys::default(),
            standing: Standing::Nowhere,
            seldom: Seldom::default(),
            refused: None,
            fate: Fate::Cancelled,
            is_hedge: false,
            polling: false,
            booked: false,
            is_alone: false,
            armed: Moment::NEVER,
            timer: None,
        }
    }

    /// Whether no further attempt can follow the one about to begin.
    pub fn is_last(&self) -> bool {
        self.is_alone || self.attempt >= self.most
    }

    /// Makes the attempt about to begin the last one.
    pub(crate) fn allow_no_other(self: Pin<&mut Self>) {
        *self.project().is_alone = true;
    }

    /// Whether the body has been started and has not ended.
    pub(super) fn is_running(&self) -> bool {
        self.stage == Stage::Running
    }

    /// Makes this call's context the ambient one; what runs until it is left is the body.
    #[inline]
    pub(super) fn enter(mut self: Pin<&mut Self>) -> Inside<'_> {
        let this = self.as_mut().project();
        *this.polling = true;
        let holding = this.standing.held().map(|held| held.holding);
        let scope = self.context().enter_holding(holding);
        Inside { call: self, scope }
    }

    /// What its body inherits.
    #[inline]
    pub(super) fn context(&self) -> Ambient {
        // A limit that is only observed cuts nothing off, here or in a database.
        let (limit, hedges) = match self.seldom.look() {
            None => (self.limit, 0),
            Some(more) => (more.observed.as_ref().map_or(self.limit, Course::enforced), more.hedges),
        };
        Ambient { deadline: self.deadline, limit, call: self.id, attempt: self.attempt + hedges }
    }

    /// Ready at `limit`; asks tokio for a timer only now that it is needed.
    pub(super) fn poll_limit(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        if *this.limit == Moment::NEVER {
            return Poll::Pending;
        }
        // The thread that waits may know no runtime whose timer could be asked.
        if this.pipeline.plain {
            return alarm(*this.limit);
        }
        if *this.armed != *this.limit {
            let at = this.limit.to_instant();
            match this.timer.as_mut().as_pin_mut() {
                Some(timer) => timer.reset(at),
                None => this.timer.set(Some(sleep_until(at))),
            }
            *this.armed = *this.limit;
        }
        match this.timer.as_pin_mut() {
            // Unconstrained: a body that eats the task's cooperative budget must not keep its own limit from firing.
            Some(timer) => Pin::new(&mut unconstrained(timer)).poll(cx),
            None => Poll::Pending,
        }
    }

    /// The error of a call that we refused or cut short, with the body's last real error as its source.
    pub(super) fn take_refusal(self: Pin<&mut Self>) -> Option<Error> {
        let this = self.project();
        let detail = this.refused.take()?;
        Some(Error::new(Some(this.pipeline.identity), detail).with_source(this.seldom.take_last_error()))
    }

    /// The call's one entry in the books.
    #[inline]
    pub(super) fn book(self: Pin<&mut Self>, fallback: FallbackUse) {
        let this = self.project();
        *this.booked = true;
        let here = this.pipeline.tally.here();
        here.ended(*this.fate, fallback);
        if *this.attempt > 0 && *this.fate == Fate::Ok {
            here.answered_late(*this.attempt);
        }
        note(Event::CallEnded);
    }

    /// The fallback is about to be asked.
    pub(super) fn ask_fallback(self: Pin<&mut Self>) {
        self.answers();
        note(Event::FallbackAsked);
    }

    /// The attempts are over: what runs now is the fallback, or what says whether there is one.
    pub(super) fn answers(self: Pin<&mut Self>) {
        *self.project().stage = Stage::Answering;
    }

    /// Dropped before its end was booked: gives everything back, inner to outer, and says what happened.
    #[cold]
    fn end_early(mut self: Pin<&mut Self>) {
        let this = self.as_mut().project();
        let here = this.pipeline.tally.here();
        if let Some((_, since)) = this.standing.leave_queue() {
            here.left_queue(WaitFate::Cancelled, Moment::now().since(since));
        }
        let panicked = *this.polling;
        // Before an attempt the key is read and arguments are cloned, at once: whatever panics there is the user's.
        let unbegun = *this.stage == Stage::Fresh && !*this.is_hedge && std::thread::panicking();
        if panicked || *this.stage == Stage::Running {
            here.attempt(if panicked { AttemptFate::Panicked } else { AttemptFate::Cancelled });
        }
        *this.standing = Standing::Nowhere;
        self.as_mut().leave_throttle();
        let this = self.as_mut().project();
        match this.admission.take() {
            Some(admission) if panicked => {
                let now = Moment::now();
                admission.settle(Sign::Failure, now.since(*this.started_at), || now);
            }
            other => drop(other),
        }
        if *this.is_hedge {
            return self.book_hedge(HedgeFate::Cancelled);
        }
        let fallback_panicked = *this.stage == Stage::Answering && std::thread::panicking();
        if panicked || unbegun {
            *this.fate = Fate::Panicked;
        } else if !fallback_panicked && *this.fate != Fate::Panicked {
            *this.fate = Fate::Cancelled;
        }
        self.book(if fallback_panicked { FallbackUse::Failed } else { FallbackUse::None });
    }
}

/// The time in which a call's context is the ambient one. However it ends, by a panic of the body too, the call learns
/// whether its slot is out on loan: a mark left as it was would keep or lose the slot for good.
pub(super) struct Inside<'a> {
    call: Pin<&'a mut Call>,
    scope: Scope,
}

impl Inside<'_> {
    /// Not reached when the body panics, which is how a panic is known for one.
    #[inline]
    pub(super) fn leave(mut self) {
        *self.call.as_mut().project().polling = false;
    }
}

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(held) = self.call.as_mut().project().standing.held_mut() {
            self.scope.note_loan(&mut held.holding);
        }
    }
}

impl std::fmt::Debug for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Call").field("site", self.pipeline.identity).field("stage", &self.stage).finish_non_exhaustive()
    }
}
