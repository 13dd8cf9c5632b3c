//! What is taken from a bulkhead, each given back in its Drop and nowhere else.

use std::task::{Context, Poll};

use super::Bulkhead;
use super::queue::Ticket;
use crate::call::context::{Ambient, Holding, holder_tag};

/// The right to run one body.
#[derive(Debug)]
pub(crate) struct Slot {
    bulkhead: &'static Bulkhead,
}

impl Slot {
    #[inline]
    pub(super) fn of(bulkhead: &'static Bulkhead) -> Self {
        Self { bulkhead }
    }
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        self.bulkhead.release();
    }
}

/// A place in the queue; becomes a slot, or leaves the queue.
#[derive(Debug)]
pub(crate) struct Waiting {
    bulkhead: &'static Bulkhead,
    ticket: Ticket,
    over: bool,
}

impl Waiting {
    #[inline]
    pub(super) fn of(bulkhead: &'static Bulkhead, ticket: Ticket) -> Self {
        Self { bulkhead, ticket, over: false }
    }

    /// Ready with the slot once it has been handed over.
    pub(crate) fn poll_slot(&mut self, cx: &Context<'_>) -> Poll<Slot> {
        if self.bulkhead.poll_ticket(self.ticket, cx.waker()) {
            self.over = true;
            return Poll::Ready(Slot::of(self.bulkhead));
        }
        Poll::Pending
    }

    /// Gives up waiting. The slot may have been handed over in this very moment: then here it is.
    pub(crate) fn give_up(mut self) -> Option<Slot> {
        self.over = true;
        (!self.bulkhead.leave_line(self.ticket)).then(|| Slot::of(self.bulkhead))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Not in line any more means granted and never looked at: the slot passes on.
        if !self.over && !self.bulkhead.leave_line(self.ticket) {
            self.bulkhead.release();
        }
    }
}

/// A slot in use by one call: its own, or one borrowed from the call around it, and perhaps lent on.
#[derive(Debug)]
pub(crate) struct Held {
    bulkhead: &'static Bulkhead,
    call: u64,
    lender: Option<u64>,
    pub(crate) holding: Holding,
}

impl Held {
    /// A slot of the call's own.
    #[inline]
    pub(crate) fn own(slot: Slot, call: u64) -> Self {
        let bulkhead = slot.bulkhead;
        // From here on this guard gives it back: it alone knows whether the slot is out on loan.
        std::mem::forget(slot);
        Self { bulkhead, call, lender: None, holding: Holding::of(bulkhead.id()) }
    }

    /// The slot of the call around this one, if that holds one of this bulkhead and has not lent it yet.
    #[inline]
    pub(crate) fn borrow(bulkhead: &'static Bulkhead, call: u64) -> Option<Self> {
        let lender = Ambient::borrow(bulkhead.id())?;
        Some(Self { bulkhead, call, lender: Some(lender), holding: Holding::of(bulkhead.id()) })
    }

    #[inline]
    pub(crate) fn is_borrowed(&self) -> bool {
        self.lender.is_some()
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // Lent on and not repaid: the borrower was moved away. Unless it has ended there, the slot is left to it.
        if self.holding.is_lent() && !self.bulkhead.lender_ended(holder_tag(self.call), self.lender) {
            return;
        }
        match self.lender {
            None => self.bulkhead.release(),
            Some(lender) => {
                if !Ambient::repay(self.bulkhead.id(), lender) {
                    self.bulkhead.repay_away(lender);
                }
            }
        }
    }
}
