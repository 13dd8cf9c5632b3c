//! The last minutes apart from those before them, to be held against each other.
//!
//! An hour in which a dependency slowed down ten minutes ago is two hours in one, and a timeout chosen from it serves neither.
//! Readings are kept by the quarter of an hour, so the younger part is from ten minutes to twenty-five long, and says which.
//!
//! Invariants: the two parts share nothing and together are all that is kept; the younger one is never shorter than
//! [`YOUNG`].

use super::{QUARTERS, SiteHistory, TURN, TURNS_A_QUARTER};
use crate::base::lengths::Lengths;

/// The younger part is at least so long, in seconds.
const YOUNG: u64 = 600;
/// Seconds between two readings that are kept.
const QUARTER: u64 = TURN as u64 * TURNS_A_QUARTER;

/// Lengths of attempts, and over how many seconds.
#[derive(Debug)]
pub(crate) struct Period {
    pub(crate) seconds: u64,
    pub(crate) lengths: Lengths,
}

impl SiteHistory {
    /// The younger and the older part of what is kept, so many seconds after the first reading; nothing as long as there is but
    /// one.
    pub(crate) fn periods(&self, seconds: u64) -> Option<[Period; 2]> {
        let ages = self.quarters.iter().rev().zip(0_u64..).map(|(marks, at)| (marks, seconds % QUARTER + at * QUARTER));
        let (between, young) = ages.into_iter().find(|(_, age)| *age >= YOUNG)?;
        // Before the dashboard came, too, if it has not been there for an hour.
        let oldest = self.quarters.front().filter(|_| self.quarters.len() == QUARTERS);
        let before = oldest.map_or_else(|| between.clone(), |oldest| between.since(oldest));
        let all = if oldest.is_some() { seconds % QUARTER + (QUARTERS as u64 - 1) * QUARTER } else { seconds };
        let period = |seconds, lengths| Period { seconds, lengths };
        Some([period(young, self.total.since(between).lengths), period(all.saturating_sub(young), before.lengths)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::marks::Marks;
    use super::*;

    fn marks(completed: u64) -> Marks {
        let mut marks = Marks::default();
        for _ in 0..completed {
            marks.lengths.completed.record(1_000_000);
        }
        marks
    }

    fn counts(site: &SiteHistory, seconds: u64) -> Option<[(u64, u64); 2]> {
        site.periods(seconds).map(|all| all.map(|it| (it.seconds, it.lengths.count())))
    }

    #[test]
    fn the_last_ten_minutes_and_more_are_apart_from_what_was_before() {
        let mut site = SiteHistory::new();
        site.take(marks(5), true, false);
        assert_eq!(counts(&site, 600), None, "there is but one part");
        site.take(marks(10), true, true);
        site.take(marks(13), true, false);
        assert_eq!(counts(&site, 900 + 599), None);
        assert_eq!(counts(&site, 900 + 600), Some([(600, 3), (900, 10)]));
        for (quarter, total) in [(2, 20), (3, 40), (4, 80), (5, 160)] {
            site.take(marks(total), true, true);
            let [young, _] = counts(&site, quarter * 900).expect("two parts");
            assert_eq!(young.0, 900, "the newest reading is younger than ten minutes, so the one before it counts");
        }
        site.take(marks(200), true, false);
        assert_eq!(
            counts(&site, 5 * 900 + 30),
            Some([(930, 200 - 80), (1_800, 80 - 20)]),
            "and nothing older than the hour"
        );
    }
}
