//! How many attempts take longer than a given length, when some of them were cut off. Pure.
//!
//! The product-limit estimator (Kaplan and Meier, 1958) over latency bands: at every band, the share still running shrinks
//! by those that completed among those that were still watched. Whoever was cut off at the limit is watched until there and
//! says nothing about what comes after. So beyond the largest length that anybody was watched, nothing is known, and the
//! curve ends there instead of falling to zero, which is what a chart of completed attempts alone does.
//!
//! How far off an estimate may be is Greenwood's variance (1926) on the scale of `log(-log S)`, on which the interval stays
//! between 0 and 1; with nothing seen to happen, the rule of three.
//!
//! Invariants: shares never grow with the length; every interval holds its estimate; what nobody has seen is `None`, never a
//! guess.

use std::time::Duration;

use crate::base::clock::nanos;
use crate::base::histogram::{BUCKETS, Bands, index, lower_bound, upper_bound};
use crate::base::lengths::Lengths;

/// A share with the interval in which it lies nineteen times of twenty.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Share {
    /// The estimate, 0 to 1.
    pub share: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// A length with the interval in which it lies nineteen times of twenty. An end that nobody was seen to reach is `None`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Length {
    /// The estimate.
    pub length: Duration,
    /// The lower end.
    pub low: Duration,
    /// The upper end.
    pub high: Option<Duration>,
}

/// Of all attempts, those that take longer than a length.
#[derive(Clone, Debug)]
pub struct Curve {
    /// One per band, as far as anybody was watched.
    points: Vec<Point>,
    count: u64,
    completed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    /// The upper end of the band, in nanoseconds.
    until: u64,
    beyond: Share,
}

/// So many standard deviations hold nineteen of twenty.
const DEVIATIONS: f64 = 1.96;

impl Curve {
    /// From the lengths of completed attempts, and of those that were cut off.
    pub fn new(completed: &Bands, cut_off: &Bands) -> Self {
        Self::of(&Lengths { completed: completed.clone(), cut_off: cut_off.clone() })
    }

    pub(crate) fn of(lengths: &Lengths) -> Self {
        let (mut points, mut watched, mut sum) = (Vec::new(), lengths.count(), 0.0);
        for passed in lengths.survival() {
            let (done, cut) = (lengths.completed.in_band(passed.band), lengths.cut_off.in_band(passed.band));
            if watched > done {
                sum += done as f64 / (watched as f64 * (watched - done) as f64);
            }
            let until = upper_bound(passed.band).unwrap_or_else(|| lower_bound(BUCKETS - 1));
            points.push(Point { until, beyond: Share::of(passed.after, sum, lengths.count()) });
            watched -= done + cut;
        }
        Self { points, count: lengths.count(), completed: lengths.completed.count() }
    }

    /// How many attempts it was made from.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them were cut off.
    pub fn cut_off(&self) -> u64 {
        self.count - self.completed
    }

    /// The longest that any attempt was watched; `None` without any.
    pub fn watched_until(&self) -> Option<Duration> {
        self.points.last().map(|point| Duration::from_nanos(point.until))
    }

    /// The share of attempts that take longer than a length; `None` where nobody was watched for so long.
    pub fn beyond(&self, length: Duration) -> Option<Share> {
        let band = index(nanos(length));
        match band.checked_sub(1) {
            None => (self.count > 0).then_some(Share { share: 1.0, low: 1.0, high: 1.0 }),
            // What ends within a band counts as longer than a length in it, so a limit is never said to cut too little.
            Some(before) => {
                self.points.get(before).filter(|_| band < self.points.len()).map(|point| point.beyond).or_else(|| {
                    // Everybody had completed: nothing takes longer.
                    self.points.last().filter(|last| last.beyond.share <= 0.0).map(|last| last.beyond)
                })
            }
        }
    }

    /// The length within which this share of attempts completes; `None` where so many were not seen to.
    pub fn quantile(&self, share: f64) -> Option<Length> {
        // A hair's breadth: 1 - 0.95 is not quite 0.05.
        let rest = 1.0 - share + 1e-9;
        let first = |is_below: fn(&Share) -> f64| {
            let point = self.points.iter().find(|point| is_below(&point.beyond) <= rest);
            point.map(|point| Duration::from_nanos(point.until))
        };
        let length = first(|beyond| beyond.share)?;
        Some(Length { length, low: first(|beyond| beyond.low).unwrap_or(length), high: first(|beyond| beyond.high) })
    }

    /// The mean time an attempt runs when it is cut off at a length: the area under the curve up to there. Where nobody was
    /// watched for so long, as if everybody beyond ran until there.
    pub fn mean_until(&self, limit: Duration) -> Duration {
        let limit = nanos(limit);
        let (mut from, mut running, mut area) = (0, 1.0, 0.0);
        for point in &self.points {
            let until = point.until.min(limit);
            // Those that complete within a band do so in the middle of it.
            area += (until - from) as f64 * f64::midpoint(running, point.beyond.share);
            (from, running) = (until, point.beyond.share);
            if from == limit {
                break;
            }
        }
        if self.points.is_empty() {
            return Duration::ZERO;
        }
        area += (limit - from) as f64 * running;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and at most the limit
        Duration::from_nanos(area as u64)
    }

    /// The bands in which attempts completed: upper end, those still running after it, and the share that completed in it.
    pub(crate) fn steps(&self) -> impl Iterator<Item = (u64, Share, f64)> + '_ {
        let mut before = 1.0;
        self.points.iter().map(move |point| {
            let within = before - point.beyond.share;
            before = point.beyond.share;
            (point.until, point.beyond, within)
        })
    }
}

impl Share {
    /// A survivor's share with Greenwood's sum.
    fn of(share: f64, sum: f64, watched: u64) -> Self {
        let n = watched.max(1) as f64;
        if share >= 1.0 {
            return Self { share: 1.0, low: (1.0 - 3.0 / n).max(0.0), high: 1.0 };
        }
        if share <= 0.0 {
            return Self { share: 0.0, low: 0.0, high: (3.0 / n).min(1.0) };
        }
        let deviation = sum.sqrt() / share.ln().abs();
        let end = |sign: f64| share.powf((sign * DEVIATIONS * deviation).exp());
        Self { share, low: end(1.0), high: end(-1.0) }
    }
}
