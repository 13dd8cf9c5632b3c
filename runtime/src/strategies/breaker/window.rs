//! The results that are judged together: the last so many, or those of the last so many seconds. Pure: handed the time
//! and the number of quick successes, which are counted elsewhere.
//!
//! Only faults (failures and slow attempts) are kept here; they come in under the lock, one by one.
//!
//! **By number.** A fault knows its place in the sequence of all results, so the faults of the last `n` results are those
//! whose place is among the last `n`, exactly.
//!
//! **By time.** The window is cut into ten parts, and the faults of each are counted in a ring, each place marked with the
//! part it holds: recording and summing cost the same however many results there are. The part under way counts as far
//! as it has gone, so what is judged is between nine tenths of the length and all of it. A ring that kept every result
//! would be exact, and as large as the traffic.
//!
//! Invariants: a result that has left the window counts for nothing; memory depends on the window alone, by time not even
//! on that.

use std::collections::VecDeque;

use super::change::Seen;
use super::config::Window;
use crate::base::clock::Moment;

/// The parts of a time window.
pub(super) const PARTS: i64 = 10;
/// Places in a ring: more than there are parts, so that a place being written anew is not one that still counts.
pub(super) const PLACES: usize = 12;
const PLACES_SIGNED: i64 = 12;

/// A result that is not a quick success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) failed: bool,
    pub(crate) slow: bool,
}

/// The place in a ring of a part of time.
#[inline]
pub(super) fn place(part: i64) -> usize {
    usize::try_from(part.rem_euclid(PLACES_SIGNED)).unwrap_or(0)
}

/// Which part of time a moment lies in; `length` is that of a part.
#[inline]
pub(super) fn part(now: Moment, length: u64) -> i64 {
    now.to_raw().div_euclid(i64::try_from(length.max(1)).unwrap_or(i64::MAX))
}

/// The parts that a window ending in this one is made of.
pub(super) fn parts(last: i64) -> std::ops::RangeInclusive<i64> {
    last.saturating_sub(PARTS - 1)..=last
}

impl Window {
    /// The length of a part, in nanoseconds; 0 where there are none.
    pub(super) fn part_length(self) -> u64 {
        match self {
            Self::Calls(_) => 0,
            Self::Time(nanos) => (nanos / PARTS.unsigned_abs()).max(1),
        }
    }
}

/// The faults of one generation that may still count.
#[derive(Debug)]
pub(super) enum Faults {
    ByNumber { places: VecDeque<(u64, Fault)>, recorded: u64, failures: u64, slow: u64 },
    ByTime { ring: Box<[Part; PLACES]>, length: u64 },
}

/// The faults of one part of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    at: i64,
    faults: u64,
    failures: u64,
    slow: u64,
}

impl Faults {
    pub(super) fn new(window: Window) -> Self {
        match window {
            Window::Calls(_) => Self::ByNumber { places: VecDeque::new(), recorded: 0, failures: 0, slow: 0 },
            Window::Time(_) => {
                Self::ByTime { ring: Box::new([Part::empty(i64::MIN); PLACES]), length: window.part_length() }
            }
        }
    }

    /// Takes in a fault that came after `successes` quick successes.
    pub(super) fn record(&mut self, fault: Fault, successes: u64, now: Moment) {
        match self {
            Self::ByNumber { places, recorded, failures, slow } => {
                *recorded += 1;
                *failures += u64::from(fault.failed);
                *slow += u64::from(fault.slow);
                places.push_back((successes + *recorded, fault));
            }
            Self::ByTime { ring, length } => {
                let at = part(now, *length);
                let part = &mut ring[place(at)];
                if part.at != at {
                    *part = Part::empty(at);
                }
                part.faults += 1;
                part.failures += u64::from(fault.failed);
                part.slow += u64::from(fault.slow);
            }
        }
    }

    /// What the window holds now. `successes`: by number all of this generation, by time those of the window.
    pub(super) fn seen(&mut self, window: Window, successes: u64, now: Moment) -> Seen {
        match self {
            Self::ByNumber { places, recorded, failures, slow } => {
                let results = successes + *recorded;
                let holds = if let Window::Calls(calls) = window { u64::from(calls) } else { u64::MAX };
                let before = results.saturating_sub(holds);
                while let Some((_, fault)) = places.front().filter(|(place, _)| *place <= before) {
                    *failures -= u64::from(fault.failed);
                    *slow -= u64::from(fault.slow);
                    places.pop_front();
                }
                Seen { calls: results - before, failures: *failures, slow: *slow }
            }
            Self::ByTime { ring, length } => {
                let window = parts(part(now, *length));
                let mut seen = Seen { calls: successes, ..Seen::default() };
                for part in ring.iter().filter(|part| window.contains(&part.at)) {
                    seen.calls += part.faults;
                    seen.failures += part.failures;
                    seen.slow += part.slow;
                }
                seen
            }
        }
    }

    /// When results begin to leave the window without a new one coming in: by time alone.
    pub(super) fn next_leaving(&self, now: Moment) -> Moment {
        match self {
            Self::ByNumber { .. } => Moment::NEVER,
            Self::ByTime { length, .. } => {
                let length = i64::try_from(*length).unwrap_or(i64::MAX);
                Moment::from_raw(now.to_raw().div_euclid(length).saturating_add(1).saturating_mul(length))
            }
        }
    }
}

impl Part {
    const fn empty(at: i64) -> Self {
        Self { at, faults: 0, failures: 0, slow: 0 }
    }
}
