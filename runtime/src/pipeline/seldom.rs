//! What few calls have: a retry to pay for, a wait for a token, a course under observation.
//!
//! Every field of a [`super::Call`] is written when a call begins and looked at when it ends, by all the calls that never
//! use it too. So whatever only a failing, throttled, hedged or observed call needs lives behind one pointer, and is
//! allocated by the first that asks for any of it. Calls that succeed at once and calls that are refused never do.
//!
//! Invariant: reading allocates nothing.

use super::observe::Course;
use super::throttle::Throttled;
use crate::call::BoxError;
use crate::strategies::retry::Ticket;
use crate::strategies::tail::body::Released;

/// One pointer, mostly to nothing.
#[derive(Default)]
pub(super) struct Seldom(Option<Box<More>>);

/// The rest of a call.
#[derive(Default)]
pub(super) struct More {
    /// A wait for a token, or a token while the slot is waited for.
    pub(super) throttled: Option<Throttled>,
    /// What the next attempt has been paid with.
    pub(super) ticket: Option<Ticket>,
    /// The pause made last, in nanoseconds.
    pub(super) last_pause: u64,
    /// The error of the attempt before.
    pub(super) last_error: Option<BoxError>,
    /// Second attempts of the attempts before this one.
    pub(super) hedges: u32,
    /// The number of its key, where the most recent success of each key is kept.
    pub(super) key: u128,
    /// How far it has come where its observing strategies are enforced.
    pub(super) observed: Option<Course>,
    /// A body that has left at its limit, until it has a task of its own.
    pub(super) released: Option<Released>,
}

impl Drop for Seldom {
    // The glue of a box is a call of its own, made for all the calls without one as well.
    #[inline]
    fn drop(&mut self) {
        if let Some(more) = self.0.take() {
            discard(more);
        }
    }
}

#[cold]
fn discard(more: Box<More>) {
    drop(more);
}

impl Seldom {
    /// What there is already.
    #[inline]
    pub(super) fn look(&self) -> Option<&More> {
        self.0.as_deref()
    }

    /// A place for what there was none for.
    #[cold]
    pub(super) fn more(&mut self) -> &mut More {
        self.0.get_or_insert_default()
    }

    #[inline]
    pub(super) fn observed(&mut self) -> Option<&mut Course> {
        self.0.as_mut()?.observed.as_mut()
    }

    #[inline]
    pub(super) fn throttled(&mut self) -> Option<&mut Throttled> {
        self.0.as_mut()?.throttled.as_mut()
    }

    #[inline]
    pub(super) fn take_throttled(&mut self) -> Option<Throttled> {
        self.0.as_mut()?.throttled.take()
    }

    #[inline]
    pub(super) fn take_ticket(&mut self) -> Option<Ticket> {
        self.0.as_mut()?.ticket.take()
    }

    #[inline]
    pub(super) fn take_released(&mut self) -> Option<Released> {
        self.0.as_mut()?.released.take()
    }

    #[inline]
    pub(super) fn take_last_error(&mut self) -> Option<BoxError> {
        self.0.as_mut()?.last_error.take()
    }
}
