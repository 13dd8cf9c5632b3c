//! How long things took, in fixed memory: a log-linear histogram.
//!
//! Each doubling from about a microsecond to about two minutes is cut into sixteen equal parts, so a bucket is at most
//! 1/16 of its lower bound wide and a percentile read from it is off by at most 6.25 % (half of that when read at the
//! middle). The scheme is that of HDR histograms (Gil Tene) with four significant bits; what it buys over a library's
//! is that the cells are per thread and written without an atomic read-modify-write, which no published one offers.
//!
//! Everything below 1,024 ns is one bucket, everything from 137 s on another. Buckets of two histograms line up, so
//! they add: over lanes, over time, over processes.
//!
//! Invariants: [`index`] is monotonic and its bucket's bounds contain the value; memory never depends on what was
//! recorded.

use std::fmt;

use super::lane::{Count, Lane};

const SUB_BITS: u32 = 4;
const SUBS: usize = 1 << SUB_BITS;
const LOW_BITS: u32 = 10;
const HIGH_BITS: u32 = 37;
/// How many buckets there are, the two open ones included.
pub(crate) const BUCKETS: usize = (HIGH_BITS - LOW_BITS) as usize * SUBS + 2;

/// Which bucket a length in nanoseconds falls into.
#[inline]
pub(crate) fn index(nanos: u64) -> usize {
    if nanos < 1 << LOW_BITS {
        return 0;
    }
    let power = nanos.ilog2();
    if power >= HIGH_BITS {
        return BUCKETS - 1;
    }
    #[allow(clippy::cast_possible_truncation)] // masked to four bits
    let sub = (nanos >> (power - SUB_BITS)) as usize & (SUBS - 1);
    1 + (power - LOW_BITS) as usize * SUBS + sub
}

/// The smallest length, in nanoseconds, that falls into a bucket.
pub(crate) fn lower_bound(index: usize) -> u64 {
    if index == 0 {
        return 0;
    }
    let power = LOW_BITS as usize + (index - 1) / SUBS;
    let sub = (index - 1) % SUBS;
    (1 << power) + (sub as u64) * (1 << (power - SUB_BITS as usize))
}

/// The length, in nanoseconds, from which on the next bucket begins; the last bucket has none.
pub(crate) fn upper_bound(index: usize) -> Option<u64> {
    (index + 1 < BUCKETS).then(|| lower_bound(index + 1))
}

/// One lane's cells.
#[derive(Debug)]
pub(crate) struct Histogram {
    counts: [Count; BUCKETS],
    sum: Count,
}

impl Histogram {
    /// Boxed without ever standing on the stack of a caller that asked for one in a deep call.
    pub(crate) fn boxed() -> Box<Self> {
        Box::new(Self { counts: [const { Count::new() }; BUCKETS], sum: Count::new() })
    }

    #[inline]
    pub(crate) fn record(&self, lane: Lane, nanos: u64) {
        self.counts[index(nanos)].add(lane, 1);
        self.sum.add(lane, nanos);
    }

    /// Adds these cells to a plain copy.
    pub(crate) fn add_to(&self, bands: &mut Bands) {
        for (total, cell) in bands.counts.iter_mut().zip(&self.counts) {
            *total += cell.get();
        }
        bands.sum = bands.sum.wrapping_add(self.sum.get());
    }
}

/// A histogram's figures at one moment: counts per latency band, mergeable.
///
/// ```
/// let bands = watertight::Bands::default();
/// assert_eq!(bands.count(), 0);
/// assert_eq!(bands.percentile(99.0), None);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Bands {
    counts: Vec<u64>,
    sum: u64,
}

impl fmt::Debug for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bands")
            .field("count", &self.count())
            .field("p50", &self.percentile(50.0))
            .field("p99", &self.percentile(99.0))
            .finish_non_exhaustive()
    }
}

impl Default for Bands {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], sum: 0 }
    }
}

impl Bands {
    /// How many lengths were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The sum of all recorded lengths.
    pub fn sum(&self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.sum)
    }

    /// The mean length, `None` when nothing was recorded.
    pub fn mean(&self) -> Option<std::time::Duration> {
        self.sum.checked_div(self.count()).map(std::time::Duration::from_nanos)
    }

    /// The length that `percent` of 100 recorded ones did not exceed, `None` when nothing was recorded.
    ///
    /// Read at the middle of its band, so at most 3.2 % off; lengths under a microsecond read as half of one, lengths
    /// beyond 137 s as 137 s.
    pub fn percentile(&self, percent: f64) -> Option<std::time::Duration> {
        self.bucket_of(percent).map(|index| {
            let low = lower_bound(index);
            std::time::Duration::from_nanos(upper_bound(index).map_or(low, |high| low.midpoint(high)))
        })
    }

    /// Adds one length, where lanes are not worth it.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.counts[index(nanos)] += 1;
        self.sum = self.sum.wrapping_add(nanos);
    }

    /// How many lengths fell into one bucket.
    pub(crate) fn in_band(&self, index: usize) -> u64 {
        self.counts[index]
    }

    fn bucket_of(&self, percent: f64) -> Option<usize> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0..=count by the clamp
        let rank = ((percent.clamp(0.0, 100.0) * count as f64 / 100.0).ceil() as u64).clamp(1, count);
        let mut seen = 0;
        self.counts.iter().position(|&n| {
            seen += n;
            seen >= rank
        })
    }

    /// The bands that hold anything, each as its upper bound (`None` for the open last one) and its count.
    pub fn iter(&self) -> impl Iterator<Item = (Option<std::time::Duration>, u64)> + '_ {
        self.counts
            .iter()
            .enumerate()
            .filter(|&(_, &count)| count > 0)
            .map(|(index, &count)| (upper_bound(index).map(std::time::Duration::from_nanos), count))
    }

    /// Adds another histogram's figures to these.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// What was recorded since an earlier reading of the same histogram.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            counts: self.counts.iter().zip(&earlier.counts).map(|(now, then)| now.saturating_sub(*then)).collect(),
            sum: self.sum.wrapping_sub(earlier.sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_lies_within_its_bucket(nanos in prop_oneof![0u64..1 << 20, any::<u64>()]) {
            let index = index(nanos);
            prop_assert!(lower_bound(index) <= nanos);
            prop_assert!(upper_bound(index).is_none_or(|high| nanos < high));
        }

        #[test]
        fn buckets_are_in_order(a in any::<u64>(), b in any::<u64>()) {
            prop_assert!(index(a.min(b)) <= index(a.max(b)));
        }

        #[test]
        fn percentiles_are_within_the_promise(mut values in prop::collection::vec(2_000u64..60_000_000_000, 1..200), percent in 1.0f64..100.0) {
            let histogram = Histogram::boxed();
            for &value in &values {
                histogram.record(Lane::here(), value);
            }
            let mut bands = Bands::default();
            histogram.add_to(&mut bands);
            values.sort_unstable();
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let rank = ((percent * values.len() as f64 / 100.0).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1] as f64;
            let read = bands.percentile(percent).expect("not empty").as_nanos() as f64;
            prop_assert!((read - truth).abs() / truth <= 0.033, "{read} for {truth}");
        }
    }

    #[test]
    fn a_difference_holds_only_what_came_later() {
        let histogram = Histogram::boxed();
        histogram.record(Lane::here(), 5_000);
        let mut before = Bands::default();
        histogram.add_to(&mut before);
        histogram.record(Lane::here(), 9_000_000);
        let mut after = Bands::default();
        histogram.add_to(&mut after);
        let between = after.since(&before);
        assert_eq!(between.count(), 1);
        assert_eq!(between.sum().as_nanos(), 9_000_000);
    }
}
