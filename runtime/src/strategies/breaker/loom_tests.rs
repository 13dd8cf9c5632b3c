//! Every interleaving of two or three threads around a change of state.
//!
//! Run with `RUSTFLAGS="--cfg watertight_loom" cargo test -p watertight --lib --release loom_`.
//!
//! Under loom every success is counted in the one shared lane, so counting is the contended case of what threads with
//! lanes of their own do. The clock is not asked: moments are made up.

use loom::model;
use loom::thread;

use super::{Admission, Breaker, Rules, Sign, State, Window};
use crate::base::clock::Moment;

const START: Moment = Moment::from_raw(0);
/// When a breaker that opened at the start lets a probe through for sure.
const AFTER: Moment = Moment::from_raw(1_000);
const ONE_FAILURE: Rules =
    Rules { window: Window::Calls(2), failures: 0.5, min_calls: 1, slow: None, cooldown: 1_000, probes: 1 };

fn new_breaker(rules: Rules) -> &'static Breaker {
    Box::leak(Box::new(Breaker::new("recs", rules)))
}

fn pass(breaker: &'static Breaker) -> Admission {
    breaker.admit(|| START).expect("it is closed")
}

/// Opened at the start, and its cooldown is over at `AFTER`.
fn new_opened(probes: u32) -> &'static Breaker {
    let breaker = new_breaker(Rules { probes, ..ONE_FAILURE });
    pass(breaker).settle(Sign::Failure, 0, || START);
    breaker
}

fn ask(breaker: &'static Breaker) -> Option<Admission> {
    breaker.admit(|| AFTER).ok()
}

fn succeed(admission: Admission) {
    admission.settle(Sign::Success, 0, || AFTER);
}

fn state(breaker: &'static Breaker) -> State {
    breaker.standing(START).state
}

#[test]
fn loom_of_two_that_come_at_the_end_of_a_cooldown_one_is_let_through() {
    model(|| {
        let breaker = new_opened(1);
        let other = thread::spawn(|| ask(breaker));
        let mine = ask(breaker);
        let theirs = other.join().expect("no panic");
        assert!(mine.is_some() != theirs.is_some());
        mine.or(theirs).into_iter().for_each(succeed);
        assert_eq!((state(breaker), breaker.standing(START).transitions), (State::Closed, [1, 1, 1]));
    });
}

#[test]
fn loom_of_three_that_come_at_the_end_of_a_cooldown_the_set_number_is_let_through() {
    let mut builder = model::Builder::new();
    builder.preemption_bound = Some(3); // without it ten seconds
    for probes in [1, 2] {
        builder.check(move || {
            let breaker = new_opened(probes);
            let others = [thread::spawn(|| ask(breaker)), thread::spawn(|| ask(breaker))];
            let mine = ask(breaker);
            let mut admitted: Vec<_> = mine.into_iter().collect();
            admitted.extend(others.into_iter().filter_map(|other| other.join().expect("no panic")));
            assert_eq!(admitted.len(), probes as usize);
            assert!(breaker.refuses(AFTER), "as many are out as may be");
            admitted.into_iter().for_each(succeed);
            assert_eq!(state(breaker), State::Closed);
        });
    }
}

#[test]
fn loom_a_probe_dropped_while_somebody_asks_is_theirs_or_the_next_ones() {
    model(|| {
        let breaker = new_opened(1);
        let probe = ask(breaker).expect("the first to come");
        let dropping = thread::spawn(|| drop(probe));
        let asked = ask(breaker);
        dropping.join().expect("no panic");
        let second = ask(breaker);
        assert!(asked.is_some() != second.is_some(), "one is out, and only one");
        asked.or(second).into_iter().for_each(succeed);
        assert_eq!(state(breaker), State::Closed);
    });
}

#[test]
fn loom_of_two_that_ask_for_a_probe_being_dropped_one_at_most_gets_it() {
    model(|| {
        let breaker = new_opened(1);
        let probe = ask(breaker).expect("the first to come");
        let dropping = thread::spawn(|| drop(probe));
        let other = thread::spawn(|| ask(breaker));
        let mine = ask(breaker);
        dropping.join().expect("no panic");
        let theirs = other.join().expect("no panic");
        assert!(mine.is_none() || theirs.is_none());
        let left = ask(breaker);
        assert_eq!(left.is_some(), mine.is_none() && theirs.is_none());
    });
}

#[test]
fn loom_a_late_success_never_counts_in_a_later_state() {
    model(|| {
        let breaker = new_breaker(ONE_FAILURE);
        let (late, failing) = (pass(breaker), pass(breaker));
        let other = thread::spawn(|| succeed(late));
        failing.settle(Sign::Failure, 0, || START);
        ask(breaker).into_iter().for_each(succeed);
        assert_eq!(state(breaker), State::Closed);
        // Counted in the cell that the late one writes to, too.
        succeed(pass(breaker));
        other.join().expect("no panic");
        assert_eq!((breaker.standing(START).seen.calls, breaker.standing(START).seen.failures), (1, 0));
    });
}

#[test]
fn loom_a_late_failure_never_counts_in_a_later_state() {
    model(|| {
        let breaker = new_breaker(ONE_FAILURE);
        let (late, failing) = (pass(breaker), pass(breaker));
        let other = thread::spawn(|| late.settle(Sign::Failure, 0, || START));
        failing.settle(Sign::Failure, 0, || START);
        let probe = ask(breaker).expect("opened by the one or the other");
        assert_eq!(state(breaker), State::HalfOpen);
        succeed(probe);
        other.join().expect("no panic");
        assert_eq!((state(breaker), breaker.standing(START).seen.calls), (State::Closed, 0));
        assert_eq!(breaker.standing(START).transitions, [1, 1, 1], "two failures at once open it once");
    });
}

#[test]
fn loom_a_success_in_the_moment_of_opening_does_not_keep_it_closed() {
    model(|| {
        let breaker = new_breaker(ONE_FAILURE);
        let (good, bad) = (pass(breaker), pass(breaker));
        let other = thread::spawn(|| succeed(good));
        bad.settle(Sign::Failure, 0, || START);
        other.join().expect("no panic");
        assert_eq!((state(breaker), breaker.standing(START).transitions), (State::Open, [1, 0, 0]));
        assert!(ask(breaker).is_some());
    });
}

#[test]
fn loom_no_result_is_lost_when_successes_and_a_failure_come_at_once() {
    model(|| {
        let breaker = new_breaker(Rules { window: Window::Calls(10), min_calls: 10, ..ONE_FAILURE });
        let [one, two, bad] = [(); 3].map(|()| pass(breaker));
        let others = [thread::spawn(|| succeed(one)), thread::spawn(|| succeed(two))];
        bad.settle(Sign::Failure, 0, || START);
        for other in others {
            other.join().expect("no panic");
        }
        assert_eq!((breaker.standing(START).seen.calls, breaker.standing(START).seen.failures), (3, 1));
    });
}

#[test]
fn loom_of_two_probes_that_end_at_once_the_failing_one_decides() {
    model(|| {
        let breaker = new_opened(2);
        let (good, bad) = (ask(breaker).expect("a probe"), ask(breaker).expect("another"));
        let other = thread::spawn(|| succeed(good));
        bad.settle(Sign::Failure, 0, || AFTER);
        other.join().expect("no panic");
        assert_eq!((state(breaker), breaker.standing(START).transitions), (State::Open, [2, 1, 0]));
        assert!(ask(breaker).is_none(), "a new cooldown has begun");
    });
}

#[test]
fn loom_isolating_wins_over_a_probe_that_succeeds_in_that_moment() {
    model(|| {
        let breaker = new_opened(1);
        let probe = ask(breaker).expect("a probe");
        let other = thread::spawn(|| succeed(probe));
        breaker.isolate(START);
        other.join().expect("no panic");
        assert_eq!(state(breaker), State::Isolated);
        assert!(ask(breaker).is_none());
    });
}

#[test]
fn loom_who_asks_while_it_closes_is_let_through_or_refused_as_half_open() {
    model(|| {
        let breaker = new_opened(1);
        let probe = ask(breaker).expect("a probe");
        let other = thread::spawn(|| succeed(probe));
        let asked = ask(breaker);
        other.join().expect("no panic");
        assert_eq!(state(breaker), State::Closed);
        // Let through, it is an ordinary call of the closed state: its failure is the first result in the window.
        if let Some(asked) = asked {
            asked.settle(Sign::Failure, 0, || AFTER);
            assert_eq!(breaker.standing(START).transitions, [2, 1, 1]);
        }
        assert!(!breaker.refuses(Moment::from_raw(2_000)));
    });
}

/// Parts of a hundred nanoseconds.
const TIMED: Rules = Rules { window: Window::Time(1_000), min_calls: 10, ..ONE_FAILURE };

#[test]
fn loom_by_time_no_result_is_lost_when_successes_and_a_failure_come_at_once() {
    let mut builder = model::Builder::new();
    builder.preemption_bound = Some(3); // three threads that each read ten cells
    builder.check(|| {
        let breaker = new_breaker(TIMED);
        let [one, two, bad] = [(); 3].map(|()| pass(breaker));
        let others = [thread::spawn(|| one.settle(Sign::Success, 0, || START)), thread::spawn(|| succeed(two))];
        bad.settle(Sign::Failure, 0, || Moment::from_raw(500));
        for other in others {
            other.join().expect("no panic");
        }
        let seen = breaker.standing(Moment::from_raw(999)).seen;
        assert_eq!((seen.calls, seen.failures), (2, 1), "the success after the window is not in it yet");
        let seen = breaker.standing(AFTER).seen;
        assert_eq!((seen.calls, seen.failures), (2, 1), "and that of its beginning has left it");
    });
}

#[test]
fn loom_by_time_a_late_success_never_counts_in_a_later_state() {
    let mut builder = model::Builder::new();
    builder.preemption_bound = Some(3); // without it twenty seconds
    builder.check(|| {
        let breaker = new_breaker(Rules { min_calls: 1, ..TIMED });
        let (late, failing) = (pass(breaker), pass(breaker));
        let other = thread::spawn(|| succeed(late));
        failing.settle(Sign::Failure, 0, || START);
        // A success that came first may be judged with the failure, and then one of two is half as well.
        ask(breaker).into_iter().for_each(succeed);
        assert_eq!(state(breaker), State::Closed);
        succeed(pass(breaker));
        other.join().expect("no panic");
        let seen = breaker.standing(AFTER).seen;
        assert_eq!((seen.calls, seen.failures), (1, 0));
    });
}

#[test]
fn loom_a_slow_answer_and_a_failure_at_once_are_two_results() {
    model(|| {
        let slow = super::Slow { at_least: 5, rate: 1.0 };
        let breaker = new_breaker(Rules { window: Window::Calls(9), min_calls: 9, slow: Some(slow), ..ONE_FAILURE });
        let (late, failing) = (pass(breaker), pass(breaker));
        let other = thread::spawn(|| late.settle(Sign::Success, 5, || START));
        failing.settle(Sign::Failure, 0, || START);
        other.join().expect("no panic");
        assert_eq!(breaker.standing(START).seen, super::Seen { calls: 2, failures: 1, slow: 1 });
    });
}

#[test]
fn loom_two_that_change_it_at_once_are_told_in_order_and_both() {
    use std::sync::{Arc, Mutex};
    let heard: Arc<Mutex<Vec<super::Change>>> = Arc::default();
    let notes = heard.clone();
    super::on_change("loom-told", move |change| notes.lock().expect("no panic").push(*change));
    model(move || {
        heard.lock().expect("no panic").clear();
        let breaker: &'static Breaker = Box::leak(Box::new(Breaker::new("loom-told", ONE_FAILURE)));
        let other = thread::spawn(|| breaker.isolate(START));
        breaker.isolate(START);
        breaker.reset(START);
        other.join().expect("no panic");
        let heard = heard.lock().expect("no panic");
        assert!(heard.windows(2).all(|pair| pair[0].to == pair[1].from), "{heard:?}");
        let changes: u64 = breaker.standing(START).transitions.iter().sum();
        assert_eq!(heard.len() as u64, changes, "each is told by the time both have returned");
    });
}
