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
