//! Every curve and every jitter against a few lines of reference, and the bounds that hold for all of them.

use proptest::prelude::*;

use super::Config;
use super::backoff::pause;
use super::config::{Backoff, Curve, Jitter};

const MS: u64 = 1_000_000;

fn plain(curve: Curve) -> Backoff {
    Backoff { curve, first: MS, cap: u64::MAX, jitter: Jitter::None }
}

fn in_ms(backoff: Backoff, retries: u32) -> Vec<u64> {
    (0..retries).map(|retry| pause(backoff, retry, 0, 0.5) / MS).collect()
}

#[test]
fn each_curve_grows_as_its_name_says() {
    assert_eq!(in_ms(plain(Curve::Constant), 5), [1; 5]);
    assert_eq!(in_ms(plain(Curve::Linear), 5), [1, 2, 3, 4, 5]);
    assert_eq!(in_ms(plain(Curve::Fibonacci), 7), [1, 2, 3, 5, 8, 13, 21]);
    assert_eq!(in_ms(plain(Curve::Exponential { factor: 2.0 }), 11).last(), Some(&1_024));
    assert_eq!(in_ms(plain(Curve::Exponential { factor: 3.0 }), 5), [1, 3, 9, 27, 81]);
    assert_eq!(in_ms(plain(Curve::Exponential { factor: 1.0 }), 5), [1; 5]);
    assert_eq!(in_ms(plain(Curve::Exponential { factor: 1.5 }), 3), [1, 1, 2]);
}

#[test]
fn each_jitter_draws_from_its_own_part_of_the_bound() {
    let ends = |jitter, cap| {
        let backoff = Backoff { jitter, cap, first: 100, ..plain(Curve::Constant) };
        [0.0, 0.5, 1.0].map(|roll| pause(backoff, 0, 0, roll))
    };
    assert_eq!(ends(Jitter::Full, 1_000), [0, 50, 100]);
    assert_eq!(ends(Jitter::Equal, 1_000), [50, 75, 100]);
    assert_eq!(ends(Jitter::None, 1_000), [100, 100, 100]);
    assert_eq!(ends(Jitter::Within(20), 1_000), [80, 100, 120]);
    assert_eq!(ends(Jitter::Within(300), 1_000), [0, 200, 400], "never before now");
    assert_eq!(ends(Jitter::Within(300), 150), [0, 75, 150], "never above the cap");
}

#[test]
fn a_decorrelated_pause_lies_between_the_first_and_three_times_the_one_before() {
    let backoff = Backoff { first: 100, cap: 1_000, ..plain(Curve::Decorrelated) };
    for (last, most) in [(0, 300), (100, 300), (200, 600), (334, 1_000), (1_000, 1_000), (u64::MAX, 1_000)] {
        assert_eq!([0.0, 1.0].map(|roll| pause(backoff, 3, last, roll)), [100, most], "after {last}");
    }
    assert_eq!(pause(Backoff { cap: 50, ..backoff }, 0, 0, 0.0), 50, "a cap below the first pause holds");
}

#[test]
fn what_is_declared_is_what_is_meant() {
    let of = |config: Config| config.backoff;
    assert_eq!(of(Config::new(1)), Backoff::DEFAULT);
    let constant = of(Config::new(1).constant().first(10_000 * MS).jitter_none());
    assert_eq!(pause(constant, 9, 0, 0.3), 10_000 * MS, "no cap of a default cuts it");
    let long = of(Config::new(1).linear().first(5_000 * MS));
    assert_eq!(long.cap, 5_000 * MS, "a first pause above the default cap lifts it");
    let full = Config::new(1).factor(3.0).first(MS).cap(9 * MS).jitter_within(7);
    let exponential = Curve::Exponential { factor: 3.0 };
    assert_eq!(of(full), Backoff { curve: exponential, first: MS, cap: 9 * MS, jitter: Jitter::Within(7) });
    assert_eq!(of(Config::new(1).fibonacci().jitter_equal()).jitter, Jitter::Equal);
    assert_eq!(of(Config::new(1).decorrelated()).curve, Curve::Decorrelated);
}

/// Short and long ones alike.
fn nanos() -> impl Strategy<Value = u64> {
    (any::<u64>(), 0..64_u32).prop_map(|(nanos, shorter)| nanos >> shorter)
}

fn curve() -> impl Strategy<Value = Curve> {
    prop_oneof![
        Just(Curve::Constant),
        Just(Curve::Linear),
        Just(Curve::Fibonacci),
        Just(Curve::Exponential { factor: 2.0 }),
        (1.0..20.0_f64).prop_map(|factor| Curve::Exponential { factor }),
        prop_oneof![Just(f64::NAN), Just(f64::INFINITY), Just(0.0), Just(-3.0), Just(f64::MAX)]
            .prop_map(|factor| Curve::Exponential { factor }),
        Just(Curve::Decorrelated),
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    prop_oneof![Just(Jitter::Full), Just(Jitter::Equal), Just(Jitter::None), nanos().prop_map(Jitter::Within)]
}

fn retries() -> impl Strategy<Value = u32> {
    let odd = [30, 31, 32, 62, 63, 64, 65, 92, 93, 94, 1_022, 1_023, 1_024, 1_025, u32::MAX - 1];
    prop_oneof![0..200_u32, prop::sample::select(odd.to_vec())]
}

/// The bound by multiplying on, in numbers that cannot run over before they are cut at the cap.
fn reference(curve: Curve, first: u64, cap: u64, retry: u32) -> u64 {
    let (mut bound, mut before, cap) = (u128::from(first), u128::from(first), u128::from(cap));
    for step in 1..=u128::from(retry) {
        if bound == 0 || bound >= cap {
            break;
        }
        (before, bound) = match curve {
            Curve::Linear => (bound, u128::from(first) * (step + 1)),
            Curve::Fibonacci => (bound, bound + before),
            Curve::Exponential { .. } => (bound, bound * 2),
            Curve::Constant | Curve::Decorrelated => break,
        };
    }
    u64::try_from(bound.min(cap)).expect("at most the cap")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_048))]

    #[test]
    fn no_pause_is_above_the_cap_whatever_is_asked(
        curve in curve(), jitter in jitter(), first in nanos(), cap in nanos(),
        retry in retries(), last in nanos(), roll in prop_oneof![0.0..=1.0, Just(f64::NAN), Just(-1.0), Just(7.0)],
    ) {
        let backoff = Backoff { curve, first, cap, jitter };
        prop_assert!(pause(backoff, retry, last, roll) <= cap);
        prop_assert!(pause(backoff, retry, last, 0.0) <= pause(backoff, retry, last, 1.0));
    }

    #[test]
    fn no_bound_falls_from_one_retry_to_the_next(
        curve in curve(), jitter in jitter(), first in nanos(), cap in nanos(), retry in retries(),
    ) {
        let backoff = Backoff { curve, first, cap, jitter };
        prop_assert!(pause(backoff, retry, 0, 1.0) <= pause(backoff, retry + 1, 0, 1.0));
    }

    #[test]
    fn every_curve_is_what_multiplying_on_gives(
        curve in prop::sample::select(vec![
            Curve::Constant, Curve::Linear, Curve::Fibonacci, Curve::Exponential { factor: 2.0 },
        ]),
        first in nanos(), cap in nanos(), retry in 0..2_000_u32,
    ) {
        let backoff = Backoff { curve, first, cap, jitter: Jitter::None };
        prop_assert_eq!(pause(backoff, retry, 0, 0.5), reference(curve, first, cap, retry));
    }

    #[test]
    fn any_factor_grows_as_multiplying_on_does_but_for_what_a_float_rounds(
        factor in 1.0..10.0_f64, first in 1_000..10_000_000_u64, retry in 0..60_u32,
    ) {
        let cap = 3_600_000_000_000;
        let backoff = Backoff { curve: Curve::Exponential { factor }, first, cap, jitter: Jitter::None };
        let grown = (0..retry).fold(first as f64, |grown, _| grown * factor).min(cap as f64);
        let drawn = pause(backoff, retry, 0, 0.5) as f64;
        prop_assert!((drawn - grown).abs() <= 1.0 + grown * 1e-9, "{drawn} for {grown}");
    }

    #[test]
    fn decorrelated_pauses_stay_between_first_and_cap_for_ever(
        first in 1..1_000_u64, cap in 1_000..100_000_u64, rolls in prop::collection::vec(0.0..=1.0, 1..100),
    ) {
        let backoff = Backoff { first, cap, ..plain(Curve::Decorrelated) };
        let mut last = 0;
        for (retry, roll) in (0..).zip(rolls) {
            let drawn = pause(backoff, retry, last, roll);
            prop_assert!(drawn >= first && drawn <= cap && drawn <= 3 * last.max(first));
            last = drawn;
        }
    }
}
