//! How long things took when some of them were cut short, and what of that is recent.
//!
//! Whoever decides by how long a function takes meets the same trap: the attempts that would teach most are the ones that
//! were dropped, by a timeout, a deadline or because another answered first. Left out, the estimate sees only the quick
//! ones, cuts earlier, and sees still fewer. An attempt dropped after 140 ms did not take 140 ms, but it did take more. The
//! product-limit estimator (Kaplan and Meier, 1958) uses both: walking up the bands, the share still running shrinks by
//! those that completed among those that were still being watched.
//!
//! What was true before a dependency slowed down must not go on deciding, so figures that only grow are read against an
//! earlier reading ([`Recent`]): of the last few seconds, or as many seconds as it takes for enough to be known.
//!
//! Invariants: shares never grow along the bands; a quantile that nobody was seen to reach is `None` and never a guess;
//! what [`Recent`] gives is never older than twice its longest turn.

use super::clock::Moment;
use super::histogram::{BUCKETS, Bands, lower_bound, upper_bound};

/// Lengths of what completed, and how long the others had run when they were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    pub(crate) completed: Bands,
    pub(crate) cut_off: Bands,
}

/// One band, and the share still running before and after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passed {
    pub(crate) band: usize,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

impl Lengths {
    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.completed.count() + self.cut_off.count()
    }

    /// The bands from the shortest on, as long as anything is watched.
    pub(crate) fn survival(&self) -> impl Iterator<Item = Passed> + '_ {
        let mut watched = self.count();
        let mut running = 1.0;
        (0..BUCKETS).map_while(move |band| {
            if watched == 0 {
                return None;
            }
            let (done, cut) = (self.completed.in_band(band), self.cut_off.in_band(band));
            let before = running;
            running *= 1.0 - done as f64 / watched as f64;
            watched -= done + cut;
            Some(Passed { band, before, after: running })
        })
    }

    /// The length in nanoseconds within which this share of all would have completed, at the upper end of its band;
    /// `None` when fewer were seen to.
    pub(crate) fn quantile(&self, share: f64) -> Option<u64> {
        // A hair's breadth: 1 - 0.95 is not quite 0.05.
        let passed = self.survival().find(|passed| passed.after <= 1.0 - share + 1e-9)?;
        Some(upper_bound(passed.band).unwrap_or_else(|| lower_bound(passed.band)))
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self { completed: self.completed.since(&earlier.completed), cut_off: self.cut_off.since(&earlier.cut_off) }
    }
}

/// Two earlier readings of figures that only grow: what came since the older one is recent.
#[derive(Debug)]
pub(crate) struct Recent {
    turn: u64,
    longest: u64,
    enough: u64,
    bases: Option<Bases>,
}

#[derive(Debug)]
struct Bases {
    older: Lengths,
    newer: Lengths,
    turned: Moment,
}

impl Recent {
    /// Turns every `turn` nanoseconds, later if fewer than `enough` came in since, and forgets everything when they have
    /// not come in `longest`.
    pub(crate) const fn new(turn: u64, longest: u64, enough: u64) -> Self {
        Self { turn, longest, enough, bases: None }
    }

    /// What of `all` is recent.
    pub(crate) fn of(&mut self, now: Moment, all: &Lengths) -> Lengths {
        let kept =
            self.bases.get_or_insert_with(|| Bases { older: Lengths::default(), newer: all.clone(), turned: now });
        let since = now.since(kept.turned);
        let is_over = since >= self.longest;
        if is_over || (since >= self.turn && all.since(&kept.newer).count() >= self.enough) {
            // After so long both are old: nothing before now is recent.
            let newer = std::mem::replace(&mut kept.newer, all.clone());
            kept.older = if is_over { all.clone() } else { newer };
            kept.turned = now;
        }
        all.since(&kept.older)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::histogram::Histogram;
    use crate::base::lane::Lane;

    const MS: u64 = 1_000_000;
    const SECOND: u64 = 1_000 * MS;

    fn bands(of: impl IntoIterator<Item = u64>) -> Bands {
        let histogram = Histogram::boxed();
        of.into_iter().for_each(|nanos| histogram.record(Lane::here(), nanos));
        let mut bands = Bands::default();
        histogram.add_to(&mut bands);
        bands
    }

    fn lengths(completed: impl IntoIterator<Item = u64>, cut_off: impl IntoIterator<Item = u64>) -> Lengths {
        Lengths { completed: bands(completed), cut_off: bands(cut_off) }
    }

    proptest! {
        #[test]
        fn without_any_cut_off_it_is_the_plain_quantile(mut values in prop::collection::vec(2_000u64..60_000_000_000, 1..200), share in 0.01f64..0.99) {
            let read = lengths(values.iter().copied(), []).quantile(share).expect("all completed");
            values.sort_unstable();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let rank = ((share * values.len() as f64 - 1e-6).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1];
            prop_assert!(read > truth && read as f64 <= truth as f64 * 1.063 + 1.0, "{read} for {truth}");
        }

        #[test]
        fn shares_never_grow(completed in prop::collection::vec(0u64..SECOND, 0..100), cut in prop::collection::vec(0u64..SECOND, 0..100)) {
            let all = lengths(completed, cut);
            let mut last = 1.0;
            for passed in all.survival() {
                prop_assert!(passed.before.to_bits() == f64::to_bits(last) && passed.after <= passed.before);
                last = passed.after;
            }
            prop_assert!(last >= 0.0);
        }
    }

    #[test]
    fn those_cut_off_keep_the_tail_where_it_is() {
        // A tenth takes 400 ms and is dropped at 60 ms each time: of the completed alone, the 95th would be 10 ms.
        let seen = lengths(vec![10 * MS; 900], vec![60 * MS; 100]);
        assert_eq!(seen.quantile(0.95), None, "nobody was seen to take that long and complete");
        let ninth = seen.quantile(0.9).expect("nine tenths completed");
        assert!((10 * MS..11 * MS).contains(&ninth), "{ninth}");
        assert_eq!(Lengths::default().quantile(0.5), None);
    }

    #[test]
    fn few_are_watched_for_longer_and_many_soon_replace_what_was_there() {
        let mut recent = Recent::new(5 * SECOND, 300 * SECOND, 100);
        let at = |seconds: u64| Moment::from_raw(0).plus(seconds * SECOND);
        let slow = |n: usize| vec![100 * MS; n];
        assert_eq!(recent.of(at(0), &lengths(slow(50), [])).count(), 50);
        // Too few have come in to turn, so everything still counts.
        assert_eq!(recent.of(at(60), &lengths(slow(120), [])).count(), 120);
        // Now there are enough: what was before the last turn goes at the next.
        assert_eq!(recent.of(at(70), &lengths(slow(160), [])).count(), 160 - 50);
        let both = |quick: usize| lengths(slow(160).into_iter().chain(vec![MS; quick]), []);
        recent.of(at(80), &both(200));
        assert_eq!(recent.of(at(90), &both(400)).completed.in_band(super::super::histogram::index(100 * MS)), 0);
        assert_eq!(recent.of(at(500), &both(400)).count(), 0, "nothing is recent after a long silence");
    }
}
