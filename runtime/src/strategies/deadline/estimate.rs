//! What can be finished in how much time, from attempts of which some were cut off. Pure.
//!
//! Under overload the attempts that would teach most are the ones that never complete: everything that is started with
//! too little time left is cut off, and an estimate from completed attempts alone learns nothing from them, so it goes on
//! starting them. So both are used ([`Lengths::survival`]).
//!
//! Two limits are read from it. **Hopeless**: below it, practically nothing ever finished. **Worthwhile**: starting with
//! this much left yields, per slot-second spent, nearly as many answers as starting with plenty does. The first is a
//! reason to refuse in any case; the second only while others wait for the slot, since then refusing gives it to somebody
//! who can use it, and otherwise it would only lose a chance. (The yield of a limit `r` is the chance to finish by `r` over
//! the mean time spent until finished or cut off, the ratio that renewal theory maximises.)
//!
//! Invariants: too few attempts, or none that completed, give no limits; hopeless is never above worthwhile; both lie
//! within what was observed.

use crate::base::histogram::{BUCKETS, lower_bound, upper_bound};
use crate::base::lengths::{Lengths, Passed};

/// Below this many recent attempts nothing is known and nothing is doomed.
const SAMPLES: u64 = 30;
/// "Practically nothing": this share of attempts.
const PRACTICALLY_NOTHING: f64 = 0.01;
/// "Nearly as many": this share of the best yield.
const NEARLY: f64 = 0.9;

/// Limits in nanoseconds; 0 refuses nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Limits {
    pub(crate) hopeless: u64,
    pub(crate) worthwhile: u64,
}

/// Reads both limits from recent attempts: those that completed and those that were cut off.
pub(crate) fn estimate(recent: &Lengths) -> Limits {
    if recent.count() < SAMPLES || recent.completed.count() == 0 {
        return Limits::default();
    }
    let mut spent = 0.0;
    let mut hopeless = None;
    // The yield of every limit, at the upper end of each band.
    let mut yields = Vec::with_capacity(BUCKETS);
    for Passed { band, before, after } in recent.survival() {
        let low = lower_bound(band);
        let high = upper_bound(band).unwrap_or(low);
        spent += f64::midpoint(before, after) * (high - low) as f64;
        let finished = 1.0 - after;
        if hopeless.is_none() && finished >= PRACTICALLY_NOTHING {
            hopeless = Some(low);
        }
        if spent > 0.0 {
            yields.push((high, finished / spent));
        }
    }
    let best = yields.iter().map(|&(_, rate)| rate).fold(0.0, f64::max);
    let worthwhile = yields.iter().find(|&&(_, rate)| rate >= NEARLY * best).map_or(0, |&(high, _)| high);
    let hopeless = hopeless.unwrap_or(0);
    Limits { hopeless, worthwhile: worthwhile.max(hopeless) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::histogram::{Bands, Histogram};
    use crate::base::lane::Lane;

    const MS: u64 = 1_000_000;

    fn bands(of: impl IntoIterator<Item = u64>) -> Bands {
        let histogram = Histogram::boxed();
        of.into_iter().for_each(|nanos| histogram.record(Lane::here(), nanos));
        let mut bands = Bands::default();
        histogram.add_to(&mut bands);
        bands
    }

    fn limits(completed: Bands, cut_off: Bands) -> Limits {
        estimate(&Lengths { completed, cut_off })
    }

    fn about(limit: u64, truth: u64) -> bool {
        limit.abs_diff(truth) * 100 <= truth * 7
    }

    #[test]
    fn too_little_is_known_of_few_attempts_or_of_none_that_completed() {
        let few = bands(vec![100 * MS; 29]);
        assert_eq!(limits(few, Bands::default()), Limits::default());
        assert_eq!(limits(Bands::default(), bands(vec![300 * MS; 1_000])), Limits::default());
    }

    #[test]
    fn bodies_of_one_length_are_hopeless_below_it_and_worthwhile_from_it_on() {
        let limits = limits(bands(vec![150 * MS; 100]), Bands::default());
        assert!(about(limits.hopeless, 150 * MS) && limits.hopeless <= 150 * MS, "{limits:?}");
        assert!(about(limits.worthwhile, 150 * MS) && limits.worthwhile >= 150 * MS, "{limits:?}");
    }

    #[test]
    fn those_cut_off_teach_as_much_as_those_that_completed() {
        // Three that had the time, and a hundred started with anything up to 145 ms left.
        let limits = limits(bands(vec![150 * MS; 3]), bands((1..=100).map(|n| n * 145 * MS / 100)));
        assert!(about(limits.worthwhile, 150 * MS) && limits.worthwhile >= 150 * MS, "{limits:?}");
        assert!(about(limits.hopeless, 150 * MS), "{limits:?}");
    }

    #[test]
    fn evenly_spread_bodies_are_worthwhile_where_nearly_all_of_them_finish() {
        // Between 60 and 250 ms: by hand, 230 ms is where the yield comes within a tenth of the best.
        let limits = limits(bands((0..1_000).map(|n| (60 + n * 190 / 1_000) * MS)), Bands::default());
        assert!(about(limits.worthwhile, 230 * MS), "{limits:?}");
        assert!(about(limits.hopeless, 61 * MS), "{limits:?}");
    }

    #[test]
    fn a_rare_slow_mode_is_not_worth_waiting_for() {
        let bodies = (0..1_000).map(|n| if n % 33 == 0 { 900 * MS } else { 40 * MS });
        let limits = limits(bands(bodies), Bands::default());
        assert!(limits.worthwhile < 50 * MS, "{limits:?}");
    }
}
