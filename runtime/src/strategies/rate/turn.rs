//! Whose turn it is, decided under the lock around a bucket's line.
//!
//! A waiter reserves nothing. It stands in line and knows when its token will be there: the time of the first token plus
//! one interval for each that waits before it. As those before it take their tokens, that moment stays where it is; as
//! one of them leaves, or a token comes back, it moves forward, and whoever that concerns is woken. So each waiter's own
//! timer is right without anybody handing anything over, and whether a wait can end in time is known before it begins.
//!
//! Nobody takes a token that an older waiter is about to take: a place in line counts as a token until it is left, and
//! behind as many as the bucket can hold one waits for them to go. (So waiters that nobody polls hold up those behind
//! them once they are as many as the burst, each for as long as it was ready to wait and no longer.)
//!
//! Invariants: first come, first served; every change that brings somebody's moment forward wakes it.

use std::task::Waker;

use super::config::Figures;
use super::decide::Tokens;
use crate::base::line::{Ticket, Waiters};

/// A bucket and its line, for as long as the lock is held.
pub(super) struct View<'a> {
    pub(super) figures: Figures,
    pub(super) tokens: &'a Tokens,
    pub(super) line: &'a mut Waiters,
}

/// How long a caller is ready to wait: a token must be there at `latest`, and before `deadline`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) latest: u64,
    pub(super) deadline: u64,
}

impl Patience {
    pub(super) fn allows(self, due: u64) -> bool {
        due <= self.latest && due < self.deadline
    }
}

/// What asking came to.
pub(super) enum Turn {
    Taken,
    /// In line; the token will be there then.
    Waiting(Ticket, u64),
    /// Not within its patience; it would have been there then.
    Refused(u64),
}

impl View<'_> {
    pub(super) fn ask(&mut self, now: u64, patience: Patience, waker: Waker) -> Turn {
        let ahead = self.line.len();
        match self.take(now, ahead) {
            Ok(()) => Turn::Taken,
            Err(due) if patience.allows(due) => Turn::Waiting(self.line.join(waker), due),
            Err(due) => Turn::Refused(due),
        }
    }

    /// Takes a token behind `ahead` waiters, or says when to look again.
    fn take(&self, now: u64, ahead: usize) -> Result<(), u64> {
        let due = self.tokens.due_for(self.figures, ahead);
        if due > now {
            return Err(due);
        }
        // There, but for those before it, who have not come for theirs yet: they are due, and one interval is the longest
        // it takes until another token is there for whoever comes first.
        if ahead >= self.figures.burst as usize {
            return Err(now.saturating_add(self.figures.interval()));
        }
        self.tokens.take(self.figures, now)
    }

    /// Looks again. Whoever is woken by its leaving is in `woken`.
    pub(super) fn look(&mut self, ticket: Ticket, now: u64, woken: &mut Vec<Waker>) -> Result<(), u64> {
        let ahead = self.line.position(ticket).unwrap_or(0);
        self.take(now, ahead)?;
        // Its own waker is dropped outside of the lock as well.
        woken.extend(self.line.leave(ticket));
        // Who has come near enough by that to take a token.
        woken.extend(self.line.take_wakers(self.figures.burst as usize - 1, 1));
        Ok(())
    }

    /// Keeps the waker that the waiter was polled with last; returns the one before, to be dropped outside of the lock.
    pub(super) fn keep_waker(&mut self, ticket: Ticket, waker: Waker) -> Option<Waker> {
        self.line.waker_of(ticket).map(|kept| std::mem::replace(kept, waker))
    }

    /// Leaves without a token: everybody behind is due earlier.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Vec<Waker> {
        let Some(ahead) = self.line.position(ticket) else { return Vec::new() };
        let left = self.line.leave(ticket);
        left.into_iter().chain(self.line.take_wakers(ahead, usize::MAX)).collect()
    }
}
