//! # Counting a place that calls pass through
//!
//! Success rates say what visitors felt; they do not say who was hurt. For that somebody has to stand at the door and
//! count: how many came in, how many were inside at once, how many left without an answer. The vendor counts itself
//! this way, and so does the body of the recommendations call, because the two differ: a vendor learns that it was
//! abandoned only when the closed socket reaches it, a moment after our side has moved on.
//!
//! Invariants:
//! * who entered has left when its [`Visit`] is dropped, whatever dropped it: an answer, a timeout, a closed socket;
//! * only [`Visit::answered`] makes a visit an answered one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A door with a counter.
#[derive(Debug, Default)]
pub struct Meter {
    entered: AtomicU64,
    inside: AtomicU64,
    peak: AtomicU64,
    unanswered: AtomicU64,
}

/// Someone inside.
#[derive(Debug)]
pub struct Visit {
    meter: Arc<Meter>,
    answered: bool,
}

/// What a [`Meter`] says at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ever came in.
    pub entered: u64,
    /// Inside now.
    pub inside: u64,
    /// Most ever inside at once.
    pub peak: u64,
    /// Left without an answer.
    pub unanswered: u64,
}

impl Meter {
    /// Lets one in.
    pub fn enter(self: &Arc<Self>) -> Visit {
        self.entered.fetch_add(1, Relaxed);
        let inside = self.inside.fetch_add(1, Relaxed) + 1;
        self.peak.fetch_max(inside, Relaxed);
        Visit { meter: Arc::clone(self), answered: false }
    }

    /// The counts now.
    pub fn counts(&self) -> Counts {
        Counts {
            entered: self.entered.load(Relaxed),
            inside: self.inside.load(Relaxed),
            peak: self.peak.load(Relaxed),
            unanswered: self.unanswered.load(Relaxed),
        }
    }
}

impl Visit {
    /// Leaves with an answer.
    pub fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.meter.inside.fetch_sub(1, Relaxed);
        if !self.answered {
            self.meter.unanswered.fetch_add(1, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Meter};
    use std::sync::Arc;

    #[test]
    fn leaving_is_counted_however_it_happens() {
        let meter = Arc::new(Meter::default());
        let (first, second) = (meter.enter(), meter.enter());
        first.answered();
        drop(second);
        meter.enter().answered();
        assert_eq!(meter.counts(), Counts { entered: 3, inside: 0, peak: 2, unanswered: 1 });
    }
}
