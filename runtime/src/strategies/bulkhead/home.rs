//! Whose slot it is: that of a bulkhead, or of one key's compartment in it.
//!
//! Slot, place in the queue and loan mean the same in both, so the guards ask for them here and know no difference.

use std::task::Waker;

use super::Bulkhead;
use super::keyed::Keyed;
use super::queue::{Line, Settled, Ticket};
use crate::base::table::Place;
use crate::call::context::Ambient;

/// A compartment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    Whole(&'static Bulkhead),
    Key(&'static Keyed, Place),
}

impl Home {
    #[inline]
    pub(super) fn release(self) {
        match self {
            Self::Whole(bulkhead) => bulkhead.release(),
            Self::Key(keyed, place) => keyed.release(place),
        }
    }

    /// Holds a key's compartment once more, so that it is not forgotten.
    #[cfg(feature = "futures")]
    pub(super) fn hold(self) {
        if let Self::Key(keyed, place) = self {
            keyed.hold_again(place);
        }
    }

    /// Holds it once less.
    #[cfg(feature = "futures")]
    pub(super) fn let_go(self) {
        if let Self::Key(keyed, place) = self {
            keyed.let_go(place);
        }
    }

    /// Looks at the line, under its lock.
    fn line<T>(self, look: impl FnOnce(&mut Line) -> T) -> Option<T> {
        match self {
            Self::Whole(bulkhead) => Some(look(&mut bulkhead.line.lock())),
            Self::Key(keyed, place) => keyed.line(place, look),
        }
    }

    /// Whether a waiter has been handed its slot; if not, `waker` replaces the one it left.
    pub(super) fn poll_ticket(self, ticket: Ticket, waker: &Waker) -> bool {
        let kept = self.line(|line| line.waker_of(ticket).map(|kept| kept.will_wake(waker))).flatten();
        match kept {
            None => return true,
            Some(true) => return false,
            Some(false) => {}
        }
        // Cloned and dropped outside of the lock: either may run the executor's code.
        let fresh = waker.clone();
        let replaced = self.line(|line| line.waker_of(ticket).map(|kept| std::mem::replace(kept, fresh))).flatten();
        replaced.is_none()
    }

    /// Takes a waiter out of the line. False when it has been handed its slot already.
    pub(super) fn leave_line(self, ticket: Ticket) -> bool {
        match self {
            Self::Whole(bulkhead) => bulkhead.leave_line(ticket),
            Self::Key(keyed, place) => keyed.leave_line(place, ticket),
        }
    }

    /// A borrower ends outside its lender's scope. Its lender may have ended too, and have owed the slot to another.
    pub(super) fn repay_away(self, id: u32, lender: u64) {
        let mut lender = lender;
        while let Some(settled) = self.line(|line| line.borrower_ended(lender)) {
            match settled {
                Settled::LenderRuns => return,
                Settled::GiveBack => return self.release(),
                Settled::RepayTo(next) if Ambient::repay(id, next) => return,
                Settled::RepayTo(next) => lender = next,
            }
        }
    }

    /// A lender ends while its slot is out on loan. True when the borrower has ended, so that the slot is its own again.
    pub(super) fn lender_ended(self, lender: u64, owes: Option<u64>) -> bool {
        self.line(|line| line.lender_ended(lender, owes)).unwrap_or(true)
    }
}
