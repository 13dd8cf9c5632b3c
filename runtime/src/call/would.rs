//! What strategies that only observe would have done.
//!
//! These figures stand beside the fates and never in them: a call that would have been refused ran, and its fate is what
//! became of it. They are kept apart from the other figures of a lane, since most functions never need them.
//!
//! Invariant: an attempt is counted as refused or cut off at most once, since in a world where the strategies are enforced
//! it would have ended there.

use std::sync::OnceLock;

use super::fate::Refusal;
use crate::base::lane::{Count, Lane};

/// What would have cut an attempt off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cut {
    /// Its timeout.
    Timeout,
    /// The deadline: the function's own, or the one around it.
    Deadline,
}

impl Cut {
    /// Every cause.
    pub const ALL: [Self; 2] = [Self::Timeout, Self::Deadline];

    /// The word used in figures and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Deadline => "deadline",
        }
    }
}

/// One thread's cells of one site; nothing is allocated before the first of them is needed.
pub(super) struct Would(OnceLock<Box<Cells>>);

struct Cells {
    refuse: [Count; Refusal::ALL.len()],
    cut: [Count; Cut::ALL.len()],
    queue: Count,
    retry: Count,
}

impl Would {
    pub(super) const fn new() -> Self {
        Self(OnceLock::new())
    }

    fn cells(&self) -> &Cells {
        self.0.get_or_init(|| {
            Box::new(Cells {
                refuse: [const { Count::new() }; Refusal::ALL.len()],
                cut: [const { Count::new() }; Cut::ALL.len()],
                queue: Count::new(),
                retry: Count::new(),
            })
        })
    }

    pub(super) fn refuse(&self, lane: Lane, reason: Refusal) {
        self.cells().refuse[reason as usize].add(lane, 1);
    }

    pub(super) fn cut(&self, lane: Lane, cause: Cut) {
        self.cells().cut[cause as usize].add(lane, 1);
    }

    pub(super) fn queue(&self, lane: Lane) {
        self.cells().queue.add(lane, 1);
    }

    pub(super) fn retry(&self, lane: Lane) {
        self.cells().retry.add(lane, 1);
    }

    pub(super) fn add_to(&self, all: &mut WouldFigures) {
        let Some(cells) = self.0.get() else { return };
        all.refuse.iter_mut().zip(&cells.refuse).for_each(|(total, cell)| *total += cell.get());
        all.cut.iter_mut().zip(&cells.cut).for_each(|(total, cell)| *total += cell.get());
        all.queue += cells.queue.get();
        all.retry += cells.retry.get();
    }
}

/// What would have been done, as plain numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct WouldFigures {
    pub(crate) refuse: [u64; Refusal::ALL.len()],
    pub(crate) cut: [u64; Cut::ALL.len()],
    pub(crate) queue: u64,
    pub(crate) retry: u64,
}
