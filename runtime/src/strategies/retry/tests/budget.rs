//! What retries are paid from, against plain lists of events.

use super::*;

const DEFAULT: Allowance = Allowance { per_call: 0.2, per_second: 1.0 };

fn new_budget(allowance: Allowance) -> &'static Budget {
    Box::leak(Box::new(Budget::new(allowance)))
}

fn at(second: i64) -> Moment {
    Moment::from_raw(second * SECOND)
}

fn deposit(budget: &Budget, times: u32, now: Moment) {
    (0..times).for_each(|_| budget.deposit(Lane::here(), now));
}

fn withdraw_all(budget: &'static Budget, now: Moment) -> Vec<Ticket> {
    // Bounded, so that a budget without end fails the test and does not eat the machine.
    std::iter::from_fn(|| budget.withdraw(now)).take(10_000).collect()
}

/// How many retries it would grant; the tickets are dropped, so it grants them still.
fn left(budget: &'static Budget, now: Moment) -> usize {
    withdraw_all(budget, now).len()
}

fn spend(budget: &'static Budget, times: usize, now: Moment) {
    for _ in 0..times {
        budget.withdraw(now).expect("within the budget").spend();
    }
}

#[test]
fn it_starts_with_ten_and_each_call_adds_a_fifth() {
    let budget = new_budget(DEFAULT);
    assert_eq!(left(budget, at(0)), 10);
    deposit(budget, 4, at(0));
    assert_eq!(left(budget, at(0)), 10, "four fifths are no retry");
    deposit(budget, 1, at(0));
    assert_eq!(left(budget, at(0)), 11);
    deposit(budget, 100, at(0));
    assert_eq!(left(budget, at(0)), 31);
}

#[test]
fn one_a_second_comes_back_in_the_order_they_were_spent() {
    let budget = new_budget(DEFAULT);
    for second in 0..10 {
        spend(budget, 1, at(second));
    }
    assert_eq!(left(budget, at(9)), 0);
    for second in 10..30 {
        assert_eq!(left(budget, at(second)), 1, "what was spent ten seconds ago has left the window");
        spend(budget, 1, at(second));
        assert_eq!(left(budget, at(second)), 0);
    }
}

#[test]
fn deposits_and_withdrawals_leave_the_window_after_ten_seconds() {
    let budget = new_budget(DEFAULT);
    deposit(budget, 50, at(5));
    spend(budget, 20, at(5));
    assert_eq!(left(budget, at(5)), 0);
    let last_of_the_window = Moment::from_raw(15 * SECOND - 1);
    assert_eq!(left(budget, last_of_the_window), 0);
    assert_eq!(left(budget, at(15)), 10, "both are forgotten");
}

#[test]
fn a_second_whose_place_in_the_ring_comes_round_again_counts_for_nothing() {
    let budget = new_budget(DEFAULT);
    for second in [0, 16, 32, 32 + 1_600] {
        assert_eq!(left(budget, at(second)), 10);
        deposit(budget, 50, at(second));
        spend(budget, 20, at(second));
        assert_eq!(left(budget, at(second)), 0);
    }
}

#[test]
fn a_retry_that_is_not_made_is_given_back_and_one_that_is_made_is_not() {
    let budget = new_budget(DEFAULT);
    let mut tickets = withdraw_all(budget, at(0));
    assert_eq!(tickets.len(), 10);
    assert!(budget.withdraw(at(0)).is_none());
    tickets.pop().expect("ten of them").spend();
    assert!(budget.withdraw(at(0)).is_none(), "spent is spent");
    drop(tickets.pop());
    assert_eq!(left(budget, at(0)), 1);
    drop(tickets);
    assert_eq!(left(budget, at(0)), 9);
}

#[test]
fn a_sleeping_retry_counts_and_one_given_back_late_changes_nothing_that_came_since() {
    let budget = new_budget(DEFAULT);
    let sleeping = withdraw_all(budget, at(0));
    assert!(budget.withdraw(at(3)).is_none(), "sleeping retries are taken");
    spend(budget, 10, at(16)); // the place in the ring of second 0
    drop(sleeping);
    assert_eq!(left(budget, at(16)), 0);
}

#[test]
fn other_allowances_are_heeded() {
    assert_eq!(left(new_budget(Allowance { per_call: 0.2, per_second: 0.0 }), at(0)), 0);
    assert_eq!(left(new_budget(Allowance { per_call: 0.2, per_second: 0.25 }), at(0)), 2);
    let of_calls_alone = new_budget(Allowance { per_call: 0.29, per_second: 0.0 });
    deposit(of_calls_alone, 100, at(0));
    assert_eq!(left(of_calls_alone, at(0)), 29, "29 % of a hundred, though a float makes it a hair less");
}

#[test]
fn tightened_it_grants_less_and_never_more() {
    let budget = new_budget(DEFAULT);
    budget.allow(DEFAULT.stricter(Allowance { per_call: 1.0, per_second: 0.5 }));
    assert_eq!(left(budget, at(0)), 5);
    deposit(budget, 50, at(0));
    assert_eq!(left(budget, at(0)), 15);
}

#[test]
fn before_the_origin_of_the_clock_it_works_the_same() {
    let budget = new_budget(DEFAULT);
    deposit(budget, 50, Moment::from_raw(-1));
    spend(budget, 20, Moment::from_raw(-SECOND));
    assert_eq!(left(budget, at(-1)), 0, "the last second before it is one second");
    assert_eq!(left(budget, at(0)), 0);
    assert_eq!(left(budget, at(8)), 0);
    assert_eq!(left(budget, at(9)), 10);
    let early = new_budget(DEFAULT);
    deposit(early, 50, at(-1_000_000_007));
    spend(early, 20, at(-1_000_000_000));
    assert_eq!(left(early, at(-1_000_000_000)), 0);
}

#[test]
fn deposits_of_many_threads_are_all_counted_once_they_have_ended() {
    let budget = new_budget(DEFAULT);
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| deposit(budget, 1_000, at(7)))).collect();
    for thread in threads {
        thread.join().expect("no panic");
    }
    assert_eq!(left(budget, at(7)), 10 + 8_000 / 5);
}

#[test]
fn threads_that_withdraw_at_once_get_what_there_is_and_no_more() {
    let budget = new_budget(DEFAULT);
    deposit(budget, 5_000, at(0));
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| withdraw_all(budget, at(0)))).collect();
    let tickets: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
    assert_eq!(tickets.len(), 1_010);
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Pass(i64),
    Deposit,
    Withdraw,
    Spend(prop::sample::Index),
    GiveBack(prop::sample::Index),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..3 * SECOND).prop_map(Op::Pass),
        1 => (0..40 * SECOND).prop_map(Op::Pass),
        8 => Just(Op::Deposit),
        12 => Just(Op::Withdraw),
        4 => any::<prop::sample::Index>().prop_map(Op::Spend),
        2 => any::<prop::sample::Index>().prop_map(Op::GiveBack),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The model keeps the second of every deposit and every withdrawal, and counts those of the last ten.
    #[test]
    fn it_grants_exactly_what_plain_lists_of_events_say(
        begin in -60 * SECOND..60 * SECOND,
        tenths_per_call in 0..=10_u32, quarters_per_second in 0..=8_u32,
        ops in prop::collection::vec(op(), 1..250),
    ) {
        let allowance = Allowance {
            per_call: f64::from(tenths_per_call) / 10.0,
            per_second: f64::from(quarters_per_second) / 4.0,
        };
        let budget = new_budget(allowance);
        let (mut deposits, mut withdrawals) = (Vec::new(), Vec::new());
        let mut tickets = Vec::new();
        let mut now = begin;
        for op in ops {
            let second = now.div_euclid(SECOND);
            let recent = |events: &[i64]| events.iter().filter(|at| second - **at < 10).count();
            match op {
                Op::Pass(nanos) => now += nanos,
                Op::Deposit => {
                    deposit(budget, 1, Moment::from_raw(now));
                    deposits.push(second);
                }
                Op::Withdraw => {
                    // In fortieths of a retry, so that it is counted in whole numbers.
                    let granted = 4 * tenths_per_call as usize * recent(&deposits)
                        + 100 * quarters_per_second as usize;
                    let ticket = budget.withdraw(Moment::from_raw(now));
                    prop_assert_eq!(ticket.is_some(), 40 * (recent(&withdrawals) + 1) <= granted);
                    if let Some(ticket) = ticket {
                        withdrawals.push(second);
                        tickets.push((ticket, second));
                    }
                }
                Op::Spend(index) => if !tickets.is_empty() {
                    tickets.swap_remove(index.index(tickets.len())).0.spend();
                },
                Op::GiveBack(index) => if !tickets.is_empty() {
                    let (ticket, of) = tickets.swap_remove(index.index(tickets.len()));
                    drop(ticket);
                    let at = withdrawals.iter().position(|second| *second == of).expect("listed");
                    withdrawals.swap_remove(at);
                },
            }
        }
    }
}
