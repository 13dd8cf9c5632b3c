//! The line of those who wait, guarded by the bulkhead's lock, and the loans that have to be settled there.
//!
//! A ticket that is not in the line has been called: there is no other way out that leaves the waiter unaware.

use std::task::Waker;

pub(super) use crate::base::line::Ticket;
use crate::base::line::Waiters;

/// A loan whose two ends do not meet in one scope: who comes first leaves a note for the other.
#[derive(Debug)]
enum Note {
    /// The borrower of this lender's slot has ended.
    Repaid(u64),
    /// This lender has ended and left the slot to its borrower; it had itself borrowed it from `owes`, if from anyone.
    Ended { lender: u64, owes: Option<u64> },
}

/// What a borrower that ends away from its lender has to do with the slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// The lender still runs and will find the note.
    LenderRuns,
    /// The lender has ended, and the slot was its own: give it back.
    GiveBack,
    /// The lender has ended, and owed the slot to this one.
    RepayTo(u64),
}

#[derive(Debug)]
pub(super) struct Line {
    waiters: Waiters,
    notes: Vec<Note>,
}

impl Line {
    pub(super) fn with_room_for(queue: u32) -> Self {
        Self { waiters: Waiters::with_room_for(queue), notes: Vec::new() }
    }

    pub(super) fn join(&mut self, waker: Waker) -> Ticket {
        self.waiters.join(waker)
    }

    /// Takes out the oldest waiter, whose slot is granted by that.
    pub(super) fn call_next(&mut self) -> Option<Waker> {
        self.waiters.call_next()
    }

    /// The wakers of all who wait, to be woken outside of the lock.
    pub(super) fn wakers(&mut self) -> impl Iterator<Item = Waker> {
        self.waiters.take_wakers(0, usize::MAX)
    }

    pub(super) fn waker_of(&mut self, ticket: Ticket) -> Option<&mut Waker> {
        self.waiters.waker_of(ticket)
    }

    /// Takes a waiter out of the middle.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<Waker> {
        self.waiters.leave(ticket)
    }

    /// A borrower ends away from its lender.
    pub(super) fn borrower_ended(&mut self, lender: u64) -> Settled {
        let ended = self.notes.iter().position(|note| matches!(note, Note::Ended { lender: it, .. } if *it == lender));
        match ended.map(|at| self.notes.swap_remove(at)) {
            Some(Note::Ended { owes: Some(next), .. }) => Settled::RepayTo(next),
            Some(_) => Settled::GiveBack,
            None => {
                self.notes.push(Note::Repaid(lender));
                Settled::LenderRuns
            }
        }
    }

    /// A lender ends with its slot out on loan. True when the borrower has ended, so that the slot is the lender's again.
    pub(super) fn lender_ended(&mut self, lender: u64, owes: Option<u64>) -> bool {
        let repaid = self.notes.iter().position(|note| matches!(note, Note::Repaid(it) if *it == lender));
        if let Some(at) = repaid {
            self.notes.swap_remove(at);
            return true;
        }
        self.notes.push(Note::Ended { lender, owes });
        false
    }
}
