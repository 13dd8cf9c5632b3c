//! Where an attempt stands in front of its compartment: nowhere, in the queue, or with a slot.
//!
//! One value, since an attempt has at most one of the two, and what a call carries is written whenever one begins.

use crate::base::clock::Moment;
use crate::strategies::bulkhead::{Held, Waiting};

/// What an attempt has of its compartment.
#[derive(Debug)]
pub(super) enum Standing {
    Nowhere,
    /// In the queue, since then.
    Waiting(Waiting, Moment),
    Held(Held),
}

impl Standing {
    #[inline]
    pub(super) fn held(&self) -> Option<&Held> {
        if let Self::Held(held) = self { Some(held) } else { None }
    }

    #[inline]
    pub(super) fn held_mut(&mut self) -> Option<&mut Held> {
        if let Self::Held(held) = self { Some(held) } else { None }
    }

    /// Lets go of the slot, if there is one, where it stands. True if there was.
    #[inline]
    pub(super) fn give_back(&mut self) -> bool {
        let had = matches!(self, Self::Held(_));
        if had {
            *self = Self::Nowhere;
        }
        had
    }

    /// Hands the slot on, if there is one.
    pub(super) fn take_held(&mut self) -> Option<Held> {
        match std::mem::replace(self, Self::Nowhere) {
            Self::Held(held) => Some(held),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Gives up the place in the queue, if there is one; since when it stood there comes with it.
    pub(super) fn leave_queue(&mut self) -> Option<(Waiting, Moment)> {
        match std::mem::replace(self, Self::Nowhere) {
            Self::Waiting(waiting, since) => Some((waiting, since)),
            other => {
                *self = other;
                None
            }
        }
    }
}
