//! What is taken from a bulkhead, each given back in its Drop and nowhere else.

use std::task::{Context, Poll};

use super::home::Home;
#[cfg(feature = "futures")]
use super::keep;
use super::queue::Ticket;
use crate::call::context::{Ambient, Holding};

/// The right to run one body.
#[derive(Debug)]
pub(crate) struct Slot {
    home: Home,
    /// The number by which the ambient context knows the compartment.
    id: u32,
}

impl Slot {
    #[inline]
    pub(super) fn of(home: Home, id: u32) -> Self {
        Self { home, id }
    }
}

impl Drop for Slot {
    #[inline]
    fn drop(&mut self) {
        self.home.release();
    }
}

/// A place in the queue; becomes a slot, or leaves the queue.
#[derive(Debug)]
pub(crate) struct Waiting {
    home: Home,
    ticket: Ticket,
    id: u32,
    over: bool,
}

impl Waiting {
    #[inline]
    pub(super) fn of(home: Home, id: u32, ticket: Ticket) -> Self {
        Self { home, ticket, id, over: false }
    }

    /// Ready with the slot once it has been handed over.
    pub(crate) fn poll_slot(&mut self, cx: &Context<'_>) -> Poll<Slot> {
        if self.home.poll_ticket(self.ticket, cx.waker()) {
            self.over = true;
            return Poll::Ready(Slot::of(self.home, self.id));
        }
        Poll::Pending
    }

    /// Gives up waiting. The slot may have been handed over in this very moment: then here it is.
    pub(crate) fn give_up(mut self) -> Option<Slot> {
        self.over = true;
        (!self.home.leave_line(self.ticket)).then(|| Slot::of(self.home, self.id))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        // Not in line any more means granted and never looked at: the slot passes on.
        if !self.over && !self.home.leave_line(self.ticket) {
            self.home.release();
        }
    }
}

/// A slot in use by one call: its own, or one borrowed from the call around it, and perhaps lent on.
#[derive(Debug)]
pub(crate) struct Held {
    home: Home,
    call: u64,
    lender: Option<u64>,
    pub(crate) holding: Holding,
}

impl Held {
    /// A slot of the call's own.
    #[inline]
    pub(crate) fn own(slot: Slot, call: u64) -> Self {
        let (home, id) = (slot.home, slot.id);
        // From here on this guard gives it back: it alone knows whether the slot is out on loan.
        std::mem::forget(slot);
        Self { home, call, lender: None, holding: Holding::of(id) }
    }

    /// The slot of the call around this one, if that holds one of this bulkhead and has not lent it yet.
    #[inline]
    pub(crate) fn borrow(home: Home, id: u32, call: u64) -> Option<Self> {
        let lender = Ambient::borrow(id)?;
        Some(Self { home, call, lender: Some(lender), holding: Holding::of(id) })
    }

    #[inline]
    pub(crate) fn is_borrowed(&self) -> bool {
        self.lender.is_some()
    }
}

impl Held {
    /// Leaves a slot that is out on loan to whoever has it, if they have not ended.
    fn is_left(&self) -> bool {
        let tag = self.holding.tag(self.call);
        #[cfg(feature = "futures")]
        {
            let loan = (self.holding.bulkhead(), tag);
            let (home, call, lender) = (self.home, self.call, self.lender);
            match keep::leave(loan, home, || Self { home, call, lender, holding: Holding::of(loan.0) }) {
                keep::Found::Running => return true,
                keep::Found::Ended => return false,
                keep::Found::Nobody => {}
            }
        }
        !self.home.lender_ended(tag, self.lender)
    }
}

impl Drop for Held {
    #[inline]
    fn drop(&mut self) {
        // Lent on and not repaid: the borrower was moved away. Unless it has ended there, the slot is left to it.
        if self.holding.is_lent() && self.is_left() {
            return;
        }
        match self.lender {
            None => self.home.release(),
            Some(lender) => {
                if !Ambient::repay(self.holding.bulkhead(), lender) {
                    self.home.repay_away(self.holding.bulkhead(), lender);
                }
            }
        }
    }
}
