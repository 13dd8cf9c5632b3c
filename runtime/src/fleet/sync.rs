//! The task that keeps a process in its fleet: asks, puts in force what it is told, and falls back when nobody answers.
//!
//! It is the only place where a fleet waits for anything, and nothing waits for it. An answer that does not come is given up
//! on after a third of a lease; the end of the lease is kept by a timer of this task whether or not an answer is under way.
//!
//! Invariants: one question is under way at a time; whichever way the task ends (it was told to, it was dropped with its
//! runtime), no call notices more than that shares stop changing; what is in force is a leased share only until the lease
//! has ended.

use std::pin::pin;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::time::timeout_at;

use super::decide::{Heard, Member};
use super::figures::Books;
use super::limits::Limits;
use super::store::{Failure, Store};
use crate::base::clock::Moment;
use crate::base::rng::roll;

/// What a task works with.
pub(super) struct Sync<S, L> {
    pub(super) member: Member,
    pub(super) store: S,
    pub(super) limits: L,
    pub(super) books: Arc<Books>,
}

impl<S: Store, L: Limits> Sync<S, L> {
    /// Goes on until it is told to stop, and then gives everything back.
    pub(super) async fn run(mut self, stop: Arc<Notify>) {
        while timeout_at(self.member.next().to_instant(), stop.notified()).await.is_err() {
            let now = Moment::now();
            if self.member.lapses(now) {
                self.fall_back(now);
            }
            if self.member.due() <= now {
                self.ask(now).await;
            }
        }
        self.leave().await;
    }

    async fn ask(&mut self, now: Moment) {
        let ask = self.member.ask(&self.limits.read(now));
        let give_up = now.plus(self.member.patience());
        let heard = {
            let mut answer = pin!(self.store.sync(&ask));
            loop {
                let wake = self.member.until().map_or(give_up, |until| until.min(give_up));
                match timeout_at(wake.to_instant(), answer.as_mut()).await {
                    Ok(answer) => break answer,
                    Err(_) if Moment::now() >= give_up => {
                        break Err(Failure("no answer in a third of a lease".to_owned()));
                    }
                    Err(_) => {
                        let now = Moment::now();
                        if self.member.lapses(now) {
                            self.books.lapsed(self.member.replicas());
                            self.limits.part(self.member.replicas(), now);
                        }
                    }
                }
            }
        };
        let (sent, now) = (now, Moment::now());
        match heard {
            Ok(answer) => match self.member.answered(&ask, &answer, sent, now, roll()) {
                Heard::Shares(shares) => {
                    self.books.answered(&self.member, &answer, sent, now);
                    self.limits.give(&shares, self.member.replicas(), now);
                }
                Heard::TooLate => {
                    self.books.failed(Failure("the answer came after its lease had ended".to_owned()), now);
                }
            },
            Err(failure) => {
                self.member.failed(now, roll());
                self.books.failed(failure, now);
            }
        }
        // A lease may have ended while the last answer was no good.
        if self.member.lapses(now) {
            self.fall_back(now);
        }
    }

    fn fall_back(&mut self, now: Moment) {
        self.books.lapsed(self.member.replicas());
        self.limits.part(self.member.replicas(), now);
    }

    /// Gives everything back, and takes equal parts from here on.
    async fn leave(&mut self) {
        let now = Moment::now();
        self.limits.part(self.member.replicas(), now);
        let goodbye = self.member.goodbye();
        let give_up = now.plus(self.member.patience());
        // Whoever does not hear it finds out when the lease ends.
        let _ = timeout_at(give_up.to_instant(), self.store.sync(&goodbye)).await;
        self.books.left();
    }
}
