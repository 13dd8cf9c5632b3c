//! Isolated and reset by hand.

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
    assert_eq!((machine.generation(), machine.transitions()), (generation, transitions), "a second time is nothing");
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
