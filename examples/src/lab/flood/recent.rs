//! # The last seconds
//!
//! Totals since the beginning look well long after everything has stopped. What is going on is told by the last five seconds,
//! and how it came to that by the last minute.
//!
//! Stalled is a claim about those seconds: somebody came, and fewer than a quarter of those who came were served. It says
//! nothing about why, so a dependency in a room of its own and one that found the common room full are told by the same rule.
//!
//! Invariants:
//! * a minute is kept, and no more.

use std::collections::VecDeque;
use std::time::Duration;

use super::room::Ended;
use super::stage::SAMPLE;

/// How many readings are the last five seconds.
const WINDOW: usize = 20;
/// How many readings are kept: the last minute.
const KEPT: usize = 240;
/// So few calls say nothing.
const FEW: u64 = 3;

/// How long the window is.
pub fn window() -> Duration {
    SAMPLE * u32::try_from(WINDOW).unwrap_or(u32::MAX)
}

/// The readings of the last minute.
#[derive(Debug, Default)]
pub struct Recent(VecDeque<(Duration, Ended)>);

impl Ended {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            came: self.came + other.came,
            served: self.served + other.served,
            refused: self.refused + other.refused,
            failed: self.failed + other.failed,
        }
    }

    /// The part of it since an earlier reading.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            came: self.came - before.came,
            served: self.served - before.served,
            refused: self.refused - before.refused,
            failed: self.failed - before.failed,
        }
    }
}

impl Recent {
    /// One more reading.
    pub fn take(&mut self, at: Duration, counts: Ended) {
        self.0.push_back((at, counts));
        if self.0.len() > KEPT + 1 {
            self.0.pop_front();
        }
    }

    /// Within the last five seconds, as of the last reading.
    pub fn window(&self) -> Ended {
        let (Some((_, last)), Some((_, then))) = (self.0.back(), self.0.get(self.0.len().saturating_sub(WINDOW + 1)))
        else {
            return Ended::default();
        };
        last.since(*then)
    }

    /// Whether hardly anybody is served who comes.
    pub fn is_stalled(&self) -> bool {
        let window = self.window();
        window.came >= FEW && window.served * 4 < window.came
    }

    /// Served a second, each over four readings, oldest first.
    pub fn rates(&self) -> Vec<f64> {
        let pairs = self.0.iter().zip(self.0.iter().skip(4));
        pairs
            .map(|((then, before), (now, after))| {
                let length = now.saturating_sub(*then).as_secs_f64().max(1e-3);
                // A tenth is as exact as such a short time allows.
                ((after.served - before.served) as f64 / length * 10.0).round() / 10.0
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(came: u64, served: u64) -> Ended {
        Ended { came, served, ..Ended::default() }
    }

    #[test]
    fn the_window_forgets_the_good_times_and_says_who_is_stalled() {
        let mut recent = Recent::default();
        assert!(!recent.is_stalled() && recent.rates().is_empty());
        for turn in 0..=20 {
            recent.take(SAMPLE * turn, ended(u64::from(turn), u64::from(turn)));
        }
        assert_eq!(recent.window(), ended(20, 20));
        assert_eq!(recent.rates().last(), Some(&4.0));
        for turn in 21..=40 {
            recent.take(SAMPLE * turn, ended(u64::from(turn), 22));
        }
        assert_eq!(recent.window(), ended(20, 2));
        assert!(recent.is_stalled());
        for turn in 41..=600 {
            recent.take(SAMPLE * turn, ended(40, 22));
        }
        assert!(!recent.is_stalled(), "nobody comes");
        assert_eq!(recent.rates().len(), KEPT - 3);
    }
}
