//! The delay from what was measured, and which answer ends a race.

use proptest::prelude::*;

use super::config::After;
use super::decide::enough;
use super::{Config, Pace, due, ends_race};
use crate::base::clock::Moment;
use crate::base::lengths::Lengths;
use crate::call::tally::Tally;
use crate::call::{Class, Verdict};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn at(nanos: u64) -> Moment {
    Moment::from_raw(0).plus(nanos)
}

#[test]
fn a_fixed_delay_counts_from_the_start_and_must_end_before_the_limit() {
    let config = Config::fixed(50 * MS);
    let never = || unreachable!("a fixed delay asks for no percentile");
    assert_eq!(due(&config, at(MS), Moment::NEVER, never), Some(at(51 * MS)));
    assert_eq!(due(&config, at(MS), at(52 * MS), never), Some(at(51 * MS)));
    assert_eq!(due(&config, at(MS), at(51 * MS), never), None, "it would be cut off at that moment");
}

#[test]
fn a_percentile_is_never_below_the_floor_and_nothing_is_due_while_it_is_unknown() {
    let config = Config::percentile(950);
    assert_eq!(due(&config, at(0), Moment::NEVER, || None), None);
    assert_eq!(due(&config, at(0), Moment::NEVER, || Some(80 * MS)), Some(at(80 * MS)));
    assert_eq!(due(&config, at(0), Moment::NEVER, || Some(MS)), Some(at(5 * MS)));
    assert_eq!(due(&config.floor(2 * MS), at(0), Moment::NEVER, || Some(MS)), Some(at(2 * MS)));
}

#[test]
fn the_rarer_the_percentile_the_more_attempts_it_takes() {
    let needed = |tenths| enough(After::Percentile(tenths));
    assert_eq!([needed(500), needed(950), needed(990), needed(999)], [100, 100, 500, 5_000]);
}

#[test]
fn only_an_error_worth_another_try_waits_for_the_other_attempt() {
    assert!(ends_race(Verdict::OK));
    assert!(ends_race(Verdict::error(Class::Success, None)), "no such row is an answer");
    assert!(ends_race(Verdict::error(Class::Permanent, None)), "the other would say the same");
    assert!(!ends_race(Verdict::error(Class::Retryable, None)));
}

#[test]
fn a_percentile_is_known_after_a_hundred_attempts_and_follows_the_recent_past() {
    static TALLY: Tally = Tally::new();
    let pace = Pace::new(Config::percentile(950));
    let known = |seconds: u64| pace.percentile(at(seconds * SECOND), || TALLY.lengths());
    let run = |n: u64, nanos: u64| (0..n).for_each(|_| TALLY.here().took(nanos));
    let about = |read: Option<u64>, truth: u64| read.is_some_and(|it| it > truth && it <= truth * 107 / 100);
    run(95, 10 * MS);
    assert_eq!(known(0), None, "five are missing");
    run(5, 90 * MS);
    assert_eq!(known(0), None, "not asked again at once");
    assert!(about(known(1), 10 * MS), "{:?}", known(1));
    run(40, 90 * MS);
    assert!(about(known(2), 90 * MS), "{:?}", known(2));
    // The function gets fast: once both turns are over the slow ones no longer count.
    run(200, 6 * MS);
    known(10);
    run(200, 6 * MS);
    assert!(about(known(20), 6 * MS), "{:?}", known(20));
    assert_eq!(known(1_000), None, "after a long silence nothing is known");
}

#[test]
fn a_fixed_delay_reads_no_figures() {
    let pace = Pace::new(Config::fixed(MS));
    assert_eq!(pace.percentile(at(0), || -> Lengths { unreachable!("nobody asks") }), None);
}

proptest! {
    /// What hedging does to its own figures: those slower than the delay are dropped soon after it, in favour of a usual
    /// answer. Round after round the percentile must stay where the function's own lengths put it.
    #[test]
    fn hedges_that_win_do_not_pull_the_percentile_down(seed in 0u64..1_000, slow_share in 1u64..4) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tally = Tally::new();
        let pace = Pace::new(Config::percentile(950));
        let truth = 20 * MS;
        for round in 0..40_u64 {
            let now = at(round * 6 * SECOND);
            let delay = pace.percentile(now, || tally.lengths());
            for n in 0..400 {
                let slow = n % 100 < slow_share;
                let length = if slow { 500 * MS } else { rng.u64(10 * MS..truth) };
                let other = rng.u64(10 * MS..truth);
                match delay {
                    Some(delay) if length > delay + other => {
                        tally.here().cut_off(delay + other);
                        tally.here().took(other);
                    }
                    Some(delay) if length > delay => {
                        tally.here().took(length);
                        tally.here().cut_off(length - delay);
                    }
                    _ => tally.here().took(length),
                }
            }
            if let Some(delay) = delay {
                prop_assert!((19 * MS..=22 * MS).contains(&delay), "round {round}: {delay}");
            }
        }
    }
}
