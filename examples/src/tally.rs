//! # Many requests as a few figures
//!
//! A mean hides an outage: nine pages in a millisecond and one in ten seconds average to "a second, roughly". So a
//! route is told by the share that succeeded and by two percentiles, and failures keep their latency in the same
//! distribution, because the visitor who waited two seconds for an error waited two seconds.
//!
//! Shares are rounded down. A run that lost one request in ten thousand must not read 100 %.
//!
//! Invariants:
//! * 100 is printed only when nothing failed;
//! * a route nobody called has no share and no percentile, rather than a flattering one.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

/// Ends of the distribution, in microseconds; anything longer counts as the longest.
const LONGEST: u64 = 600_000_000;

/// Counts requests of one route; shared by all who send them.
#[derive(Debug)]
pub struct Tally {
    requests: AtomicU64,
    ok: AtomicU64,
    took: Mutex<Histogram<u64>>,
}

/// What a [`Tally`] came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Requests that ended, well or badly.
    pub requests: u64,
    /// Those that ended well.
    pub ok: u64,
    /// Half took at most this long.
    pub p50: Option<Duration>,
    /// Ninety-nine in a hundred took at most this long.
    pub p99: Option<Duration>,
}

impl Default for Tally {
    fn default() -> Self {
        // Bounds and digits are constants, known to be accepted.
        let took = Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds of a constant histogram");
        Self { requests: AtomicU64::new(0), ok: AtomicU64::new(0), took: Mutex::new(took) }
    }
}

impl Tally {
    /// Adds one request.
    pub fn record(&self, ok: bool, took: Duration) {
        // `ok` first: a reader in between sees a request too few, never a share above 100.
        self.requests.fetch_add(1, Relaxed);
        self.ok.fetch_add(u64::from(ok), Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(LONGEST);
        self.took.lock().unwrap_or_else(PoisonError::into_inner).saturating_record(micros);
    }

    /// Requests and successes so far, cheap enough for a progress line.
    pub fn so_far(&self) -> (u64, u64) {
        let ok = self.ok.load(Relaxed);
        (self.requests.load(Relaxed).max(ok), ok)
    }

    /// Everything so far.
    pub fn figures(&self) -> Figures {
        let (requests, ok) = self.so_far();
        let took = self.took.lock().unwrap_or_else(PoisonError::into_inner);
        let at = |quantile| (!took.is_empty()).then(|| Duration::from_micros(took.value_at_quantile(quantile)));
        Figures { requests, ok, p50: at(0.50), p99: at(0.99) }
    }
}

impl Figures {
    /// Successes in percent, rounded down to a tenth; none where nothing ended.
    pub fn success(&self) -> Option<f64> {
        percent(self.ok, self.requests)
    }
}

/// `part` of `whole` in percent, rounded down to a tenth; none of nothing.
pub fn percent(part: u64, whole: u64) -> Option<f64> {
    let tenths = u128::from(part) * 1000 / u128::from((whole > 0).then_some(whole)?);
    u32::try_from(tenths).ok().map(|tenths| f64::from(tenths) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::{Tally, percent};
    use std::time::Duration;

    #[test]
    fn shares_round_down_and_nothing_has_no_share() {
        let shown = |part, whole| percent(part, whole).map(|share| format!("{share:.1}"));
        assert_eq!(shown(9_999, 10_000).as_deref(), Some("99.9"));
        assert_eq!(shown(10_000, 10_000).as_deref(), Some("100.0"));
        assert_eq!(shown(1, 3).as_deref(), Some("33.3"));
        assert_eq!(shown(0, 7).as_deref(), Some("0.0"));
        assert_eq!(percent(0, 0), None);
    }

    #[test]
    fn failures_keep_their_latency() {
        let tally = Tally::default();
        for _ in 0..98 {
            tally.record(true, Duration::from_millis(1));
        }
        tally.record(false, Duration::from_secs(5));
        tally.record(false, Duration::from_secs(5));
        let figures = tally.figures();
        assert_eq!((figures.requests, figures.ok), (100, 98));
        let close = |seen: Option<Duration>, want: f64| (seen.unwrap().as_secs_f64() / want - 1.0).abs() < 0.01;
        assert!(close(figures.p50, 0.001), "{figures:?}");
        assert!(close(figures.p99, 5.0), "{figures:?}");
    }

    #[test]
    fn an_absurd_latency_counts_as_the_longest() {
        let tally = Tally::default();
        tally.record(false, Duration::MAX);
        assert_eq!(tally.figures().p50.map(|took| took.as_secs()), Some(600));
        assert_eq!(Tally::default().figures().p50, None);
    }
}
