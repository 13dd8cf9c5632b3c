//! How long a pause is.

use super::*;

const DEFAULT: Backoff = Backoff::DEFAULT;

#[test]
fn the_bound_doubles_from_the_first_to_the_cap_and_stays_there() {
    let bounds: Vec<u64> = (0..8).map(|retry| pause(DEFAULT, retry, 0, 1.0) / 1_000_000).collect();
    assert_eq!(bounds, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
    assert_eq!(pause(DEFAULT, 0, 0, 0.5), 25_000_000);
    assert_eq!(pause(DEFAULT, 3, 0, 0.0), 0);
}

#[test]
fn a_late_retry_pauses_as_long_as_the_cap_allows() {
    for first in [1, 50_000_000, DEFAULT.cap] {
        for retry in [31, 32, 63, 64, 65, 127, 1_023, 1_024, 1_025, 2_000, u32::MAX] {
            let backoff = Backoff { first, ..DEFAULT };
            assert_eq!(pause(backoff, retry, 0, 1.0), DEFAULT.cap, "first {first}, retry {retry}");
        }
    }
}

#[test]
fn a_first_pause_of_one_nanosecond_doubles_like_any_other() {
    let backoff = Backoff { first: 1, cap: u64::MAX, ..DEFAULT };
    assert_eq!([0, 1, 10, 52].map(|retry| pause(backoff, retry, 0, 1.0)), [1, 2, 1 << 10, 1 << 52]);
    assert_eq!(pause(backoff, 63, 0, 1.0), 1 << 63);
    assert_eq!(pause(backoff, 64, 0, 1.0), u64::MAX);
}

#[test]
fn a_first_pause_as_long_as_the_cap_is_bounded_by_it_from_the_start() {
    let backoff = Backoff { first: 7, cap: 7, ..DEFAULT };
    assert!((0..2_000).all(|retry| pause(backoff, retry, 0, 1.0) == 7));
}

/// Short and long ones alike.
fn nanos() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(nanos, shorter)| (nanos >> shorter).max(1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    #[test]
    fn every_pause_lies_between_nothing_and_the_cap(
        first in nanos(), cap in nanos(), retry in 0..=2_000_u32, roll in 0.0..=1.0,
    ) {
        let backoff = Backoff { first, cap, ..DEFAULT };
        let drawn = pause(backoff, retry, 0, roll);
        let doubled = u128::from(first).checked_shl(retry.min(64)).unwrap_or(u128::MAX);
        prop_assert!(u128::from(drawn) <= doubled.min(u128::from(cap)));
        prop_assert!(pause(backoff, retry, 0, 0.0) == 0);
        prop_assert!(drawn <= pause(backoff, retry, 0, 1.0));
    }

    #[test]
    fn the_bound_never_falls_from_one_retry_to_the_next(
        first in nanos(), cap in nanos(), retry in 0..=2_000_u32,
    ) {
        let backoff = Backoff { first, cap, ..DEFAULT };
        prop_assert!(pause(backoff, retry, 0, 1.0) <= pause(backoff, retry + 1, 0, 1.0));
    }
}
