//! The state machine alone, the counts, the breaker through its admissions, and both against reference models.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;

use super::decide::{Decision, Machine};
use super::mark::Tagged;
use super::window::Fault;
use super::{Admission, Breaker, Rules, Sign, State, Window};
use crate::base::clock::Moment;
use crate::call::Detail;

const COOLDOWN: u64 = 1_000;
const RULES: Rules =
    Rules { window: Window::Calls(10), failures: 0.5, min_calls: 4, slow: None, cooldown: COOLDOWN, probes: 1 };
const START: Moment = Moment::from_raw(0);
/// When a breaker that opened at the start lets a probe through for sure.
const AFTER: Moment = Moment::from_raw(1_000);

const FAILED: Fault = Fault { failed: true, slow: false };

/// A machine, and the successes that its breaker would have counted.
struct Fed {
    machine: Machine,
    successes: u64,
}

impl Fed {
    fn new(rules: Rules) -> Self {
        Self { machine: Machine::new(rules), successes: 0 }
    }

    /// Reports results, each `s` or `f`, in the closed state's generation; says what state that leads to.
    fn feed(&mut self, results: &str) -> State {
        let generation = self.machine.generation();
        for result in results.chars() {
            match result {
                's' => {
                    self.successes += 1;
                    self.machine.success(generation, None, self.successes, START, 0.0);
                }
                _ => self.machine.fault(FAILED, generation, None, self.successes, START, 0.0),
            }
        }
        self.machine.state()
    }
}

fn feed(rules: Rules, results: &str) -> State {
    Fed::new(rules).feed(results)
}

/// Opened at the start, for the whole cooldown.
fn opened(rules: Rules) -> Machine {
    let mut machine = Machine::new(Rules { window: Window::Calls(1), min_calls: 1, failures: 1.0, ..rules });
    machine.fault(FAILED, 0, None, 0, START, 0.0);
    assert_eq!(machine.state(), State::Open);
    machine.set_rules(rules, START);
    machine
}

/// Half-open, with as many probes out as it gives; their numbers.
fn probing(rules: Rules) -> (Machine, Vec<u32>) {
    let mut machine = opened(rules);
    let mut numbers = Vec::new();
    while let Decision::Probe { number, .. } = machine.admit(AFTER) {
        numbers.push(number);
    }
    (machine, numbers)
}

mod closed;

mod open;

mod half_open;

mod by_hand;

mod tagged;

fn new_breaker(rules: Rules) -> &'static Breaker {
    Box::leak(Box::new(Breaker::new("recs", rules)))
}

/// An admission that the closed state gives without looking at the clock.
fn pass(breaker: &'static Breaker) -> Admission {
    breaker.admit(|| unreachable!("a closed breaker needs no clock")).expect("it is closed")
}

fn fail(breaker: &'static Breaker) {
    pass(breaker).settle(Sign::Failure, 0, || START);
}

/// Opened at the start by one failure, and its cooldown is over at `AFTER`.
fn new_opened(probes: u32) -> &'static Breaker {
    let breaker = new_breaker(Rules { window: Window::Calls(1), min_calls: 1, failures: 1.0, probes, ..RULES });
    fail(breaker);
    assert_eq!(breaker.standing(START).state, State::Open);
    breaker
}

fn ask(breaker: &'static Breaker) -> Option<Admission> {
    breaker.admit(|| AFTER).ok()
}

#[test]
fn while_all_is_well_no_success_asks_for_the_time() {
    let breaker = new_breaker(RULES);
    for _ in 0..100 {
        pass(breaker).settle(Sign::Success, 0, || unreachable!("nothing to judge"));
    }
    assert_eq!(breaker.standing(START).seen.calls, 10, "a full window");
}

#[test]
fn successes_of_many_threads_are_all_counted_once_they_have_ended() {
    let breaker = new_breaker(Rules { window: Window::Calls(100_000), min_calls: 100_000, ..RULES });
    let threads: Vec<_> = (0..8)
        .map(|_| std::thread::spawn(|| (0..1_000).for_each(|_| pass(breaker).settle(Sign::Success, 0, || START))))
        .collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    fail(breaker);
    let standing = breaker.standing(START);
    assert_eq!((standing.seen.calls, standing.seen.failures), (8_001, 1));
}

#[test]
fn an_admission_dropped_without_a_result_counts_for_nothing() {
    let breaker = new_breaker(RULES);
    (0..100).for_each(|_| drop(pass(breaker)));
    assert_eq!((breaker.standing(START).state, breaker.standing(START).seen.calls), (State::Closed, 0));
}

#[test]
fn a_refusal_says_who_refused_and_when_to_come_back() {
    let breaker = new_opened(1);
    let refused = breaker.admit(|| Moment::from_raw(400)).expect_err("open");
    let Detail::Open { name: "recs", retry_after, isolated: false } = refused else { panic!("{refused:?}") };
    assert!((500..=600).contains(&retry_after), "{retry_after}");
    breaker.isolate(START);
    let refused = breaker.admit(|| AFTER).expect_err("isolated");
    assert!(matches!(refused, Detail::Open { isolated: true, .. }), "{refused:?}");
    breaker.reset(START);
    drop(pass(breaker));
}

#[test]
fn asking_whether_it_refuses_takes_no_probe() {
    let breaker = new_opened(1);
    assert!(breaker.refuses(START));
    assert!(!breaker.refuses(AFTER));
    let _probe = ask(breaker).expect("the probe is still there");
    assert!(breaker.refuses(AFTER), "it is out");
    assert!(ask(breaker).is_none());
    assert!(!new_breaker(RULES).refuses(AFTER));
}

#[test]
fn probes_that_succeed_close_it_and_one_that_fails_does_not() {
    let breaker = new_opened(2);
    let probes = [ask(breaker), ask(breaker)];
    assert!(ask(breaker).is_none());
    for probe in probes {
        assert_eq!(breaker.standing(START).state, State::HalfOpen);
        probe.expect("two are let out").settle(Sign::Success, 0, || AFTER);
    }
    assert_eq!((breaker.standing(START).state, breaker.standing(START).seen.calls), (State::Closed, 0));

    let breaker = new_opened(1);
    ask(breaker).expect("a probe").settle(Sign::Failure, 0, || AFTER);
    assert_eq!(breaker.standing(START).transitions, [2, 1, 0]);
    assert!(ask(breaker).is_none(), "a new cooldown has begun");
}

#[test]
fn a_probe_that_is_dropped_or_panics_gives_its_place_back() {
    let breaker = new_opened(1);
    drop(ask(breaker).expect("a probe"));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _probe = ask(breaker).expect("given back");
        assert!(ask(breaker).is_none());
        panic!("the caller's");
    }));
    assert!(panicked.is_err());
    ask(breaker).expect("given back").settle(Sign::Success, 0, || AFTER);
    assert_eq!((breaker.standing(START).state, breaker.standing(START).transitions), (State::Closed, [1, 1, 1]));
}

#[test]
fn results_of_before_it_opened_count_for_nothing_after_it_closed() {
    let breaker = new_breaker(Rules { min_calls: 1, window: Window::Calls(1), failures: 1.0, ..RULES });
    let (late_success, late_failure) = (pass(breaker), pass(breaker));
    fail(breaker);
    ask(breaker).expect("a probe").settle(Sign::Success, 0, || AFTER);
    late_failure.settle(Sign::Failure, 0, || AFTER);
    late_success.settle(Sign::Success, 0, || AFTER);
    assert_eq!((breaker.standing(START).state, breaker.standing(START).seen.calls), (State::Closed, 0));
}

#[test]
fn new_rules_take_effect_without_losing_what_was_seen() {
    let breaker = new_breaker(RULES);
    fail(breaker);
    (0..3).for_each(|_| pass(breaker).settle(Sign::Success, 0, || START));
    assert_eq!(breaker.standing(START).state, State::Closed, "one of four, and no success is looked at any more");
    breaker.set_rules(Rules { failures: 0.2, ..RULES }, START);
    assert_eq!(breaker.rules().failures.to_bits(), 0.2_f64.to_bits());
    pass(breaker).settle(Sign::Success, 0, || START);
    assert_eq!(breaker.standing(START).state, State::Open, "one of five, and it was a success that made it five");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// The model keeps the last results as a list and counts them afresh after each.
    #[test]
    fn it_opens_at_the_very_result_at_which_a_plain_list_says_so(
        (window, min_calls) in (1..40_usize).prop_flat_map(|window| (Just(window), 1..=window)),
        percent in 1..=100_usize,
        results in prop::collection::vec(prop::bool::weighted(0.6), 1..300),
    ) {
        let breaker = new_breaker(Rules {
            window: Window::Calls(u32::try_from(window).expect("small")),
            min_calls: u32::try_from(min_calls).expect("small"),
            failures: percent as f64 / 100.0,
            ..RULES
        });
        let mut list = VecDeque::new();
        for success in results {
            pass(breaker).settle(if success { Sign::Success } else { Sign::Failure }, 0, || START);
            list.push_back(success);
            if list.len() > window {
                list.pop_front();
            }
            let failures = list.iter().filter(|success| !**success).count();
            let opens = list.len() >= min_calls && failures * 100 >= percent * list.len();
            let standing = breaker.standing(START);
            if opens {
                prop_assert_eq!(standing.state, State::Open);
                breaker.reset(START);
                list.clear();
            } else {
                prop_assert_eq!(standing.state, State::Closed);
                prop_assert_eq!((standing.seen.calls, standing.seen.failures), (list.len() as u64, failures as u64));
            }
        }
    }
}

mod any_events;
