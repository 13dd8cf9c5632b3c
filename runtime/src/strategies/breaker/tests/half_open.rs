//! Half-open: probes, and whose results count.

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
