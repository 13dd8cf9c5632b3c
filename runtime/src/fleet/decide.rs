//! What a process asks for, how long what it got holds, and when it asks again. Pure: handed the time and the dice.
//!
//! **What is wanted.** What ran and waited at once at most since the last sync, and a quarter of it on top, so that a load that
//! grows finds slots. Where somebody was turned away nobody knows what would have been used, and four times what there was is
//! asked for: that finds any number in a few steps, and asking for too much takes nothing from anyone who asks for less than
//! the level (see the essay of the folder). What is no longer used is halved each time and not dropped, since
//! loads come in bursts. At least an eighth of an equal part is always asked for, so that whoever was idle can begin.
//!
//! **How long.** A lease is counted from before the question was sent, and ends here a fiftieth early: for a timer that is late
//! by a millisecond or two, and for two clocks that do not run at quite the same speed.
//!
//! **When.** Five times in a lease. An answer that has not come after one and a half times that long is given up on, and the
//! question asked again soon, so that two can be lost. Where there are so many processes that they would ask
//! more often than a thousand times a second together, the lease is longer, for all of them alike. Four times as
//! often while there is nothing to work with and there could be; at once where somebody waits for what is given back.
//!
//! Invariants: no share is in force after its lease has ended; a question has a higher number than every one before; what was
//! answered late is not heard.

use std::collections::HashMap;
use std::sync::Arc;

use super::store::{Answer, Ask, Claim};
use crate::base::clock::Moment;

/// How often in a lease a process asks.
const SYNCS: u64 = 5;
/// How many questions a second all processes together ask.
const MOST_A_SECOND: u64 = 1_000;
/// What part of a lease is left to timers that are late.
const EARLY: u64 = 50;
/// What part of an equal part is always asked for.
const LEAST: u32 = 8;

/// How a limit stands in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) limit: Arc<str>,
    pub(super) whole: u32,
    /// What is in force.
    pub(super) share: u32,
    /// What is in use; above the share where that was cut lately.
    pub(super) running: u32,
    /// What was asked for at once at most since the last reading.
    pub(super) peak: u32,
    /// Whether somebody was turned away since.
    pub(super) pressed: bool,
}

/// One process in a fleet.
#[derive(Debug)]
pub(super) struct Member {
    process: Arc<str>,
    dice: u32,
    /// As it was asked for, in nanoseconds; it may have to be longer.
    lease: u64,
    /// How many processes there are at least.
    least_replicas: u32,
    replicas: u32,
    number: u64,
    until: Option<Moment>,
    due: Moment,
    wants: HashMap<Arc<str>, u32>,
    /// Whether the last question was asked at once, to say what was given back.
    hurried: bool,
}

/// What an answer comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// These shares hold from now on.
    Shares(Vec<(Arc<str>, u32)>),
    /// It was too long on its way, or is no answer to what was asked.
    TooLate,
}

impl Member {
    pub(super) fn new(process: Arc<str>, dice: u32, lease: u64, least_replicas: u32, now: Moment) -> Self {
        let (number, until, wants, hurried) = (0, None, HashMap::new(), false);
        Self { process, dice, lease, least_replicas, replicas: least_replicas, number, until, due: now, wants, hurried }
    }

    /// How many processes there are, as far as is known.
    pub(super) fn replicas(&self) -> u32 {
        self.replicas.max(self.least_replicas).max(1)
    }

    /// The time between two questions, in nanoseconds.
    pub(super) fn every(&self) -> u64 {
        (self.lease / SYNCS).max(u64::from(self.replicas()) * 1_000_000_000 / MOST_A_SECOND)
    }

    /// How long a lease is.
    pub(super) fn length(&self) -> u64 {
        self.every() * SYNCS
    }

    /// When the shares in force end.
    pub(super) fn until(&self) -> Option<Moment> {
        self.until
    }

    /// When to ask again.
    pub(super) fn due(&self) -> Moment {
        self.due
    }

    /// When there is something to do.
    pub(super) fn next(&self) -> Moment {
        self.until.map_or(self.due, |until| until.min(self.due))
    }

    /// Whether the lease has ended by now; said once.
    pub(super) fn lapses(&mut self, now: Moment) -> bool {
        let lapses = self.until.is_some_and(|until| until <= now);
        if lapses {
            self.until = None;
        }
        lapses
    }

    /// The next question.
    pub(super) fn ask(&mut self, readings: &[Reading]) -> Ask {
        let replicas = self.replicas();
        let before = std::mem::take(&mut self.wants);
        let claims = readings.iter().map(|it| {
            let want = want(it, before.get(&it.limit).copied().unwrap_or(0), replicas);
            self.wants.insert(it.limit.clone(), want);
            Claim { limit: it.limit.clone(), whole: it.whole, held: it.share.max(it.running), want }
        });
        let claims = claims.collect();
        self.question(false, claims)
    }

    /// The last question.
    pub(super) fn goodbye(&mut self) -> Ask {
        self.question(true, Vec::new())
    }

    fn question(&mut self, leaves: bool, claims: Vec<Claim>) -> Ask {
        self.number += 1;
        let lease = self.length() / 1_000_000;
        Ask { process: self.process.clone(), number: self.number, lease, dice: self.dice, leaves, claims }
    }

    /// What was answered to a question that was sent at `sent`; `roll`, from 0 to 1, keeps processes from asking in step.
    pub(super) fn answered(&mut self, ask: &Ask, answer: &Answer, sent: Moment, now: Moment, roll: f64) -> Heard {
        let length = ask.lease * 1_000_000;
        let until = sent.plus(length - length / EARLY);
        if now >= until || answer.shares.len() != ask.claims.len() {
            self.failed(now, roll);
            return Heard::TooLate;
        }
        self.replicas = answer.replicas;
        self.until = Some(until);
        let shares: Vec<_> = ask.claims.iter().map(|it| it.limit.clone()).zip(answer.shares.iter().copied()).collect();
        let claims = || ask.claims.iter().zip(&answer.shares);
        let is_starved = claims().any(|(claim, share)| *share == 0 && claim.want > 0 && claim.whole >= self.replicas);
        let gives_back = answer.hurry && claims().any(|(claim, share)| *share < claim.held);
        let pause = match (gives_back, is_starved) {
            // What is given back is known to be given back once this process has said so. Once: what it said then and is
            // still too much is in use, and will be for a while.
            (true, _) if !self.hurried => 0.0,
            (true, _) | (_, true) => 0.25,
            _ => 1.0,
        };
        self.hurried = pause == 0.0;
        self.due = self.later(now, pause, roll);
        Heard::Shares(shares)
    }

    /// There was no answer, or none that could be used.
    pub(super) fn failed(&mut self, now: Moment, roll: f64) {
        self.due = self.later(now, 0.25, roll);
    }

    /// For how long an answer is waited for, in nanoseconds.
    pub(super) fn patience(&self) -> u64 {
        self.every() * 3 / 2
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a part of an interval
    fn later(&self, now: Moment, pause: f64, roll: f64) -> Moment {
        now.plus((self.every() as f64 * pause * (0.9 + 0.2 * roll)) as u64)
    }
}

/// What would be used of a limit, if it could.
pub(super) fn want(reading: &Reading, before: u32, replicas: u32) -> u32 {
    let Reading { whole, share, peak, pressed, .. } = *reading;
    let used = if pressed { peak.max(share.saturating_mul(4)).max(share.saturating_add(1)) } else { peak };
    let least = (whole / replicas.saturating_mul(LEAST).max(1)).max(u32::from(whole >= replicas));
    used.saturating_add(used / 4).max(before / 2).max(least).min(whole)
}
