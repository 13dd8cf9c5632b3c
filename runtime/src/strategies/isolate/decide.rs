//! What a caller and a thread agree on about one job, as one word. Pure but for the word itself: no time, no waiting.
//!
//! ```text
//!              begin              pause
//!   resting ─────────▶ running ─────────▶ resting
//!      │                  │  │
//!      │ the caller goes  │  └── the body has ended and is dropped ──▶ ended: the answer is the caller's
//!      ▼                  ▼ the caller goes
//!   cancelled          abandoned
//!   not polled again   dropped when its code comes back, if it ever does
//! ```
//!
//! Which of the two a job is that was told to stop must be known to both sides alike, or the gauge drifts: the caller
//! counts one in, the thread counts it out. So each step is one read-modify-write of the word, and what it found there
//! decides.
//!
//! Invariants: `leave` says running exactly when `end` says abandoned, now or later, or never if the code never comes
//! back; a job whose `begin` was refused, or that has ended before its caller went, is never abandoned.

use crate::base::sync::{AtomicU32, Ordering};

const RUNNING: u32 = 1;
const GONE: u32 = 2;
const ENDED: u32 = 4;

/// The word of one job.
#[derive(Debug)]
pub(super) struct Progress(AtomicU32);

/// What a caller that goes away leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Nothing: it has ended.
    Nothing,
    /// A body that rests at an await, or has not begun: it is dropped on its own thread, at once.
    Resting,
    /// Code that runs, and that nobody can stop.
    Running,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// The thread is about to poll. False when the caller has gone.
    pub(super) fn begin(&self) -> bool {
        self.0.fetch_or(RUNNING, Ordering::AcqRel) & GONE == 0
    }

    /// The body rests. False when its caller has gone while it ran: it was abandoned, and is still.
    pub(super) fn pause(&self) -> bool {
        // Left as running when it was abandoned, since dropping it is the user's code too.
        self.0.compare_exchange(RUNNING, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// A body that has run is dropped. True when its caller went before that, so that it was abandoned.
    pub(super) fn end(&self) -> bool {
        self.0.fetch_or(ENDED, Ordering::AcqRel) & GONE != 0
    }

    /// The caller goes away.
    pub(super) fn leave(&self) -> Left {
        match self.0.fetch_or(GONE, Ordering::AcqRel) {
            seen if seen & ENDED != 0 => Left::Nothing,
            seen if seen & RUNNING != 0 => Left::Running,
            _ => Left::Resting,
        }
    }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the thread does next, in its own order; the caller goes once, at any moment.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Side {
        Waiting,
        Polling,
        Done,
    }

    proptest! {
        /// A job as its two sides know it, step by step: three facts, against one word.
        #[test]
        fn both_sides_are_told_what_a_model_of_three_facts_says(
            steps in prop::collection::vec(0_u8..4, 1..30),
        ) {
            let (job, mut side, mut gone, mut abandoned) = (Progress::new(), Side::Waiting, false, 0_i32);
            for step in steps {
                match (step, side) {
                    (0 | 1, Side::Waiting) => {
                        prop_assert_eq!(job.begin(), !gone, "it is polled while somebody waits for it");
                        // Dropped without being polled when nobody does.
                        side = if gone { Side::Done } else { Side::Polling };
                    }
                    (0, Side::Polling) => {
                        let rests = job.pause();
                        prop_assert_eq!(rests, !gone);
                        side = if rests { Side::Waiting } else { Side::Polling };
                    }
                    (1 | 2, Side::Polling) => {
                        let was_abandoned = job.end();
                        prop_assert_eq!(was_abandoned, gone);
                        abandoned -= i32::from(was_abandoned);
                        side = Side::Done;
                    }
                    (3, _) if !gone => {
                        gone = true;
                        let ended = side == Side::Done;
                        let expected = if ended { Left::Nothing } else if side == Side::Polling { Left::Running } else { Left::Resting };
                        let left = job.leave();
                        prop_assert_eq!(left, expected);
                        abandoned += i32::from(left == Left::Running);
                    }
                    _ => {}
                }
                prop_assert!((0..=1).contains(&abandoned), "the gauge is one job's: {}", abandoned);
            }
            if side == Side::Polling {
                abandoned -= i32::from(job.end());
            }
            prop_assert_eq!(abandoned, 0, "counted out as it was counted in");
        }
    }
}
