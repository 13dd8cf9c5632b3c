//! A bucket whose share changes: what it holds, what comes in, and what it says.

use std::collections::HashMap;
use std::task::{Context, Waker};

use proptest::prelude::*;

use super::*;
use crate::base::share::Share;

const MS: u64 = 1_000_000;

fn at(millis: u64) -> Moment {
    Moment::from_raw(0).plus(millis * MS)
}

fn shared(count: u32, burst: u32, share: Share) -> &'static Rate {
    let rate: &'static Rate = Box::leak(Box::new(Rate::new("api", Figures { count, unit: 1_000 * MS, burst })));
    rate.begin_sharing(share);
    rate
}

/// How many tokens of so many asked for are there.
fn takes(rate: &'static Rate, bucket: Option<Place>, now: u64, times: usize) -> usize {
    let ask = |_: &usize| match rate.ask(bucket, at(now), 0, Moment::NEVER, &Context::from_waker(Waker::noop())) {
        Asked::Token(token) => {
            token.spend();
            true
        }
        _ => false,
    };
    (0..times).filter(ask).count()
}

#[test]
fn a_share_is_counted_in_parts_of_a_token_so_that_fifty_can_have_some_of_ten() {
    let rate = shared(10, 10, Share::Part(50));
    assert_eq!((takes(rate, None, 0, 5), takes(rate, None, 4_990, 5), takes(rate, None, 5_000, 5)), (1, 0, 1));
    assert_eq!(
        Figures { count: u32::MAX, unit: 5_000_000 * MS, burst: 1 }.grain(),
        1,
        "where the numbers hold no more"
    );
}

#[test]
fn a_bucket_that_becomes_larger_is_not_fuller_for_it() {
    let rate = shared(100, 100, Share::Part(10));
    assert_eq!(takes(rate, None, 0, 100), 10);
    rate.set_share(Share::Leased(100_000), at(0));
    assert_eq!(takes(rate, None, 0, 100), 0, "what others have given up they may have spent");
    assert_eq!(takes(rate, None, 500, 100), 50, "and from there on at the new pace");
}

#[test]
fn a_bucket_that_becomes_smaller_holds_no_more_than_it_may() {
    let rate = shared(100, 100, Share::Leased(100_000));
    rate.set_share(Share::Leased(20_000), at(0));
    assert_eq!(takes(rate, None, 0, 100), 20);
    assert_eq!(takes(rate, None, 100, 100), 2);
    rate.set_share(Share::Leased(0), at(100));
    assert_eq!(takes(rate, None, 200, 100), 0);
}

#[test]
fn a_refusal_names_the_limit_and_a_unit_as_the_longest_to_wait() {
    let rate = shared(100, 100, Share::Leased(0));
    assert_eq!(takes(rate, None, 0, 100), 1, "the one that a bucket holds at least");
    match rate.ask(None, at(0), 0, Moment::NEVER, &Context::from_waker(Waker::noop())) {
        Asked::Refused(Detail::Limited { count, unit, retry_after, .. }) => {
            assert_eq!((count, unit, retry_after), (100, 1_000 * MS, 1_000 * MS));
        }
        _ => panic!("not refused"),
    }
}

#[test]
fn a_change_of_the_limit_keeps_the_share() {
    let rate = shared(100, 100, Share::Part(10));
    rate.set_figures(Figures { count: 200, unit: 1_000 * MS, burst: 50 });
    assert_eq!((rate.limit().count, rate.figures().count, rate.figures().burst), (200, 20_000, 5));
}

#[test]
fn what_is_wanted_is_what_was_taken_and_whether_somebody_was_turned_away() {
    let rate = shared(100, 100, Share::Part(10));
    takes(rate, None, 0, 7);
    assert_eq!(rate.take_pace(), Pace { taken: 7, pressed: false, grains: 10_000 });
    drop(rate.ask(None, at(0), 0, Moment::NEVER, &Context::from_waker(Waker::noop())));
    assert_eq!(rate.take_pace(), Pace { taken: 0, pressed: false, grains: 10_000 }, "given back is not taken");
    takes(rate, None, 0, 7);
    assert_eq!(rate.take_pace(), Pace { taken: 3, pressed: true, grains: 10_000 });
    assert_eq!(rate.take_pace(), Pace { taken: 0, pressed: false, grains: 10_000 });
}

#[test]
fn a_key_has_parts_of_its_own_and_the_others_have_what_all_have() {
    let rate = shared(100, 100, Share::Part(10));
    let [one, two] = [1_u64, 2].map(|key| rate.hold(key.into(), || "key".into(), || key));
    assert_eq!((takes(rate, Some(one), 0, 50), takes(rate, Some(two), 0, 50)), (10, 10));
    let mut paces = rate.key_paces();
    paces.sort_by_key(|it| it.wide);
    let pace = Pace { taken: 10, pressed: true, grains: 10_000 };
    assert_eq!(paces, [1, 2].map(|wide| KeyPace { wide, pace, leased: false }));
    rate.give(&HashMap::from([(1, 50_000)]), at(0));
    assert_eq!((takes(rate, Some(one), 1_000, 99), takes(rate, Some(two), 1_000, 99)), (50, 10));
    assert_eq!(rate.leased(), 1);
    rate.give(&HashMap::new(), at(1_000));
    assert_eq!((takes(rate, Some(one), 2_000, 99), rate.leased()), (10, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Shares that add up to the whole, moved about at every step, and everybody takes what is there.
    #[test]
    fn over_all_processes_no_more_is_taken_than_the_rate_allows(
        moves in prop::collection::vec((0..4_usize, 0..4_usize, 0..60_000_u32, 1..400_u64), 1..60),
    ) {
        let mut shares = [25_000_u32; 4];
        let rates = shares.map(|share| shared(100, 20, Share::Leased(share)));
        let (mut now, mut taken) = (0, 0);
        for (from, to, much, wait) in moves {
            taken += rates.iter().map(|rate| takes(rate, None, now, 200)).sum::<usize>();
            now += wait;
            let much = much.min(shares[from]);
            shares[from] -= much;
            shares[to] += much;
            for (rate, share) in rates.iter().zip(shares) {
                rate.set_share(Share::Leased(share), at(now));
            }
            let most = 20.0 + 4.0 + 100.0 * now as f64 / 1_000.0 + 1.0;
            prop_assert!(taken as f64 <= most, "{taken} taken, {most} at most after {now} ms");
        }
    }
}
