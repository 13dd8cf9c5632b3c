//! Strategies that only observe: they decide and count what they would have done, and the call goes on.
//!
//! A number for a bulkhead or a timeout is a guess until production has seen it, and a guess that is wrong refuses real
//! callers. `mode = observe` lets it be wrong in the figures first. (Finagle calls this "dark mode" and runs deadlines in it.)
//!
//! Each attempt is followed through the world in which its observing strategies were enforced, as far as it gets there:
//!
//! ```text
//!   body starts ──▶ deadline? ──▶ breaker? ──▶ token? ──▶ slot? ──▶ runs ──▶ limit? ──▶ ends
//!                      │no           │no          │no        │no               │reached
//!                      ▼             ▼            ▼          ▼                 ▼
//!                                   would_refuse                           would_cut
//!                        counted once; from there on the attempt is out of that world
//! ```
//!
//! What is taken there is real, and shared by all who observe the same name: a slot or a place in the queue of the
//! bulkhead's twin, an admission of the breaker's. An attempt that would not have run takes nothing and reports nothing,
//! so the twin breaker opens, cools down, probes and closes as it would, from the results of the very calls it would have
//! let through. (A wait that is not over when the attempt ends is over then: it leaves the line.) An attempt that would have been cut off gives back its slot at that moment and is a failure to the
//! breaker, while its body runs on. What cannot be followed is relief: nobody is turned away, so a dependency that
//! drowns goes on drowning, and a twin breaker may stay open longer than one that is enforced.
//!
//! Nothing observed reaches what is enforced, on this site or any other: not the breaker's window, not the bulkhead's word,
//! not the retry budget, not the deadline that the body sees. (A timeout that observes does not even fail the call for a
//! breaker that is enforced beside it: the attempt did not time out.)
//!
//! The observers are asked when everything enforced has let the attempt through, so an attempt that was refused in truth
//! is not counted here as well. They wait for nothing. Their limits use the call's own timer, which then goes on to the
//! limit that is enforced.
//!
//! Invariants: observing refuses nothing, cuts nothing off, tries nothing again and delays nothing; whatever it takes is
//! given back with the call; a site that enforces everything pays one look at an `Option` when a body starts and one when
//! it has ended.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use super::Pipeline;
use super::call::Call;
use super::gate::{sign_of_refusal, trouble_of};
use super::observer::{Observer, Twin};
use super::standing::Standing;
use crate::base::clock::Moment;
use crate::base::rng::roll;
use crate::call::context::Deadline;
use crate::call::would::Cut;
use crate::call::{Detail, Fate};
use crate::strategies::breaker::Sign;
use crate::strategies::bulkhead::{Bulkhead, Held, Waiting, Would};
use crate::strategies::deadline::{self, Turn};
use crate::strategies::rate::{self, Asked, Looked};
use crate::strategies::retry::{self, Next, Seen, Trouble};
use crate::strategies::timeout::{self, Cause};

/// How far a call has come where its observing strategies are enforced.
#[allow(clippy::struct_excessive_bools)] // independent facts of one attempt
pub(super) struct Course {
    deadline: Deadline,
    /// The attempt would not have run, or no longer.
    out: bool,
    /// Whether to try again has been asked: after that, this call and the one in that world have parted.
    parted: bool,
    /// Its place in the line for a token, and when to look.
    turn: Option<(rate::Waiting, Moment)>,
    /// Its place in the queue for a slot, and when it would leave it.
    waiting: Option<(Waiting, Moment)>,
    cut: (Moment, Cause),
    /// The limit that is enforced.
    limit: Moment,
    /// Whether the admission, and the slot, that the call holds are those of what observes.
    admitted: bool,
    stands: bool,
}

impl Course {
    /// When to look next.
    fn next(&self) -> Moment {
        let waits_until = self.waiting.as_ref().map_or(Moment::NEVER, |(_, until)| *until);
        let due = self.turn.as_ref().map_or(Moment::NEVER, |(_, due)| *due);
        if self.out { Moment::NEVER } else { self.cut.0.min(waits_until).min(due) }
    }

    /// When the attempt will be cut off, whatever is observed.
    pub(super) fn enforced(&self) -> Moment {
        self.limit
    }

    /// The attempt has ended: it leaves the lines it stood in. What else it took stands where such things stand.
    pub(super) fn end(&mut self) {
        (self.turn, self.waiting) = (None, None);
    }
}

impl Call {
    /// The body starts, all that is enforced allowing it.
    #[cold]
    pub(super) fn observe_start(mut self: Pin<&mut Self>, observer: &'static Observer, now: Moment) {
        let this = self.as_mut().project();
        let limit = *this.limit;
        let first = || {
            let around = this.deadline;
            let deadline = match observer.own_deadline.get() {
                _ if !observer.deadlines() => Deadline::NONE,
                Some(own) => around.tighten(Deadline::starting(now, own)),
                None => *around,
            };
            let cut = (Moment::NEVER, Cause::Timeout);
            Course {
                deadline,
                out: false,
                parted: false,
                turn: None,
                waiting: None,
                cut,
                limit,
                admitted: false,
                stands: false,
            }
        };
        let course = this.seldom.more().observed.get_or_insert_with(first);
        (course.out, course.limit) = (false, limit);
        // What was taken from what is enforced, before this began to observe it, is that strategy's until the attempt ends.
        (course.admitted, course.stands) = (this.admission.is_none(), matches!(this.standing, Standing::Nowhere));
        if *this.attempt == 0
            && let Some(budget) = observer.retry().and_then(|retries| retries.budget)
        {
            budget.deposit(this.pipeline.tally.here().lane(), now);
        }
        if let Err(why) = self.as_mut().observe_gate(observer, now) {
            return self.would_refuse(why, now);
        }
        let this = self.project();
        if let Some(course) = this.seldom.observed() {
            course.cut = timeout::decide(now, observer.timeout(), course.deadline);
            *this.limit = limit.min(course.next());
        }
    }

    /// Deadline, breaker, token and slot, in the order in which they would refuse.
    fn observe_gate(self: Pin<&mut Self>, observer: &'static Observer, now: Moment) -> Result<(), Detail> {
        let this = self.project();
        let (pipeline, Some(course)) = (*this.pipeline, this.seldom.observed()) else { return Ok(()) };
        if course.deadline.is_set() {
            let limits = pipeline.floor.get(now, pipeline.tally);
            let turn = Turn { in_queue: false, wanted: false };
            let doomed = || pipeline.floor.one_more_doomed();
            if let deadline::Start::Refuse(why) = deadline::decide(now, course.deadline, turn, limits, doomed) {
                return Err(why);
            }
        }
        if let Some(breaker) = observer.breaker()
            && course.admitted
        {
            *this.admission = Some(breaker.admit(|| now)?);
        }
        let mut token = None;
        if let Some(throttle) = observer.rate() {
            let nobody = Context::from_waker(Waker::noop());
            match throttle.rate.ask(this.keys.bucket, now, throttle.patience(), course.deadline.at, &nobody) {
                Asked::Token(granted) => token = Some(granted),
                Asked::Waiting(turn) => {
                    let due = turn.due();
                    course.turn = Some((turn, due));
                }
                Asked::Refused(why) => return Err(why),
            }
        }
        let mut waits = course.turn.is_some();
        if let Some(Twin { compartment, beside }) = observer.bulkhead()
            && course.stands
        {
            let would = match (compartment.keyed, this.keys.compartment) {
                (Some(keyed), Some(key)) => keyed.observe(key, *this.id),
                _ => compartment.bulkhead.observe(beside.map(Bulkhead::occupancy), *this.id),
            };
            match would {
                Would::Run(held) => *this.standing = Standing::Held(held),
                Would::Wait(place) => {
                    waits = true;
                    match place {
                        Ok(held) => *this.standing = Standing::Held(held),
                        Err(waiting) => course.waiting = Some((waiting, now.plus(compartment.patience()))),
                    }
                }
                Would::Refuse(why) => return Err(why),
            }
        }
        if waits {
            pipeline.tally.here().would_queue();
        }
        if let Some(token) = token {
            token.spend();
        }
        Ok(())
    }

    /// The attempt would have been refused.
    fn would_refuse(mut self: Pin<&mut Self>, why: Detail, now: Moment) {
        let this = self.as_mut().project();
        let Some(course) = this.seldom.observed() else { return };
        course.out = true;
        course.end();
        if course.admitted
            && let Some(admission) = this.admission.take()
        {
            admission.settle(sign_of_refusal(this.pipeline.faults, &why), 0, || now);
        }
        if let Fate::Refused(reason) = why.fate() {
            this.pipeline.tally.here().would_refuse(reason);
        }
        self.part(trouble_of(&why), now);
    }

    /// Ready when a limit that is enforced has been reached; one that is observed is counted and passed by.
    pub(super) fn poll_cut(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(self.as_mut().poll_limit(cx));
            let pipeline: &'static Pipeline = self.pipeline;
            let Some(observer) = pipeline.observer.get() else { return Poll::Ready(()) };
            // The timer has the last word: were the clock a hair behind it, this would go round for ever.
            let now = Moment::now().max(self.limit);
            if self.as_mut().pass_by(observer, now) {
                return Poll::Ready(());
            }
        }
    }

    /// A limit has been reached. True when it is one that is enforced.
    #[cold]
    fn pass_by(mut self: Pin<&mut Self>, observer: &'static Observer, now: Moment) -> bool {
        let this = self.as_mut().project();
        let Some(course) = this.seldom.observed() else { return true };
        if let Some((mut turn, due)) = course.turn.take_if(|(_, due)| *due <= now) {
            match turn.look(now, &Context::from_waker(Waker::noop())) {
                Looked::Token(token) => token.spend(),
                // Never at once again, or this would go round without end.
                Looked::Until(again) => course.turn = Some((turn, again.max(due.plus(1_000_000)))),
                Looked::InVain(why) => self.as_mut().would_refuse(why, now),
            }
        }
        let this = self.as_mut().project();
        let Some(course) = this.seldom.observed() else { return true };
        if let Some((mut waiting, until)) = course.waiting.take() {
            if let Poll::Ready(slot) = waiting.poll_slot(&Context::from_waker(Waker::noop())) {
                *this.standing = Standing::Held(Held::own(slot, *this.id));
            } else if until > now {
                course.waiting = Some((waiting, until));
            } else if let Some(twin) = observer.bulkhead.get() {
                drop(waiting);
                let bulkhead = twin.compartment.bulkhead;
                let (name, slots) = (bulkhead.name(), bulkhead.occupancy().slots);
                let waited = now.since(*this.started_at);
                self.as_mut().would_refuse(Detail::Waited { name, slots, waited }, now);
            }
        }
        let is_cut = self
            .seldom
            .look()
            .and_then(|more| more.observed.as_ref())
            .is_some_and(|course| !course.out && course.cut.0 <= now);
        if is_cut {
            self.as_mut().would_cut(observer, now);
        }
        let this = self.project();
        let Some(course) = this.seldom.observed() else { return true };
        *this.limit = course.limit.min(course.next());
        course.limit <= now
    }

    /// The attempt would have been cut off here.
    fn would_cut(mut self: Pin<&mut Self>, observer: &'static Observer, now: Moment) {
        let this = self.as_mut().project();
        let pipeline = *this.pipeline;
        let Some(course) = this.seldom.observed() else { return };
        course.out = true;
        let cause = course.cut.1;
        pipeline.tally.here().would_cut(match cause {
            Cause::Timeout => Cut::Timeout,
            Cause::Deadline => Cut::Deadline,
        });
        let ran = now.since(*this.started_at);
        let has_own = (course.stands, course.admitted);
        if has_own.0 {
            *this.standing = Standing::Nowhere;
        }
        if has_own.1
            && let Some(admission) = this.admission.take()
        {
            let has_timeout = observer.timeout().or(pipeline.live.timeout.get()).is_some();
            admission.settle(pipeline.sign_of_cut(cause, has_timeout), ran, || now);
        }
        self.part(if cause == Cause::Timeout { Trouble::TimedOut } else { Trouble::OutOfTime }, now);
    }

    /// The attempt has failed, here or there. Counts whether it would have been tried again; asked once a call, since no
    /// further attempt is made that could be followed.
    #[cold]
    pub(super) fn part(self: Pin<&mut Self>, trouble: Trouble, now: Moment) {
        let this = self.project();
        let pipeline = *this.pipeline;
        let Some(retries) = pipeline.observer.get().and_then(Observer::retry) else { return };
        let (deadline, parted) = match this.seldom.observed() {
            Some(course) => (course.deadline, std::mem::replace(&mut course.parted, true)),
            // Refused in truth before its body started, and so before it was followed.
            None => (Deadline::NONE, false),
        };
        if parted {
            return;
        }
        let deadline = deadline.tighten(pipeline.heeded(*this.deadline));
        let observer = pipeline.observer.get().and_then(Observer::breaker);
        let seen = Seen {
            attempt: 0,
            trouble,
            remaining: deadline.is_set().then(|| deadline.at.since(now)),
            breaker_open: pipeline.breaker().or(observer).is_some_and(|breaker| breaker.refuses(now)),
            elapsed: now.since((*this.begun_at).min(*this.started_at).min(now)),
            last_pause: 0,
        };
        if let Next::Again(_) = retry::decide(&retries.config.lock(), seen, roll()) {
            let Some(budget) = retries.budget else { return pipeline.tally.here().would_retry() };
            if let Some(ticket) = budget.withdraw(now) {
                ticket.spend();
                pipeline.tally.here().would_retry();
            }
        }
    }
}

impl Pipeline {
    /// What an attempt that was cut off says about the dependency. A deadline that left it less than its own timeout says
    /// something about the caller instead.
    pub(super) fn sign_of_cut(&self, cause: Cause, has_timeout: bool) -> Sign {
        match cause == Cause::Timeout || !has_timeout {
            true if self.faults.timeout => Sign::Failure,
            true => Sign::Success,
            false => Sign::Neutral,
        }
    }
}
