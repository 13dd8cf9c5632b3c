//! How many calls a fallback answers for at once.
//!
//! A fallback that asks another service is asked by as many callers at once as fail at once, and that is most of them on
//! the day it is needed. Its own bulkhead would bound it, and a line in that bulkhead would be one more thing to wait for in
//! a call that has failed already. So there is a number and no queue: beyond it the caller gets the failure that there is.
//!
//! Invariants: never more than the limit are inside; who is inside leaves in Drop, and nowhere else.

use crate::base::sync::{AtomicU32, Ordering};

/// A site's places for calls that its fallback answers for.
#[derive(Debug)]
pub(crate) struct Cap {
    most: u32,
    inside: AtomicU32,
}

/// A place.
#[derive(Debug)]
pub(crate) struct Inside(&'static Cap);

impl Cap {
    pub(crate) fn new(most: u32) -> Self {
        Self { most, inside: AtomicU32::new(0) }
    }

    /// A place, if there is one. What is counted is all that is exchanged, so nothing has to be ordered by it.
    pub(crate) fn enter(&'static self) -> Option<Inside> {
        let one_more = |inside| (inside < self.most).then_some(inside + 1);
        // Made only when it is there, since what is dropped gives a place back.
        self.inside.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok().map(|_| Inside(self))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_places_as_said_and_each_is_given_back() {
        let cap = Box::leak(Box::new(Cap::new(2)));
        let (first, second) = (cap.enter(), cap.enter());
        assert!(first.is_some() && second.is_some() && cap.enter().is_none());
        drop(first);
        let third = cap.enter();
        assert!(third.is_some() && cap.enter().is_none());
        drop((second, third));
        assert_eq!(cap.inside.load(Ordering::Relaxed), 0);
    }
}
