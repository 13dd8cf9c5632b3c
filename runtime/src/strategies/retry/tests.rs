//! The pauses, the decision, and the budget; the budget against a model that keeps plain lists.

use std::time::Duration;

use proptest::prelude::*;

use super::backoff::pause;
use super::budget::{Budget, Ticket};
use super::config::{Allowance, Backoff};
use super::{Config, Next, Seen, Trouble, decide};
use crate::base::clock::Moment;
use crate::base::lane::Lane;
use crate::call::Verdict;
use crate::call::tally::StopReason;

const SECOND: i64 = 1_000_000_000;

mod pauses {
    use super::*;

    const DEFAULT: Backoff = Backoff::DEFAULT;

    #[test]
    fn the_bound_doubles_from_the_first_to_the_cap_and_stays_there() {
        let bounds: Vec<u64> = (0..8).map(|retry| pause(DEFAULT, retry, 0, 1.0) / 1_000_000).collect();
        assert_eq!(bounds, [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
        assert_eq!(pause(DEFAULT, 0, 0, 0.5), 25_000_000);
        assert_eq!(pause(DEFAULT, 3, 0, 0.0), 0);
    }

    #[test]
    fn a_late_retry_pauses_as_long_as_the_cap_allows() {
        for first in [1, 50_000_000, DEFAULT.cap] {
            for retry in [31, 32, 63, 64, 65, 127, 1_023, 1_024, 1_025, 2_000, u32::MAX] {
                let backoff = Backoff { first, ..DEFAULT };
                assert_eq!(pause(backoff, retry, 0, 1.0), DEFAULT.cap, "first {first}, retry {retry}");
            }
        }
    }

    #[test]
    fn a_first_pause_of_one_nanosecond_doubles_like_any_other() {
        let backoff = Backoff { first: 1, cap: u64::MAX, ..DEFAULT };
        assert_eq!([0, 1, 10, 52].map(|retry| pause(backoff, retry, 0, 1.0)), [1, 2, 1 << 10, 1 << 52]);
        assert_eq!(pause(backoff, 63, 0, 1.0), 1 << 63);
        assert_eq!(pause(backoff, 64, 0, 1.0), u64::MAX);
    }

    #[test]
    fn a_first_pause_as_long_as_the_cap_is_bounded_by_it_from_the_start() {
        let backoff = Backoff { first: 7, cap: 7, ..DEFAULT };
        assert!((0..2_000).all(|retry| pause(backoff, retry, 0, 1.0) == 7));
    }

    /// Short and long ones alike.
    fn nanos() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64_u32).prop_map(|(nanos, shorter)| (nanos >> shorter).max(1))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_024))]

        #[test]
        fn every_pause_lies_between_nothing_and_the_cap(
            first in nanos(), cap in nanos(), retry in 0..=2_000_u32, roll in 0.0..=1.0,
        ) {
            let backoff = Backoff { first, cap, ..DEFAULT };
            let drawn = pause(backoff, retry, 0, roll);
            let doubled = u128::from(first).checked_shl(retry.min(64)).unwrap_or(u128::MAX);
            prop_assert!(u128::from(drawn) <= doubled.min(u128::from(cap)));
            prop_assert!(pause(backoff, retry, 0, 0.0) == 0);
            prop_assert!(drawn <= pause(backoff, retry, 0, 1.0));
        }

        #[test]
        fn the_bound_never_falls_from_one_retry_to_the_next(
            first in nanos(), cap in nanos(), retry in 0..=2_000_u32,
        ) {
            let backoff = Backoff { first, cap, ..DEFAULT };
            prop_assert!(pause(backoff, retry, 0, 1.0) <= pause(backoff, retry + 1, 0, 1.0));
        }
    }
}

mod decisions {
    use super::*;

    const FAILED: Verdict = Verdict { ok: false, retryable: true, failure: true, retry_after: None };
    const DEFAULT: Config = Config::new(2);
    const FIRST: Seen = Seen {
        attempt: 0,
        trouble: Trouble::Answered(FAILED),
        remaining: None,
        breaker_open: false,
        elapsed: 0,
        last_pause: 0,
    };

    /// Half of the bound of the first pause.
    const PAUSE: u64 = 25_000_000;
    const AGAIN: Next = Next::Again(PAUSE);

    fn after(config: Config, seen: Seen) -> Next {
        decide(&config, seen, 0.5)
    }

    fn on(trouble: Trouble) -> Seen {
        Seen { trouble, ..FIRST }
    }

    fn hinting(retry_after: Duration) -> Seen {
        on(Trouble::Answered(Verdict { retry_after: Some(retry_after), ..FAILED }))
    }

    fn stops(reason: StopReason) -> Next {
        Next::Stop(reason)
    }

    #[test]
    fn it_asks_again_as_often_as_was_said_and_doubles_the_pause() {
        let nexts = [0, 1, 2, 3].map(|attempt| after(DEFAULT, Seen { attempt, ..FIRST }));
        let exhausted = stops(StopReason::Exhausted);
        assert_eq!(nexts, [AGAIN, Next::Again(2 * PAUSE), exhausted, exhausted]);
        assert_eq!(after(Config::new(0), FIRST), exhausted);
    }

    #[test]
    fn an_answer_that_is_not_retryable_ends_it_even_with_attempts_left() {
        let final_answer = on(Trouble::Answered(Verdict { retryable: false, ..FAILED }));
        assert_eq!(after(DEFAULT, final_answer), stops(StopReason::NotRetryable));
        assert_eq!(after(DEFAULT, Seen { attempt: 2, ..final_answer }), stops(StopReason::NotRetryable));
        assert_eq!(after(DEFAULT.not_on_error(), FIRST), stops(StopReason::NotRetryable));
    }

    #[test]
    fn a_timeout_is_asked_again_only_where_that_was_promised_to_be_harmless() {
        let timed_out = on(Trouble::TimedOut);
        assert_eq!(after(DEFAULT, timed_out), stops(StopReason::NotRetryable));
        assert_eq!(after(DEFAULT.on_timeout(), timed_out), AGAIN);
    }

    #[test]
    fn our_own_refusals_are_asked_again_only_by_name() {
        let none = DEFAULT.not_on_error();
        let named = [none.on_full(), none.on_wait(), none.on_timeout(), none.on_rate()];
        for (trouble, by) in [(Trouble::Full, 0), (Trouble::Waited, 1), (Trouble::TimedOut, 2)] {
            assert_eq!(after(DEFAULT, on(trouble)), stops(StopReason::NotRetryable), "{trouble:?}");
            for (at, config) in named.into_iter().enumerate() {
                let expected = if at == by { AGAIN } else { stops(StopReason::NotRetryable) };
                assert_eq!(after(config, on(trouble)), expected, "{trouble:?}, {config:?}");
            }
        }
    }

    #[test]
    fn a_spent_deadline_and_an_open_breaker_are_never_asked_again_whatever_is_named() {
        let everything = DEFAULT.on_timeout().on_full().on_wait().on_rate();
        for config in [DEFAULT, everything] {
            for attempt in [0, 2] {
                let seen = Seen { attempt, ..FIRST };
                let spent = Seen { trouble: Trouble::OutOfTime, ..seen };
                assert_eq!(after(config, spent), stops(StopReason::NoTime));
                let open = Seen { trouble: Trouble::Open, breaker_open: true, ..seen };
                assert_eq!(after(config, open), stops(StopReason::Open));
            }
        }
    }

    #[test]
    fn a_breaker_that_opened_meanwhile_ends_it() {
        assert_eq!(after(DEFAULT, Seen { breaker_open: true, ..FIRST }), stops(StopReason::Open));
        let last = Seen { breaker_open: true, attempt: 2, ..FIRST };
        assert_eq!(after(DEFAULT, last), stops(StopReason::Exhausted), "there was none left anyway");
    }

    #[test]
    fn no_pause_begins_that_cannot_end_before_the_deadline() {
        let with_left = |remaining| after(DEFAULT, Seen { remaining: Some(remaining), ..FIRST });
        assert_eq!(with_left(PAUSE + 1), AGAIN);
        assert_eq!(with_left(PAUSE), stops(StopReason::NoTime));
        assert_eq!(with_left(0), stops(StopReason::NoTime));
    }

    #[test]
    fn no_attempt_begins_after_the_longest_duration_and_no_pause_that_cannot_end_before_it() {
        let config = DEFAULT.max_duration(10 * PAUSE);
        let at = |elapsed| after(config, Seen { elapsed, ..FIRST });
        assert_eq!(at(0), AGAIN);
        assert_eq!(at(9 * PAUSE - 1), AGAIN);
        assert_eq!(at(9 * PAUSE), stops(StopReason::MaxDuration), "the pause would end at the very limit");
        assert_eq!(at(10 * PAUSE), stops(StopReason::MaxDuration));
        assert_eq!(at(u64::MAX), stops(StopReason::MaxDuration));
        let last = Seen { attempt: 2, elapsed: u64::MAX, ..FIRST };
        assert_eq!(after(config, last), stops(StopReason::Exhausted), "there was none left anyway");
        let hinting = Seen { elapsed: 9 * PAUSE, ..hinting(Duration::from_nanos(PAUSE)) };
        assert_eq!(after(config, hinting), stops(StopReason::MaxDuration), "a hint is no exception");
        let deadline = Seen { elapsed: 9 * PAUSE, remaining: Some(1), ..FIRST };
        assert_eq!(after(config, deadline), stops(StopReason::NoTime), "the deadline is the harder of the two");
    }

    #[test]
    fn an_open_breaker_is_waited_for_where_that_is_named() {
        let open = Seen { breaker_open: true, ..on(Trouble::Open) };
        assert_eq!(after(DEFAULT.on_open(), open), AGAIN);
        assert_eq!(after(DEFAULT.on_open(), Seen { breaker_open: true, ..FIRST }), AGAIN, "it opened meanwhile");
        assert_eq!(after(DEFAULT.on_open(), Seen { attempt: 2, ..open }), stops(StopReason::Exhausted));
    }

    #[test]
    fn a_hint_wins_over_the_computed_pause() {
        let short = Duration::from_nanos(3);
        assert_eq!(after(DEFAULT, hinting(short)), Next::Again(3));
        let long = Duration::from_secs(59);
        assert_eq!(after(DEFAULT, hinting(long)), Next::Again(59_000_000_000), "beyond the cap, too");
    }

    #[test]
    fn a_hint_beyond_the_time_left_or_beyond_a_minute_ends_it() {
        let hint = Duration::from_secs(3);
        let with_left = |remaining| after(DEFAULT, Seen { remaining: Some(remaining), ..hinting(hint) });
        assert_eq!(with_left(3_000_000_001), Next::Again(3_000_000_000));
        assert_eq!(with_left(3_000_000_000), stops(StopReason::Hint));
        assert_eq!(after(DEFAULT, hinting(Duration::from_mins(1))), Next::Again(60_000_000_000));
        assert_eq!(after(DEFAULT, hinting(Duration::from_nanos(60_000_000_001))), stops(StopReason::Hint));
        assert_eq!(after(DEFAULT, hinting(Duration::MAX)), stops(StopReason::Hint));
    }

    #[test]
    fn a_hint_does_not_make_an_answer_retryable_or_add_attempts() {
        let last = Seen { attempt: 2, ..hinting(Duration::from_nanos(3)) };
        assert_eq!(after(DEFAULT, last), stops(StopReason::Exhausted));
        let refused = Verdict { retryable: false, retry_after: Some(Duration::from_nanos(3)), ..FAILED };
        assert_eq!(after(DEFAULT, on(Trouble::Answered(refused))), stops(StopReason::NotRetryable));
    }
}

mod budget {
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
        budget.tighten(Allowance { per_call: 1.0, per_second: 0.5 });
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
}
