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

mod closed {
    use super::*;

    #[test]
    fn it_opens_at_exactly_the_share_and_not_one_failure_below() {
        for (share, calls, needed) in
            [(0.5, 4, 2), (0.1, 30, 3), (0.3, 10, 3), (0.07, 100, 7), (2.0 / 3.0, 3, 2), (0.01, 100, 1), (1.0, 5, 5)]
        {
            let rules = Rules { window: Window::Calls(calls), min_calls: calls, failures: share, ..RULES };
            let results = |failures: usize| "s".repeat(calls as usize - failures) + &"f".repeat(failures);
            assert_eq!(feed(rules, &results(needed - 1)), State::Closed, "{share} of {calls}");
            assert_eq!(feed(rules, &results(needed)), State::Open, "{share} of {calls}");
            let failures_first = |failures: usize| "f".repeat(failures) + &"s".repeat(calls as usize - failures);
            assert_eq!(feed(rules, &failures_first(needed - 1)), State::Closed, "{share} of {calls}");
            assert_eq!(feed(rules, &failures_first(needed)), State::Open, "{share} of {calls}");
        }
    }

    #[test]
    fn below_the_minimum_of_calls_nothing_is_judged() {
        let rules = Rules { min_calls: 20, window: Window::Calls(100), ..RULES };
        assert_eq!(feed(rules, &"f".repeat(19)), State::Closed);
        assert_eq!(feed(rules, &"f".repeat(20)), State::Open);
    }

    #[test]
    fn the_success_that_makes_the_share_countable_opens_it() {
        let mut fed = Fed::new(RULES);
        assert!(!fed.machine.mark().watches_successes(), "without a failure no success can decide");
        assert_eq!(fed.feed("ffs"), State::Closed);
        assert!(fed.machine.mark().watches_successes());
        assert_eq!(fed.feed("s"), State::Open, "two of four");
    }

    #[test]
    fn once_countable_a_success_is_not_asked_about_again() {
        let mut fed = Fed::new(RULES);
        assert_eq!(fed.feed("fsss"), State::Closed);
        assert!(!fed.machine.mark().watches_successes());
    }

    #[test]
    fn the_window_holds_the_last_results_and_no_more() {
        let rules = Rules { window: Window::Calls(5), min_calls: 5, failures: 0.6, ..RULES };
        let mut fed = Fed::new(rules);
        assert_eq!(fed.feed("ffssssff"), State::Closed, "two of the last five, though four of eight");
        assert_eq!((fed.machine.seen(4, START).failures, fed.machine.seen(4, START).calls), (2, 5));
        assert_eq!(fed.feed("f"), State::Open, "three of the last five");
        assert_eq!(feed(rules, "ffsssfssfssfsfs"), State::Closed, "never three in a row of five");
    }

    #[test]
    fn closing_forgets_every_result() {
        let mut machine = opened(RULES);
        machine.reset(START);
        let mut fed = Fed { machine, successes: 0 };
        assert_eq!(fed.feed("fff"), State::Closed);
        assert_eq!(fed.machine.seen(0, START).calls, 3);
    }

    #[test]
    fn new_rules_judge_the_next_result_whichever_it_is() {
        let strict = Rules { min_calls: 2, ..RULES };
        for next in ["s", "f"] {
            let mut fed = Fed::new(RULES);
            assert_eq!(fed.feed("ff"), State::Closed);
            fed.machine.set_rules(strict, START);
            assert_eq!(fed.machine.state(), State::Closed);
            assert!(fed.machine.mark().watches_successes());
            assert_eq!(fed.feed(next), State::Open, "after {next}");
        }
        let mut fed = Fed::new(Rules { min_calls: 10, ..RULES });
        assert_eq!(fed.feed("ffffssss"), State::Closed);
        fed.machine.set_rules(Rules { window: Window::Calls(4), min_calls: 4, ..RULES }, START);
        assert_eq!(fed.feed("s"), State::Closed, "a shorter window forgets the failures");
        let mut fed = Fed::new(RULES);
        fed.machine.set_rules(strict, START);
        fed.feed("s");
        assert!(!fed.machine.mark().watches_successes(), "settled by the first, without a failure");
    }
}

mod open {
    use super::*;

    fn until(cooldown: u64, roll: f64) -> u64 {
        let mut machine =
            Machine::new(Rules { window: Window::Calls(1), min_calls: 1, failures: 1.0, cooldown, ..RULES });
        machine.fault(FAILED, 0, None, 0, START, roll);
        machine.shut_until().since(START)
    }

    #[test]
    fn a_cooldown_lasts_its_whole_length_or_up_to_a_tenth_less() {
        assert_eq!([0.0, 0.5, 1.0].map(|roll| until(1_000, roll)), [1_000, 950, 900]);
    }

    proptest! {
        #[test]
        fn no_roll_takes_a_cooldown_out_of_its_bounds(cooldown in 1..1_u64 << 50, roll in 0.0..=1.0) {
            let lasts = until(cooldown, roll);
            prop_assert!(lasts <= cooldown);
            // One nanosecond, or what a float of that size cannot tell.
            prop_assert!(lasts >= cooldown - cooldown / 10 - 1, "{lasts}");
        }
    }

    #[test]
    fn it_refuses_to_the_last_nanosecond_of_the_cooldown_and_then_asks() {
        let mut machine = opened(RULES);
        assert_eq!(machine.admit(Moment::from_raw(999)), Decision::Refuse { until: AFTER });
        assert_eq!(machine.state(), State::Open);
        assert_eq!(machine.admit(AFTER), Decision::Probe { generation: 2, number: 0 });
        assert_eq!(machine.state(), State::HalfOpen);
    }

    #[test]
    fn results_that_come_in_while_it_is_open_decide_nothing() {
        let mut machine = opened(RULES);
        machine.fault(FAILED, 0, None, 0, AFTER, 0.0);
        machine.success(0, None, 1, AFTER, 0.0);
        machine.fault(FAILED, 1, None, 0, AFTER, 0.0);
        machine.success(1, None, 1, AFTER, 0.0);
        assert_eq!((machine.state(), machine.generation(), machine.shut_until()), (State::Open, 1, AFTER));
    }
}

mod half_open {
    use super::*;

    const THREE: Rules = Rules { probes: 3, ..RULES };
    const LEASE_END: Moment = Moment::from_raw(2_000);

    #[test]
    fn exactly_the_set_number_of_probes_is_out() {
        for probes in [1, 2, 7] {
            let rules = Rules { probes, ..RULES };
            let (mut machine, numbers) = probing(rules);
            assert_eq!(numbers, (0..probes).collect::<Vec<_>>());
            assert_eq!(machine.admit(AFTER), Decision::Refuse { until: LEASE_END });
            assert_eq!(machine.shut_until(), LEASE_END, "those who only read see it too");
        }
    }

    #[test]
    fn it_closes_when_all_probes_have_succeeded_and_lets_no_other_out_before() {
        let (mut machine, numbers) = probing(THREE);
        let mut left = numbers.len();
        for number in numbers {
            assert_eq!(machine.state(), State::HalfOpen, "{left} probes are still out");
            assert!(matches!(machine.admit(AFTER), Decision::Refuse { .. }), "as many as are still needed are out");
            machine.success(2, Some(number), 0, AFTER, 0.0);
            left -= 1;
        }
        assert_eq!((machine.state(), machine.transitions()), (State::Closed, [1, 1, 1]));
        assert_eq!(machine.shut_until(), Moment::LONG_AGO);
    }

    #[test]
    fn one_probe_that_fails_opens_it_again_for_a_whole_cooldown() {
        let (mut machine, numbers) = probing(THREE);
        machine.success(2, Some(numbers[1]), 0, AFTER, 0.0);
        machine.fault(FAILED, 2, Some(numbers[0]), 0, AFTER, 0.0);
        assert_eq!((machine.state(), machine.shut_until()), (State::Open, LEASE_END));
        machine.success(2, Some(numbers[2]), 0, AFTER, 0.0);
        assert_eq!((machine.state(), machine.transitions()), (State::Open, [2, 1, 0]));
    }

    #[test]
    fn a_probe_given_back_is_given_to_the_next() {
        let (mut machine, numbers) = probing(THREE);
        machine.give_back(2, numbers[1]);
        assert_eq!(machine.shut_until(), Moment::LONG_AGO, "there is a chance again");
        assert_eq!(machine.admit(AFTER), Decision::Probe { generation: 2, number: 3 });
        assert!(matches!(machine.admit(AFTER), Decision::Refuse { .. }));
        machine.give_back(1, numbers[0]);
        machine.give_back(2, numbers[1]);
        assert!(matches!(machine.admit(AFTER), Decision::Refuse { .. }), "an old one, or one given back, has no place");
    }

    #[test]
    fn a_probe_that_never_ends_is_replaced_after_a_cooldown_and_its_late_result_ignored() {
        for late_success in [true, false] {
            let (mut machine, numbers) = probing(RULES);
            let just_before = Moment::from_raw(1_999);
            assert_eq!(machine.admit(just_before), Decision::Refuse { until: LEASE_END });
            assert_eq!(machine.admit(LEASE_END), Decision::Probe { generation: 2, number: 1 });
            if late_success {
                machine.success(2, Some(numbers[0]), 0, LEASE_END, 0.0);
            } else {
                machine.fault(FAILED, 2, Some(numbers[0]), 0, LEASE_END, 0.0);
            }
            machine.give_back(2, numbers[0]);
            assert_eq!(machine.state(), State::HalfOpen, "late success: {late_success}");
            assert!(matches!(machine.admit(LEASE_END), Decision::Refuse { .. }), "one is out");
            machine.success(2, Some(1), 0, LEASE_END, 0.0);
            assert_eq!(machine.state(), State::Closed);
        }
    }

    #[test]
    fn the_first_lease_to_end_is_when_the_refused_may_come_back() {
        let mut machine = opened(Rules { probes: 2, ..RULES });
        let later = Moment::from_raw(1_300);
        assert!(matches!(machine.admit(AFTER), Decision::Probe { number: 0, .. }));
        assert!(matches!(machine.admit(later), Decision::Probe { number: 1, .. }));
        assert_eq!(machine.admit(later), Decision::Refuse { until: LEASE_END });
        assert_eq!(machine.admit(LEASE_END), Decision::Probe { generation: 2, number: 2 });
        assert_eq!(machine.admit(LEASE_END), Decision::Refuse { until: Moment::from_raw(2_300) });
    }

    #[test]
    fn results_of_calls_that_are_no_probes_of_this_state_decide_nothing() {
        let (mut machine, numbers) = probing(RULES);
        for generation in [0, 1, 3] {
            machine.fault(FAILED, generation, Some(numbers[0]), 0, AFTER, 0.0);
            machine.success(generation, Some(numbers[0]), 9, AFTER, 0.0);
        }
        machine.fault(FAILED, 2, None, 0, AFTER, 0.0);
        machine.success(2, None, 9, AFTER, 0.0);
        assert_eq!((machine.state(), machine.generation()), (State::HalfOpen, 2));
    }

    #[test]
    fn asking_for_fewer_probes_than_have_succeeded_closes_it() {
        let (mut machine, numbers) = probing(THREE);
        machine.success(2, Some(numbers[0]), 0, AFTER, 0.0);
        machine.give_back(2, numbers[1]);
        machine.give_back(2, numbers[2]);
        machine.set_rules(RULES, START);
        assert_eq!(machine.state(), State::Closed, "nobody would be let out to close it");
    }

    #[test]
    fn asking_for_more_probes_lets_the_rest_out() {
        let (mut machine, numbers) = probing(RULES);
        machine.set_rules(THREE, START);
        assert_eq!(machine.admit(AFTER), Decision::Probe { generation: 2, number: 1 });
        machine.success(2, Some(numbers[0]), 0, AFTER, 0.0);
        assert_eq!(machine.state(), State::HalfOpen);
    }
}

mod by_hand {
    use super::*;

    #[test]
    fn isolated_it_refuses_for_ever_and_a_reset_closes_it() {
        let (mut machine, numbers) = probing(RULES);
        machine.isolate(START);
        machine.success(2, Some(numbers[0]), 0, AFTER, 0.0);
        let much_later = Moment::from_raw(i64::MAX - 1);
        assert_eq!(machine.admit(much_later), Decision::Refuse { until: Moment::NEVER });
        assert_eq!((machine.state(), machine.shut_until()), (State::Isolated, Moment::NEVER));
        let (generation, transitions) = (machine.generation(), machine.transitions());
        machine.isolate(START);
        assert_eq!(
            (machine.generation(), machine.transitions()),
            (generation, transitions),
            "a second time is nothing"
        );
        machine.reset(START);
        assert_eq!(machine.state(), State::Closed);
        assert!(matches!(machine.admit(START), Decision::Pass { .. }));
    }

    #[test]
    fn a_reset_of_a_closed_one_forgets_and_is_no_transition() {
        let mut fed = Fed::new(RULES);
        fed.feed("fff");
        fed.machine.reset(START);
        fed.successes = 0;
        assert_eq!((fed.machine.transitions(), fed.machine.seen(0, START).calls), ([0, 0, 0], 0));
        fed.machine.fault(FAILED, 0, None, 0, START, 0.0);
        assert_eq!(fed.machine.seen(0, START).calls, 0, "begun before the reset");
        assert_eq!(fed.feed("fff"), State::Closed);
    }
}

mod tagged {
    use super::*;

    fn counted(times: u32, generation: u32) -> Tagged {
        (0..times).fold(Tagged::from_raw(0), |cell, _| cell.one_more(generation))
    }

    #[test]
    fn a_count_is_seen_in_its_generation_alone() {
        let cell = counted(3, 5);
        assert_eq!([4, 5, 6].map(|generation| cell.count_in(generation)), [0, 3, 0]);
        assert_eq!(Tagged::from_raw(cell.to_raw()), cell);
    }

    #[test]
    fn a_later_generation_starts_afresh_and_an_earlier_one_is_left_out() {
        let cell = counted(3, 5).one_more(6);
        assert_eq!((cell.count_in(5), cell.count_in(6)), (0, 1));
        assert_eq!(cell.one_more(5), cell, "late");
    }

    #[test]
    fn later_and_earlier_are_told_apart_where_the_numbers_wrap() {
        // The tag keeps 24 bits of the generation, and the generation itself has 32.
        for last in [(1 << 24) - 1, u32::MAX] {
            let next = last.wrapping_add(1);
            let cell = counted(2, last);
            assert_eq!(cell.count_in(last), 2, "a cell never used before is nobody's, not generation 0's");
            let cell = cell.one_more(next);
            assert_eq!((cell.count_in(last), cell.count_in(next)), (0, 1));
            assert_eq!(cell.one_more(last), cell, "late");
        }
    }
}

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

mod any_events {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Op {
        Ask,
        Success(prop::sample::Index),
        Failure(prop::sample::Index),
        GiveBack(prop::sample::Index),
        Pass(u64),
        Rules(u32),
        Isolate,
        Reset,
    }

    fn op() -> impl Strategy<Value = Op> {
        let index = any::<prop::sample::Index>;
        prop_oneof![
            8 => Just(Op::Ask),
            4 => index().prop_map(Op::Success),
            2 => index().prop_map(Op::Failure),
            2 => index().prop_map(Op::GiveBack),
            6 => (0..COOLDOWN).prop_map(Op::Pass),
            1 => (1..5_u32).prop_map(Op::Rules),
            1 => Just(Op::Isolate),
            1 => Just(Op::Reset),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn never_let_more_probes_out_than_are_set_and_never_leave_it_stuck(
            ops in prop::collection::vec(op(), 1..150),
        ) {
            let rules = Rules { window: Window::Calls(2), min_calls: 1, failures: 1.0, ..RULES };
            let mut machine = Machine::new(rules);
            let mut now = START;
            // Admissions without a result yet: generation, number of a probe, until when that is waited for.
            let mut out: Vec<(u32, Option<u32>, Moment)> = Vec::new();
            for op in ops {
                let take = |index: prop::sample::Index, out: &mut Vec<_>| {
                    (!out.is_empty()).then(|| out.swap_remove(index.index(out.len())))
                };
                match op {
                    Op::Ask => match machine.admit(now) {
                        Decision::Pass { generation } => out.push((generation, None, Moment::NEVER)),
                        Decision::Probe { generation, number } => {
                            out.push((generation, Some(number), now.plus(COOLDOWN)));
                            let probes = out.iter().filter(|(of, number, lease_end)| {
                                *of == generation && number.is_some() && now < *lease_end
                            });
                            prop_assert!(probes.count() <= machine.rules().probes as usize);
                        }
                        Decision::Refuse { until } => {
                            prop_assert!(now < until, "who is refused is told a time that is still to come");
                            prop_assert_eq!(until, machine.shut_until());
                        }
                    },
                    Op::Success(index) => if let Some((generation, number, _)) = take(index, &mut out) {
                        machine.success(generation, number, 0, now, 0.0);
                    },
                    Op::Failure(index) => if let Some((generation, number, _)) = take(index, &mut out) {
                        machine.fault(FAILED, generation, number, 0, now, 0.0);
                    },
                    Op::GiveBack(index) => if let Some((generation, Some(number), _)) = take(index, &mut out) {
                        machine.give_back(generation, number);
                    },
                    Op::Pass(nanos) => now = now.plus(nanos),
                    Op::Rules(probes) => machine.set_rules(Rules { probes, ..rules }, now),
                    Op::Isolate => machine.isolate(START),
                    Op::Reset => machine.reset(START),
                }
                prop_assert!(machine.mark().state() == machine.state());
            }
            if machine.state() == State::Isolated {
                machine.reset(START);
            }
            // The dependency is well again: callers who come back when they are told to close it within a few calls.
            for _ in 0..2 * machine.rules().probes + 2 {
                match machine.admit(now) {
                    Decision::Pass { .. } => break,
                    Decision::Probe { generation, number } => machine.success(generation, Some(number), 0, now, 0.0),
                    Decision::Refuse { until } => now = until,
                }
            }
            prop_assert_eq!(machine.state(), State::Closed);
        }
    }
}
