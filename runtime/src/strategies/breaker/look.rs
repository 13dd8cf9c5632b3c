//! When a breaker that is not closed looks at the clock.
//!
//! A refusal has to know that the cooldown is not over, and asking the clock is the dearest step of it: a third of the whole.
//! When refusals come one upon the other, asking every time tells nothing new. So each thread remembers its last look, and
//! how many refusals may go by it.
//!
//! **A look is spared only where it cannot matter at the pace seen.** After a look, [`SPARED`] refusals of this thread go by
//! it if the last ones came at least as fast as one in [`FAST`] nanoseconds, and if eight times as long as they will take at
//! that pace is left of the cooldown. So while traffic goes on, the last look before the end is taken in good time, every
//! refusal near the end takes one, and the first caller after the end is the probe. Only if a thread's traffic stops in the middle and
//! begins again after the end are the rest refused for nothing: [`SPARED`] calls of that thread at most, once a cooldown. (A bound
//! in time is not to be had without a clock.) Below that pace every refusal looks: there the clock is a
//! thousandth of what the thread does.
//!
//! **A clock that stands still spares nothing.** Under a test's paused clock no time passes between two refusals, or at
//! least a millisecond; neither is a pace. So tests see every cooldown end when it ends.
//!
//! Invariants: what one thread remembers no other reads or writes, so the shared lane always looks; what was remembered in another
//! generation says nothing.

use crate::base::clock::Moment;
use crate::base::lane::Lane;
use crate::base::sync::{AtomicI64, AtomicU64, Ordering};

/// How many refusals go by one look.
const SPARED: u64 = 7;
/// The slowest pace that counts as fast, in nanoseconds from one refusal to the next.
const FAST: u64 = 10_000;
/// What must be left of the cooldown for any to be spared.
const IN_GOOD_TIME: u64 = 8 * SPARED * FAST;

/// What a thread remembers of its last look: when it was; and, in the generation in the upper half, how many refusals
/// it was granted and how many of these are left.
#[derive(Debug)]
pub(super) struct Looks {
    at: AtomicI64,
    granted: AtomicU64,
}

impl Looks {
    pub(super) fn new() -> Self {
        Self { at: AtomicI64::new(0), granted: AtomicU64::new(0) }
    }

    /// The time of the last look, if this refusal may go by it.
    #[inline]
    pub(super) fn spare(&self, lane: Lane, generation: u32) -> Option<Moment> {
        let granted = self.granted.load(Ordering::Relaxed);
        if !lane.is_own() || granted >> 32 != u64::from(generation) || left(granted) == 0 {
            return None;
        }
        self.granted.store(granted - 1, Ordering::Relaxed);
        Some(Moment::from_raw(self.at.load(Ordering::Relaxed)))
    }

    /// A look has found that the breaker refuses until later.
    pub(super) fn note(&self, lane: Lane, generation: u32, now: Moment, until: Moment) {
        if !lane.is_own() {
            return;
        }
        let before = self.granted.load(Ordering::Relaxed);
        let last = Moment::from_raw(self.at.load(Ordering::Relaxed));
        let tag = u64::from(generation) << 32;
        let is_first = before >> 32 != u64::from(generation);
        let spared = if is_first { 0 } else { spared(now.since(last), 1 + total(before), until.since(now)) };
        self.at.store(now.to_raw(), Ordering::Relaxed);
        self.granted.store(tag | spared << 8 | spared, Ordering::Relaxed);
    }
}

fn left(granted: u64) -> u64 {
    granted & 0xff
}

fn total(granted: u64) -> u64 {
    granted >> 8 & 0xff
}

/// How many refusals may go by this look: `refusals` have come in the time `passed` since the last one.
fn spared(passed: u64, refusals: u64, left: u64) -> u64 {
    let is_fast = passed > 0 && passed <= refusals * FAST;
    if is_fast && left >= IN_GOOD_TIME { SPARED } else { 0 }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn at(nanos: i64) -> Moment {
        Moment::from_raw(nanos)
    }

    /// Looks taken by a thread that is refused at each of these times, until `until`.
    fn looks(times: impl Iterator<Item = i64>, until: i64) -> Vec<i64> {
        let looks = Looks::new();
        let lane = Lane::here();
        times
            .filter(|now| {
                let must = looks.spare(lane, 3).is_none();
                if must {
                    looks.note(lane, 3, at(*now), at(until));
                }
                must
            })
            .collect()
    }

    #[test]
    fn in_a_storm_one_refusal_in_eight_looks_at_the_clock() {
        let taken = looks((1..=8_000).map(|n| n * 50), i64::MAX);
        assert!((1_000..=1_010).contains(&taken.len()), "{} looks", taken.len());
    }

    #[test]
    fn at_a_moderate_pace_and_on_a_clock_that_stands_still_every_refusal_looks() {
        assert_eq!(looks((1..=100).map(|n| n * 10_001), i64::MAX).len(), 100);
        assert_eq!(looks((1..=100).map(|_| 1_000), i64::MAX).len(), 100);
        assert_eq!(looks((1..=100).map(|n| n * 1_000_000), i64::MAX).len(), 100);
    }

    #[test]
    fn near_the_end_every_refusal_looks_so_that_no_probe_is_late_while_traffic_goes_on() {
        let end = 2_000_000;
        for step in [40, 700, 9_999] {
            let refused = || (1..).map(|n| n * step).take_while(|now| *now < end);
            let near = end - i64::try_from(IN_GOOD_TIME).unwrap() + 8 * step;
            let taken: BTreeSet<i64> = looks(refused(), end).into_iter().collect();
            assert!(
                refused().filter(|now| *now > near).all(|now| taken.contains(&now)),
                "a look was spared near the end, every {step} ns"
            );
        }
    }

    #[test]
    fn a_thread_that_stops_in_the_middle_is_refused_for_nothing_seven_times_at_most() {
        let looks = Looks::new();
        let lane = Lane::here();
        looks.note(lane, 1, at(100), at(i64::MAX));
        looks.note(lane, 1, at(200), at(i64::MAX));
        assert_eq!((0..100).filter(|_| looks.spare(lane, 1).is_some()).count(), 7);
    }

    #[test]
    fn what_was_seen_in_another_generation_spares_nothing() {
        let looks = Looks::new();
        let lane = Lane::here();
        looks.note(lane, 1, at(100), at(i64::MAX));
        looks.note(lane, 1, at(200), at(i64::MAX));
        assert_eq!(looks.spare(lane, 2), None);
        assert_eq!(spared(100, 8, HOUR), SPARED);
        assert_eq!(spared(100, 8, IN_GOOD_TIME - 1), 0);
    }
}
