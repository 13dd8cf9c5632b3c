//! What became of attempts that were left running beyond their limit, to learn how long they would have taken.
//!
//! Such an attempt has been booked already, as cut off at its limit, and stays so: its caller had its answer then. What
//! stands here is what was seen of it later. For an estimate the two belong together, so of each attempt that was watched
//! to its end three things are kept at once: how long it had run when it was cut off, how long it was watched, and whether
//! it had answered by then. Whoever estimates takes the first away from what was cut off and puts the second in its place.
//!
//! **Only an answer is an end.** An error that comes back late is often an echo of the limit: a nested call that heeds
//! the deadline, a statement that the database was told to give up. Taken for an end, it would say that everything ends
//! soon after the limit. So an attempt that fails later counts as watched until then, and no more is known of it.
//!
//! One lock and no lanes: few attempts are cut off, few of these are watched, and none of it is on the path of a call.
//!
//! Invariants: memory is taken for sites that watch, and is fixed; what is begun is ended exactly once; those of
//! [`ObservedFigures::from`] are as many as those of the two other histograms together.

use std::sync::OnceLock;

use tokio::sync::{Notify, futures::Notified};

use crate::base::histogram::Bands;
use crate::base::sync::Mutex;

/// What became of an attempt that was to be left running beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObservedFate {
    /// It answered, and its length is known.
    Answered,
    /// It failed: it would have taken at least so long.
    Failed,
    /// It was dropped at the cap: it would have taken at least so long.
    Capped,
    /// It panicked; nobody but the panic hook was told.
    Panicked,
    /// It was dropped because the process stops, or its runtime.
    Stopped,
    /// It was not left running, since as many as may were running already.
    NoRoom,
}

impl ObservedFate {
    /// Every fate.
    pub const ALL: [Self; 6] =
        [Self::Answered, Self::Failed, Self::Capped, Self::Panicked, Self::Stopped, Self::NoRoom];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Capped => "capped",
            Self::Panicked => "panicked",
            Self::Stopped => "stopped",
            Self::NoRoom => "no_room",
        }
    }
}

/// What was seen of attempts that were left running beyond their limit.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ObservedFigures {
    /// How many run now, beside those that callers wait for, and without a slot.
    pub running: u32,
    /// How long those took that answered, from the start of the attempt.
    pub answered: Bands,
    /// How long the others were watched, from the start of the attempt; they would have taken longer.
    pub unanswered: Bands,
    /// How long all of these had run when they were cut off.
    pub from: Bands,
    pub(crate) fates: [u64; ObservedFate::ALL.len()],
}

impl ObservedFigures {
    /// Attempts that were to be left running, by what became of them.
    pub fn by(&self, fate: ObservedFate) -> u64 {
        self.fates[fate as usize]
    }

    /// How many were watched to their end, whatever it was.
    pub fn watched(&self) -> u64 {
        self.from.count()
    }

    /// Adds another function's figures to these.
    pub fn merge(&mut self, other: &Self) {
        self.running += other.running;
        self.answered.merge(&other.answered);
        self.unanswered.merge(&other.unanswered);
        self.from.merge(&other.from);
        self.fates.iter_mut().zip(other.fates).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// What was seen since an earlier reading of the same figures; how many run is that of now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut fates = self.fates;
        fates.iter_mut().zip(earlier.fates).for_each(|(now, then)| *now = now.saturating_sub(then));
        Self {
            running: self.running,
            answered: self.answered.since(&earlier.answered),
            unanswered: self.unanswered.since(&earlier.unanswered),
            from: self.from.since(&earlier.from),
            fates,
        }
    }
}

/// A site's figures of this kind; nothing but a place for them unless it watches.
pub(crate) struct Beyond(OnceLock<Box<Books>>);

struct Books {
    figures: Mutex<ObservedFigures>,
    stop: Notify,
}

impl Beyond {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn books(&self) -> &Books {
        self.0.get_or_init(|| {
            Box::new(Books { figures: Mutex::new(ObservedFigures::default()), stop: Notify::const_new() })
        })
    }

    /// Takes a place among so many; there may be none.
    pub(crate) fn begin(&self, most: u32) -> bool {
        let mut figures = self.books().figures.lock();
        let has_room = figures.running < most;
        if has_room {
            figures.running += 1;
        } else {
            figures.fates[ObservedFate::NoRoom as usize] += 1;
        }
        has_room
    }

    /// Gives the place back, and says what was seen: nanoseconds run at the cut, and in all.
    pub(crate) fn end(&self, fate: ObservedFate, from: u64, ran: u64) {
        let mut figures = self.books().figures.lock();
        figures.running = figures.running.saturating_sub(1);
        figures.fates[fate as usize] += 1;
        figures.from.record(from);
        let seen = if fate == ObservedFate::Answered { &mut figures.answered } else { &mut figures.unanswered };
        seen.record(ran);
    }

    /// Ready when those that run are to be dropped.
    pub(crate) fn stopped(&self) -> Notified<'_> {
        self.books().stop.notified()
    }

    /// Has all that run dropped, each by its own task.
    pub(crate) fn stop(&self) {
        if let Some(books) = self.0.get() {
            books.stop.notify_waiters();
        }
    }

    /// A plain copy; `None` where nothing was ever to be left running.
    pub(crate) fn read(&self) -> Option<ObservedFigures> {
        self.0.get().map(|books| books.figures.lock().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_what_is_seen_is_kept_with_where_it_was_cut() {
        let beyond = Beyond::new();
        beyond.stop();
        assert!(beyond.read().is_none(), "a site that watches nothing has no figures");
        assert!(beyond.begin(2) && beyond.begin(2) && !beyond.begin(2));
        beyond.end(ObservedFate::Answered, 300, 5_000_000);
        beyond.end(ObservedFate::Failed, 300, 7_000_000);
        assert!(beyond.begin(1), "both places are free again");
        let seen = beyond.read().expect("opened");
        assert_eq!((seen.running, seen.watched(), seen.by(ObservedFate::NoRoom)), (1, 2, 1));
        assert_eq!((seen.answered.count(), seen.unanswered.count()), (1, 1), "a failure is no answer");
        assert_eq!(seen.since(&seen).watched(), 0);
        let mut twice = seen.clone();
        twice.merge(&seen);
        assert_eq!((twice.running, twice.watched()), (2, 4));
    }
}
