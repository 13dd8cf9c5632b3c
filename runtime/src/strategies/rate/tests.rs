//! The arithmetic against a plain model, and the line in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Wake, Waker};

use proptest::prelude::*;

use super::decide::{Tokens, moment, stamp};
use super::*;

const MS: u64 = 1_000_000;

fn per_second(count: u32, burst: u32) -> Figures {
    Figures { count, unit: 1_000 * MS, burst }
}

fn at(millis: u64) -> Moment {
    Moment::from_raw(0).plus(millis * MS)
}

/// A waker that counts.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn rate(figures: Figures) -> &'static Rate {
    Box::leak(Box::new(Rate::new("api", figures)))
}

impl Asked {
    fn token(self) -> Token {
        match self {
            Self::Token(token) => token,
            Self::Waiting(place) => panic!("waits until {:?}", place.due()),
            Self::Refused(why) => panic!("refused: {why:?}"),
        }
    }

    fn place(self) -> Waiting {
        match self {
            Self::Waiting(place) => place,
            Self::Token(_) => panic!("a token was there"),
            Self::Refused(why) => panic!("refused: {why:?}"),
        }
    }

    /// Milliseconds after which to come back.
    fn refused(self) -> u64 {
        match self {
            Self::Refused(Detail::Limited { retry_after, .. }) => retry_after / MS,
            _ => panic!("not refused"),
        }
    }
}

fn ask(rate: &'static Rate, now: u64, wait: u64) -> Asked {
    rate.ask(None, at(now), wait * MS, Moment::NEVER, &Context::from_waker(Waker::noop()))
}

/// Asks so often at one moment and spends what it gets: 0 for a token, else the milliseconds to come back after.
fn asks(rate: &'static Rate, now: u64, times: usize) -> Vec<u64> {
    let one = |_| match ask(rate, now, 0) {
        Asked::Token(token) => {
            token.spend();
            0
        }
        other => other.refused(),
    };
    (0..times).map(one).collect()
}

#[test]
fn stamps_keep_order_and_come_back() {
    let moments = [Moment::LONG_AGO, Moment::from_raw(-5), Moment::from_raw(0), Moment::from_raw(7), Moment::NEVER];
    assert!(moments.map(stamp).is_sorted());
    assert_eq!(stamp(Moment::LONG_AGO), 0);
    for one in moments {
        assert_eq!(moment(stamp(one)), one);
    }
}

/// The vectors of SmallRye's smooth window, with a bucket that starts full where theirs starts with one token.
#[test]
fn a_burst_is_there_at_once_and_comes_back_at_an_even_pace() {
    let two = rate(Figures { count: 2, unit: 100 * MS, burst: 2 });
    assert_eq!(asks(two, 0, 3), [0, 0, 50]);
    assert_eq!(asks(two, 50, 2), [0, 50]);
    assert_eq!(asks(two, 100, 2), [0, 50]);
    let four = rate(Figures { count: 4, unit: 100 * MS, burst: 4 });
    assert_eq!(asks(four, 0, 5), [0, 0, 0, 0, 25]);
    assert_eq!(asks(four, 50, 3), [0, 0, 25]);
    assert_eq!(asks(four, 100, 3), [0, 0, 25]);
    assert_eq!(asks(four, 200, 5), [0, 0, 0, 0, 25], "a burst up to the limit after idle time");
}

#[test]
fn refused_calls_use_nothing_up() {
    let rate = rate(Figures { count: 2, unit: 100 * MS, burst: 2 });
    assert_eq!(asks(rate, 0, 3), [0, 0, 50]);
    assert!(asks(rate, 20, 1_000).iter().all(|&wait| wait == 30), "a caller that hammers is told the same moment");
    assert_eq!(asks(rate, 50, 2), [0, 50]);
    assert_eq!(asks(rate, 120, 1), [0]);
    assert_eq!(asks(rate, 190, 2), [0, 10]);
    assert_eq!(asks(rate, 210, 2), [0, 40]);
    assert_eq!(asks(rate, 290, 2), [0, 10]);
}

#[test]
fn the_moment_named_is_exact_to_the_nanosecond() {
    let rate = rate(Figures { count: 3, unit: 1_000 * MS, burst: 1 });
    ask(rate, 0, 0).token().spend();
    let Asked::Refused(Detail::Limited { retry_after, .. }) = ask(rate, 1, 0) else { panic!("refused") };
    let cx = &Context::from_waker(Waker::noop());
    let almost = at(1).plus(retry_after - 1);
    assert!(matches!(
        rate.ask(None, almost, 0, Moment::NEVER, cx),
        Asked::Refused(Detail::Limited { retry_after: 1, .. })
    ));
    rate.ask(None, at(1).plus(retry_after), 0, Moment::NEVER, cx).token().spend();
}

#[test]
fn a_token_that_is_given_back_is_there_again() {
    let rate = rate(per_second(1, 1));
    for _ in 0..100 {
        drop(ask(rate, 0, 0).token());
    }
    ask(rate, 0, 0).token().spend();
    assert_eq!(ask(rate, 0, 0).refused(), 1_000);
}

#[test]
fn a_token_that_has_come_back_by_itself_is_not_given_back_again() {
    let one = rate(per_second(1, 1));
    let held = ask(one, 0, 0).token();
    ask(one, 1_000, 0).token().spend();
    drop(held);
    assert_eq!(ask(one, 1_000, 0).refused(), 1_000);
    // With room for two, a token from before the bucket was almost full again would make a third in the time for two.
    let two = rate(Figures { count: 1, unit: 10 * MS, burst: 2 });
    let held = ask(two, 0, 0).token();
    ask(two, 5, 0).token().spend();
    drop(held);
    assert_eq!(asks(two, 6, 1), [4]);
}

#[test]
fn those_who_wait_are_served_in_order_at_the_moment_they_were_told() {
    let rate = rate(per_second(10, 1));
    ask(rate, 0, 0).token().spend();
    let mut places: Vec<_> = (1..=5).map(|_| ask(rate, 0, 10_000).place()).collect();
    for (place, due) in places.iter().zip([100, 200, 300, 400, 500]) {
        assert_eq!(place.due(), at(due));
    }
    assert_eq!(rate.waiting(), 5);
    assert_eq!(ask(rate, 50, 0).refused(), 550, "nobody gets in front");
    let cx = Context::from_waker(Waker::noop());
    for round in 1..=5 {
        let now = at(round * 100);
        // The ones behind ask first, and go on waiting.
        for place in places.iter_mut().skip(1) {
            assert!(matches!(place.look(now, &cx), Looked::Until(_)));
        }
        let Looked::Token(token) = places.remove(0).look(now, &cx) else { panic!("due") };
        token.spend();
    }
    assert_eq!(rate.waiting(), 0);
    assert_eq!(ask(rate, 500, 0).refused(), 100);
}

#[test]
fn a_wait_that_cannot_end_in_time_is_not_begun() {
    let rate = rate(per_second(10, 1));
    let cx = Context::from_waker(Waker::noop());
    ask(rate, 0, 0).token().spend();
    assert_eq!(ask(rate, 0, 99).refused(), 100);
    let _first = ask(rate, 0, 100).place();
    assert_eq!(ask(rate, 0, 199).refused(), 200);
    let deadline = |millis| rate.ask(None, at(0), 1_000 * MS, at(millis), &cx);
    assert_eq!(deadline(200).refused(), 200, "a body that starts at its deadline has no time");
    drop(deadline(201).place());
    assert_eq!(rate.waiting(), 1);
}

#[test]
fn whoever_is_brought_forward_is_woken() {
    let rate = rate(per_second(10, 1));
    ask(rate, 0, 0).token().spend();
    let woken: Vec<Arc<Woken>> = (0..3).map(|_| Arc::default()).collect();
    let mut places: Vec<_> = woken
        .iter()
        .map(|woken| {
            let waker = Waker::from(Arc::clone(woken));
            rate.ask(None, at(0), 10_000 * MS, Moment::NEVER, &Context::from_waker(&waker)).place()
        })
        .collect();
    let counts = || woken.iter().map(|woken| woken.0.load(Ordering::Relaxed)).collect::<Vec<_>>();
    drop(places.remove(1));
    assert_eq!(counts(), [0, 1, 1], "those behind; its own waker went with it");
    let Looked::Until(due) = places[1].look(at(10), &Context::from_waker(Waker::noop())) else { panic!("not yet") };
    assert_eq!(due, at(200));
}

#[test]
fn a_token_given_back_wakes_the_line() {
    let rate = rate(per_second(10, 1));
    let held = ask(rate, 0, 0).token();
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut place = rate.ask(None, at(0), 1_000 * MS, Moment::NEVER, &Context::from_waker(&waker)).place();
    drop(held);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    let Looked::Token(token) = place.look(at(0), &Context::from_waker(&waker)) else { panic!("there") };
    drop(token);
    drop(place);
    ask(rate, 0, 0).token().spend();
}

#[test]
fn waiters_that_nobody_polls_hold_up_the_line_for_their_own_patience_only() {
    let rate = rate(per_second(10, 1));
    let cx = Context::from_waker(Waker::noop());
    ask(rate, 0, 0).token().spend();
    let forgotten = ask(rate, 0, 150).place();
    let mut behind = ask(rate, 0, 250).place();
    assert!(matches!(behind.look(at(200), &cx), Looked::Until(due) if due == at(250)));
    assert!(matches!(behind.look(at(250), &cx), Looked::InVain(Detail::Limited { .. })));
    drop((forgotten, behind));
    ask(rate, 250, 0).token().spend();
}

#[test]
fn figures_change_without_losing_what_is_owed() {
    let rate = rate(per_second(10, 10));
    assert_eq!(asks(rate, 0, 11)[9..], [0, 100]);
    rate.set_figures(per_second(1, 1));
    assert_eq!(asks(rate, 999, 2), [1, 1]);
    assert_eq!(asks(rate, 1_000, 2), [0, 1_000]);
}

#[derive(Clone, Debug)]
enum Op {
    Pass(u64),
    Take,
    Spend(usize),
    GiveBack(usize),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0u64..30).prop_map(Op::Pass),
        4 => Just(Op::Take),
        2 => any::<usize>().prop_map(Op::Spend),
        2 => any::<usize>().prop_map(Op::GiveBack),
    ]
}

/// What a bucket comes to that gives so many tokens and no others.
fn replay(taken: &[u64], interval: u64) -> u64 {
    taken.iter().fold(0, |due, &at| due.max(at) + interval)
}

proptest! {
    /// A bucket that has had tokens back is the bucket from which they were never taken, and what is kept of it never
    /// exceeds the burst and one for each interval, in whatever window.
    #[test]
    fn it_is_as_if_what_was_given_back_had_never_been_taken(
        burst in 1u32..6,
        ops in prop::collection::vec(op(), 1..120),
    ) {
        let figures = Figures { count: 1, unit: 10, burst };
        let tokens = Tokens::full();
        let mut now = 1_000;
        let mut kept: Vec<u64> = Vec::new();
        let mut out: Vec<u64> = Vec::new();
        let mut last = 0;
        for op in ops {
            match op {
                Op::Pass(nanos) => now += nanos,
                Op::Take => {
                    let due = tokens.due_for(figures, 0);
                    let taken = tokens.take(figures, now);
                    prop_assert_eq!(taken, if due <= now { Ok(()) } else { Err(due) });
                    if taken.is_ok() {
                        kept.push(now);
                        out.push(now);
                        last = now;
                    }
                }
                Op::Spend(which) if !out.is_empty() => {
                    out.swap_remove(which % out.len());
                    tokens.spend();
                }
                Op::GiveBack(which) if !out.is_empty() => {
                    let taken = out.swap_remove(which % out.len());
                    let given = tokens.give_back(figures, taken);
                    prop_assert!(given || taken != last, "the last one taken can always be given back");
                    if given {
                        let place = kept.iter().rposition(|&at| at == taken).expect("kept so far");
                        kept.remove(place);
                    }
                }
                Op::Spend(_) | Op::GiveBack(_) => {}
            }
            let tolerance = figures.tolerance();
            prop_assert_eq!(tokens.due_for(figures, 0).max(now), replay(&kept, 10).saturating_sub(tolerance).max(now));
        }
        for (first, from) in kept.iter().enumerate() {
            for (count, until) in kept[first..].iter().enumerate() {
                prop_assert!((count as u64) < u64::from(burst) + (until - from) / 10, "counted from 0");
            }
        }
    }
}
