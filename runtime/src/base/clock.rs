//! Time, from one place: tokio's clock, as a number of nanoseconds.
//!
//! Every decision of this crate is handed the time instead of asking for it, and what it is handed is a [`Moment`].
//! The number counts from an origin that the process fixes at its first use, and it is signed: a paused test clock may
//! run years ahead of the machine's, the next test of the same process starts from the machine's again, and a moment
//! before the origin must compare correctly all the same.
//!
//! A plain `i64` is chosen over an `Instant` because it fits an atomic word, saturates instead of panicking, and costs
//! one instruction to compare. It covers 292 years; nothing here reaches further than [`FAR`] from now.
//!
//! Invariants: only this file calls a clock; no arithmetic in it can overflow or panic; a timer is never asked for a
//! moment later than [`FAR`] from now, since tokio's own timer panics at the far end of time.

use std::sync::OnceLock;
use std::time::Duration;

use tokio::time::Instant;

/// Thirty years in nanoseconds: what "never" is rounded down to before it reaches a timer.
pub(crate) const FAR: i64 = 30 * 365 * 24 * 3600 * 1_000_000_000;

static ORIGIN: OnceLock<Instant> = OnceLock::new();

/// A point in time, in nanoseconds from the process's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(i64);

impl Moment {
    /// Later than every other moment: no deadline, no limit, no end.
    pub(crate) const NEVER: Self = Self(i64::MAX);
    /// Earlier than every other moment.
    pub(crate) const LONG_AGO: Self = Self(i64::MIN);

    /// The time by tokio's clock, which a test can pause.
    #[inline]
    pub(crate) fn now() -> Self {
        let now = Instant::now();
        let origin = *ORIGIN.get_or_init(|| now);
        match now.checked_duration_since(origin) {
            Some(ahead) => Self(saturate(ahead)),
            None => Self(-saturate(origin.duration_since(now))),
        }
    }

    /// This moment plus a length in nanoseconds, never further than [`FAR`] away.
    #[inline]
    pub(crate) fn plus(self, nanos: u64) -> Self {
        if self == Self::NEVER {
            return self;
        }
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX).min(FAR);
        Self(self.0.saturating_add(nanos))
    }

    /// Nanoseconds from `earlier` to this moment; 0 when it is not earlier.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> u64 {
        u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0)
    }

    /// The whole second this moment lies in, for windows that count by seconds.
    #[inline]
    pub(crate) fn second(self) -> i64 {
        self.0.div_euclid(1_000_000_000)
    }

    /// The raw number, to be kept in an atomic.
    pub(crate) fn to_raw(self) -> i64 {
        self.0
    }

    /// The moment behind a raw number.
    pub(crate) const fn from_raw(raw: i64) -> Self {
        Self(raw)
    }

    /// The same point on tokio's clock, for a timer.
    pub(crate) fn to_instant(self) -> Instant {
        let origin = *ORIGIN.get_or_init(Instant::now);
        let length = Duration::from_nanos(self.0.unsigned_abs());
        let at = if self.0 < 0 { origin.checked_sub(length) } else { origin.checked_add(length) };
        // A moment that the platform's clock cannot hold: long past is now, and far ahead is as far as a timer may go.
        at.unwrap_or_else(|| {
            let far = if self.0 < 0 { Duration::ZERO } else { Duration::from_nanos(FAR.unsigned_abs()) };
            Instant::now() + far
        })
    }
}

/// A length as a `u64` of nanoseconds, the longest one standing for everything longer.
pub(crate) fn nanos(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}

#[inline]
fn saturate(length: Duration) -> i64 {
    i64::try_from(length.as_nanos()).unwrap_or(i64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let now = Moment::now();
        assert_eq!(now.plus(u64::MAX), now.plus(FAR.unsigned_abs()));
        assert_eq!(Moment::NEVER.plus(5), Moment::NEVER);
        assert_eq!(Moment::LONG_AGO.since(Moment::NEVER), 0);
        assert!(Moment::NEVER.since(Moment::LONG_AGO) > 0);
    }

    #[test]
    fn a_moment_before_the_origin_still_compares() {
        let early = Moment::from_raw(-2_500_000_000);
        let late = Moment::from_raw(-500_000_000);
        assert!(early < late);
        assert_eq!(late.since(early), 2_000_000_000);
        assert_eq!(early.second(), -3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_paused_clock_drives_it() {
        let before = Moment::now();
        tokio::time::advance(Duration::from_secs(7)).await;
        assert_eq!(Moment::now().since(before), 7_000_000_000);
        let later = before.plus(9_000_000_000);
        tokio::time::sleep_until(later.to_instant()).await;
        assert!(Moment::now() >= later);
    }
}
