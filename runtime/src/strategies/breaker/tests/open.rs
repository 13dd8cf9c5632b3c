//! Open: who is refused, and for how long.

use super::*;

fn until(cooldown: u64, roll: f64) -> u64 {
    let mut machine = Machine::new(Rules { window: Window::Calls(1), min_calls: 1, failures: 1.0, cooldown, ..RULES });
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
