//! Any sequence of events, on the breaker and on a reference model.

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
