//! How many attempts take longer than a given length, when some of them were cut off. Pure.
//!
//! The product-limit estimator (Kaplan and Meier, 1958) over latency bands: at every band, the share still running shrinks
//! by those that completed among those that were still watched. Whoever was cut off at the limit is watched until there and
//! says nothing about what comes after. So beyond the largest length that anybody was watched, nothing is known, and the
//! curve ends there instead of falling to zero, which is what a chart of completed attempts alone does.
//!
//! **What was seen beyond the limit.** Of a function with the key `observe` a few attempts were watched on. They are taken
//! out of those that were cut off, and stay among the watched until they answered or until nobody looked any more. So
//! beyond the limit the curve rests on them alone, which is why its interval gets so much wider there. Within the band of the
//! limit those that were cut leave before the ones that were watched on are counted, or these would look fewer than they are. Where fewer
//! than [`ENOUGH`] were watched on they are left out: from three ends no tail was ever known, whatever interval stands beside it.
//!
//! How far off an estimate may be is Greenwood's variance (1926) on the scale of `log(-log S)`, on which the interval stays
//! between 0 and 1; with nothing seen to happen, the rule of three. (When the last of a few that were watched on has ended, the rule of
//! three holds for those few, beyond what is known from all.)
//!
//! Invariants: shares never grow with the length; every interval holds its estimate; what nobody has seen is `None`, never a
//! guess.

use std::time::Duration;

use crate::base::clock::nanos;
use crate::base::histogram::{BUCKETS, Bands, index, lower_bound, upper_bound};
use crate::base::lengths::Lengths;
use crate::metrics::ObservedFigures;

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
    cut_off: u64,
    observed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Point {
    /// The upper end of the band, in nanoseconds.
    until: u64,
    beyond: Share,
    /// At the limit, if that lies in this band: when those that were cut off had gone, and nobody had been watched on yet.
    at_limit: Option<Share>,
}

/// So many standard deviations hold nineteen of twenty.
const DEVIATIONS: f64 = 1.96;
/// So many have to have been watched beyond the limit before anything is said of what lies there.
pub(crate) const ENOUGH: u64 = 20;

impl Curve {
    /// From the lengths of completed attempts, and of those that were cut off.
    pub fn new(completed: &Bands, cut_off: &Bands) -> Self {
        Self::of(&Lengths { completed: completed.clone(), cut_off: cut_off.clone() })
    }

    /// The same, with what was seen of attempts that ran on beyond their limit.
    ///
    /// Fewer than twenty of them say nothing, and are left out.
    pub fn observing(completed: &Bands, cut_off: &Bands, observed: Option<&ObservedFigures>) -> Self {
        Self::seen(&Lengths { completed: completed.clone(), cut_off: cut_off.clone() }, observed)
    }

    pub(crate) fn of(lengths: &Lengths) -> Self {
        Self::seen(lengths, None)
    }

    pub(crate) fn seen(lengths: &Lengths, observed: Option<&ObservedFigures>) -> Self {
        let watched_on = observed.map_or(0, ObservedFigures::watched);
        let none = Bands::default();
        let enough = observed.filter(|_| watched_on >= ENOUGH);
        let (answered, unanswered, from) =
            enough.map_or((&none, &none, &none), |seen| (&seen.answered, &seen.unanswered, &seen.from));
        let cut_off = lengths.cut_off.since(from);
        let count = lengths.completed.count() + cut_off.count() + answered.count() + unanswered.count();
        let (mut points, mut left) = (Vec::new(), Left::all(count));
        for band in 0..BUCKETS {
            if left.watched == 0 {
                break;
            }
            left.end(lengths.completed.in_band(band));
            let at_limit = (lengths.cut_off.in_band(band) > 0).then(|| left.share());
            left.lose(cut_off.in_band(band));
            left.end(answered.in_band(band));
            left.lose(unanswered.in_band(band));
            let until = upper_bound(band).unwrap_or_else(|| lower_bound(BUCKETS - 1));
            points.push(Point { until, beyond: left.share(), at_limit });
        }
        Self { points, count, cut_off: cut_off.count() + from.count(), observed: watched_on }
    }

    /// How many attempts it was made from.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many of them were cut off.
    pub fn cut_off(&self) -> u64 {
        self.cut_off
    }

    /// How many of these were watched beyond their limit.
    pub fn observed(&self) -> u64 {
        self.observed
    }

    /// The share that was still running when a timeout cut it off: what is known at the limit itself, and not at the ends of
    /// its band. `None` where nothing was cut off there.
    pub(crate) fn cut_at(&self, limit: Duration) -> Option<Share> {
        // A timer fires a little late, so the band may lie just above the limit.
        let latest = limit.mul_f64(1.1) + Duration::from_millis(5);
        let last = self.points.iter().rposition(|point| point.at_limit.is_some())?;
        let is_there = (index(nanos(limit))..=index(nanos(latest))).contains(&last);
        self.points[last].at_limit.filter(|_| is_there)
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

/// Those who are still watched, and the estimate so far.
struct Left {
    all: u64,
    watched: u64,
    share: f64,
    /// Greenwood's sum.
    sum: f64,
    /// Whether anybody was lost from sight so far.
    has_lost: bool,
    /// When the last of them ended: what was known before, and of how many.
    last: Option<(f64, u64)>,
}

impl Left {
    fn all(count: u64) -> Self {
        Self { all: count, watched: count, share: 1.0, sum: 0.0, has_lost: false, last: None }
    }

    /// So many ended.
    fn end(&mut self, done: u64) {
        if done == 0 || self.watched == 0 {
            return;
        }
        let watched = self.watched as f64;
        if done >= self.watched {
            self.last = Some((self.share().high, self.watched));
        } else {
            self.sum += done as f64 / (watched * (self.watched - done) as f64);
        }
        self.share *= 1.0 - (done as f64 / watched).min(1.0);
        self.watched -= done.min(self.watched);
    }

    /// So many were seen no longer.
    fn lose(&mut self, lost: u64) {
        self.has_lost |= lost > 0;
        self.watched -= lost.min(self.watched);
    }

    fn share(&self) -> Share {
        let rest = Share::of(self.share, self.sum, self.all);
        match self.last {
            Some((high, of)) if self.has_lost => Share { high: (high * (3.0 / of as f64).min(1.0)).min(1.0), ..rest },
            _ => rest,
        }
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
