//! The last two minutes by the second, and the last hour by the quarter of a minute.
//!
//! Invariant: memory is taken when a ring is made and never again.

use std::collections::VecDeque;

/// Seconds that are kept one by one.
pub(crate) const SECONDS: usize = 120;
/// Seconds in a turn.
pub(crate) const TURN: usize = 15;
/// Turns that are kept: an hour of them.
pub(crate) const TURNS: usize = 240;

/// Which of the two is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Span {
    Minutes,
    Hour,
}

impl Span {
    /// Seconds between two frames.
    pub(crate) fn step(self) -> usize {
        match self {
            Self::Minutes => 1,
            Self::Hour => TURN,
        }
    }

    /// How many frames there are at most.
    pub(crate) fn frames(self) -> usize {
        match self {
            Self::Minutes => SECONDS,
            Self::Hour => TURNS,
        }
    }
}

/// Frames of one thing, the oldest first.
#[derive(Debug)]
pub(crate) struct Ring<T> {
    seconds: VecDeque<T>,
    turns: VecDeque<T>,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self { seconds: VecDeque::with_capacity(SECONDS), turns: VecDeque::with_capacity(TURNS) }
    }

    pub(crate) fn push_second(&mut self, frame: T) {
        push(&mut self.seconds, frame, SECONDS);
    }

    pub(crate) fn push_turn(&mut self, frame: T) {
        push(&mut self.turns, frame, TURNS);
    }

    pub(crate) fn frames(&self, span: Span) -> &VecDeque<T> {
        match span {
            Span::Minutes => &self.seconds,
            Span::Hour => &self.turns,
        }
    }

    /// The last so many seconds, or as many as there are.
    pub(crate) fn last(&self, seconds: usize) -> impl Iterator<Item = &T> {
        self.seconds.iter().skip(self.seconds.len().saturating_sub(seconds))
    }
}

fn push<T>(frames: &mut VecDeque<T>, frame: T, most: usize) {
    if frames.len() == most {
        frames.pop_front();
    }
    frames.push_back(frame);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_and_no_memory_is_added() {
        let mut ring = Ring::new();
        let room = (ring.seconds.capacity(), ring.turns.capacity());
        for frame in 0..1_000 {
            ring.push_second(frame);
            ring.push_turn(frame);
        }
        assert_eq!((ring.seconds.capacity(), ring.turns.capacity()), room);
        assert_eq!(ring.frames(Span::Minutes).iter().copied().collect::<Vec<_>>(), (880..1_000).collect::<Vec<_>>());
        assert_eq!((ring.frames(Span::Hour).len(), ring.frames(Span::Hour)[0]), (240, 760));
        assert_eq!(ring.last(3).copied().collect::<Vec<_>>(), [997, 998, 999]);
    }
}
