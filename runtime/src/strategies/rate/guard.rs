//! What is taken from a rate, each given back in its Drop and nowhere else.

use std::task::{Context, Waker};

use super::Rate;
use super::decide::{moment, stamp};
use super::turn::Patience;
use crate::base::clock::Moment;
use crate::base::line::Ticket;
use crate::base::table::Place;
use crate::call::Detail;

/// A token for an attempt that has not begun. Given back unless it is spent.
#[derive(Debug)]
#[must_use = "a token that is dropped is given back"]
pub(crate) struct Token {
    rate: &'static Rate,
    bucket: Option<Place>,
    taken: u64,
}

impl Token {
    #[inline]
    pub(super) fn of(rate: &'static Rate, bucket: Option<Place>, taken: u64) -> Self {
        Self { rate, bucket, taken }
    }

    /// The body starts: from here on the token is gone.
    #[inline]
    pub(crate) fn spend(self) {
        self.rate.spend(self.bucket);
        std::mem::forget(self);
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.rate.give_back(self.bucket, self.taken);
    }
}

/// A place in line; becomes a token, or leaves the line.
#[derive(Debug)]
pub(crate) struct Waiting {
    rate: &'static Rate,
    bucket: Option<Place>,
    ticket: Ticket,
    patience: Patience,
    due: u64,
    over: bool,
}

/// What looking again came to.
pub(crate) enum Looked {
    Token(Token),
    /// Not yet; look again then, or when woken.
    Until(Moment),
    /// Its patience is at an end: those before it have not come for their tokens.
    InVain(Detail),
}

impl Waiting {
    pub(super) fn of(rate: &'static Rate, bucket: Option<Place>, ticket: Ticket, patience: Patience, due: u64) -> Self {
        Self { rate, bucket, ticket, patience, due, over: false }
    }

    /// When to look for the first time.
    pub(crate) fn due(&self) -> Moment {
        moment(self.due)
    }

    /// Whether the token is there.
    pub(crate) fn look(&mut self, now: Moment, cx: &Context<'_>) -> Looked {
        let now = stamp(now);
        let waker = cx.waker().clone();
        let (mut woken, mut replaced) = (Vec::new(), None);
        let looked = self.rate.view(self.bucket, |mut view| {
            let looked = view.look(self.ticket, now, &mut woken);
            if looked.is_err() {
                replaced = view.keep_waker(self.ticket, waker);
            }
            looked
        });
        drop(replaced);
        self.over = looked.is_ok();
        woken.into_iter().for_each(Waker::wake);
        match looked {
            Ok(()) => Looked::Token(Token::of(self.rate, self.bucket, now)),
            Err(due) if self.patience.allows(due) => Looked::Until(moment(due)),
            // Late by no fault of its own; it looks once more at the very end.
            Err(_) if now < self.patience.latest.min(self.patience.deadline) => {
                Looked::Until(moment(self.patience.latest.min(self.patience.deadline)))
            }
            Err(due) => {
                self.rate.refused(self.bucket);
                Looked::InVain(self.rate.describe(due.saturating_sub(now)))
            }
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if !self.over {
            self.rate.view(self.bucket, |mut view| view.leave(self.ticket)).into_iter().for_each(Waker::wake);
        }
    }
}
