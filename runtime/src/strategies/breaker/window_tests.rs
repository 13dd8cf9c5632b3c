//! Windows of time and slow attempts: the machine, the breaker through its admissions, and both against plain lists.

use proptest::prelude::*;

use super::change::{Cause, Seen};
use super::decide::Machine;
use super::mark::Timed;
use super::window::{Fault, Faults};
use super::{Admission, Breaker, Rules, Sign, Slow, State, Window};
use crate::base::clock::Moment;

const SECOND: u64 = 1_000_000_000;
/// Ten seconds in parts of one.
const TEN: Window = Window::Time(10 * SECOND);
const RULES: Rules = Rules { window: TEN, failures: 0.5, min_calls: 4, slow: None, cooldown: SECOND, probes: 1 };
const SLOW: Slow = Slow { at_least: 200, rate: 0.8 };
const FAILED: Fault = Fault { failed: true, slow: false };

fn at(tenths: u64) -> Moment {
    Moment::from_raw(0).plus(tenths * SECOND / 10)
}

fn new_breaker(rules: Rules) -> &'static Breaker {
    Box::leak(Box::new(Breaker::new("recs", rules)))
}

fn pass(breaker: &'static Breaker) -> Admission {
    breaker.admit(|| unreachable!("a closed breaker needs no clock")).expect("it is closed")
}

fn results(breaker: &'static Breaker, results: &str, now: Moment) {
    for result in results.chars() {
        match result {
            's' => pass(breaker).settle(Sign::Success, 0, || now),
            'f' => pass(breaker).settle(Sign::Failure, 0, || now),
            'S' => pass(breaker).settle(Sign::Success, SLOW.at_least, || now),
            _ => pass(breaker).settle(Sign::Failure, SLOW.at_least, || now),
        }
    }
}

fn state(breaker: &'static Breaker, now: Moment) -> State {
    breaker.standing(now).state
}

mod by_time {
    use super::*;

    #[test]
    fn it_opens_at_the_share_of_what_came_in_the_last_ten_parts() {
        let breaker = new_breaker(RULES);
        results(breaker, "ssssss", at(0));
        results(breaker, "fff", at(50));
        assert_eq!(state(breaker, at(50)), State::Closed, "three of nine");
        assert_eq!(breaker.standing(at(99)).seen, Seen { calls: 9, failures: 3, slow: 0 });
        assert_eq!(breaker.standing(at(100)).seen.calls, 3, "the first part has left");
        results(breaker, "f", at(100));
        assert_eq!(state(breaker, at(100)), State::Open, "four of four");
    }

    #[test]
    fn old_results_leave_on_their_own() {
        let breaker = new_breaker(RULES);
        results(breaker, "fff", at(5));
        for (now, left) in [(5, 3), (99, 3), (100, 0), (1_000, 0)] {
            assert_eq!(breaker.standing(at(now)).seen.failures, left, "at {now}");
        }
        results(breaker, "f", at(105));
        assert_eq!(breaker.standing(at(105)).seen, Seen { calls: 1, failures: 1, slow: 0 });
    }

    #[test]
    fn a_part_whose_place_in_the_ring_comes_round_again_counts_for_nothing() {
        for later in [120, 240, 12_000] {
            let breaker = new_breaker(RULES);
            results(breaker, "fss", at(0));
            assert_eq!(breaker.standing(at(later)).seen, Seen::default());
            results(breaker, "f", at(later));
            assert_eq!(breaker.standing(at(later)).seen, Seen { calls: 1, failures: 1, slow: 0 });
        }
    }

    #[test]
    fn the_success_that_makes_the_share_countable_opens_it() {
        let breaker = new_breaker(RULES);
        results(breaker, "ffs", at(0));
        assert_eq!(state(breaker, at(0)), State::Closed);
        results(breaker, "s", at(0));
        assert_eq!(state(breaker, at(0)), State::Open, "two of four");
    }

    #[test]
    fn a_success_opens_it_once_older_successes_have_left() {
        let breaker = new_breaker(RULES);
        results(breaker, "ssssssssss", at(0));
        results(breaker, "fff", at(55));
        assert_eq!(state(breaker, at(55)), State::Closed, "three of thirteen");
        results(breaker, "s", at(99));
        assert_eq!(state(breaker, at(99)), State::Closed, "three of fourteen");
        results(breaker, "s", at(100));
        assert_eq!(state(breaker, at(100)), State::Open, "three of five, and no failure came in");
    }

    #[test]
    fn while_all_is_well_and_within_a_part_no_success_takes_the_lock() {
        let breaker = new_breaker(RULES);
        let held = breaker.locked.lock();
        results(breaker, "sssss", at(0));
        results(breaker, "sssss", at(999));
        drop(held);
        results(breaker, "f", at(999));
        results(breaker, "sss", at(999));
        let held = breaker.locked.lock();
        results(breaker, "sssss", at(999));
        drop(held);
        assert_eq!(breaker.standing(at(999)).seen, Seen { calls: 14, failures: 1, slow: 0 });
    }

    #[test]
    fn the_clock_before_its_origin_works_the_same() {
        let breaker = new_breaker(RULES);
        let before = |tenths: i64| Moment::from_raw(-tenths * 100_000_000);
        results(breaker, "fss", before(5));
        assert_eq!(breaker.standing(before(1)).seen.calls, 3);
        assert_eq!(breaker.standing(at(89)).seen.calls, 3, "the part before the origin is one part");
        assert_eq!(breaker.standing(at(90)).seen.calls, 0);
        results(breaker, "s", before(50));
        assert_eq!(breaker.standing(before(50)).seen.calls, 1, "a clock that was put back counts from there");
    }

    #[test]
    fn windows_of_any_length_are_cut_in_ten() {
        for nanos in [1, 9, 10, 11, 1_000_000, u64::MAX] {
            let breaker = new_breaker(Rules { window: Window::Time(nanos), ..RULES });
            results(breaker, "fsss", Moment::from_raw(0));
            assert_eq!(breaker.standing(Moment::from_raw(0)).seen.calls, 4, "{nanos}");
            assert!(Faults::new(Window::Time(nanos)).next_leaving(Moment::from_raw(0)) > Moment::from_raw(0));
        }
    }

    #[test]
    fn another_window_begins_anew_and_the_same_one_goes_on() {
        let breaker = new_breaker(RULES);
        results(breaker, "fff", at(0));
        breaker.set_rules(Rules { min_calls: 10, ..RULES }, at(0));
        assert_eq!(breaker.standing(at(0)).seen.calls, 3);
        for window in [Window::Calls(10), Window::Calls(20), TEN, Window::Time(SECOND)] {
            let kept = matches!(window, Window::Calls(20));
            breaker.set_rules(Rules { window, min_calls: 10, ..RULES }, at(0));
            assert_eq!(breaker.standing(at(0)).seen.calls, if kept { 3 } else { 0 }, "{window:?}");
            if !kept {
                results(breaker, "sff", at(0));
            }
            assert_eq!(breaker.standing(at(0)).seen, Seen { calls: 3, failures: 2, slow: 0 }, "{window:?}");
        }
    }

    #[test]
    fn successes_of_many_threads_are_all_counted_once_they_have_ended() {
        let breaker = new_breaker(RULES);
        let threads: Vec<_> = (0..8)
            .map(|_| {
                std::thread::spawn(|| {
                    (0..1_000).for_each(|n| pass(breaker).settle(Sign::Success, 0, || at(n / 10)));
                })
            })
            .collect();
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(breaker.standing(at(99)).seen.calls, 8_000);
        assert_eq!(breaker.standing(at(100)).seen.calls, 7_200);
    }

    #[test]
    fn results_of_before_it_opened_count_for_nothing_after_it_closed() {
        let breaker = new_breaker(Rules { min_calls: 1, ..RULES });
        let late = [pass(breaker), pass(breaker)];
        results(breaker, "f", at(0));
        breaker.admit(|| at(10)).expect("a probe").settle(Sign::Success, 0, || at(10));
        let [success, failure] = late;
        success.settle(Sign::Success, 0, || at(10));
        failure.settle(Sign::Failure, 0, || at(10));
        assert_eq!((state(breaker, at(10)), breaker.standing(at(10)).seen), (State::Closed, Seen::default()));
    }

    #[test]
    fn a_cell_keeps_generations_and_parts_apart() {
        let cell = (0..3).fold(Timed::from_raw(0), |cell, _| cell.one_more(5, -7));
        assert_eq!((cell.count_in(5, -7), cell.count_in(5, 5), cell.count_in(4, -7)), (3, 0, 0));
        assert_eq!(Timed::from_raw(cell.to_raw()), cell);
        assert_eq!(cell.one_more(4, -7), cell, "late");
        assert_eq!(cell.one_more(5, 5).count_in(5, 5), 1);
        assert_eq!(cell.one_more(6, -7).count_in(6, -7), 1);
        for last in [(1 << 12) - 1, u32::MAX] {
            let next = last.wrapping_add(1);
            let cell = Timed::from_raw(0).one_more(last, 1).one_more(next, 1);
            assert_eq!((cell.count_in(last, 1), cell.count_in(next, 1)), (0, 1));
            assert_eq!(cell.one_more(last, 1), cell, "late");
        }
        let full = Timed::from_raw(Timed::from_raw(0).one_more(1, 1).to_raw() | ((1 << 28) - 1));
        assert_eq!(full.one_more(1, 1), full, "it stops where it would run over");
    }
}

mod slow {
    use super::*;

    const BY_NUMBER: Rules = Rules { window: Window::Calls(10), min_calls: 5, slow: Some(SLOW), ..RULES };

    #[test]
    fn enough_slow_answers_open_it_without_a_failure() {
        for window in [Window::Calls(10), TEN] {
            let breaker = new_breaker(Rules { window, ..BY_NUMBER });
            results(breaker, "sSSS", at(0));
            assert_eq!(state(breaker, at(0)), State::Closed);
            results(breaker, "S", at(0));
            assert_eq!(state(breaker, at(0)), State::Open, "four of five: {window:?}");
            let last = breaker.standing(at(0)).last.expect("it changed");
            assert_eq!((last.cause, last.calls, last.failures, last.slow), (Cause::Slow, 5, 0, 4));
        }
    }

    #[test]
    fn a_quick_success_that_makes_slow_ones_countable_opens_it() {
        let breaker = new_breaker(BY_NUMBER);
        results(breaker, "SSSS", at(0));
        assert_eq!(state(breaker, at(0)), State::Closed);
        results(breaker, "s", at(0));
        assert_eq!(state(breaker, at(0)), State::Open);
    }

    #[test]
    fn one_that_is_slow_and_fails_is_one_result_and_counts_for_both() {
        let breaker = new_breaker(BY_NUMBER);
        results(breaker, "sssF", at(0));
        assert_eq!(breaker.standing(at(0)).seen, Seen { calls: 4, failures: 1, slow: 1 });
        let breaker = new_breaker(Rules { failures: 1.0, ..BY_NUMBER });
        results(breaker, "sFFFF", at(0));
        assert_eq!(breaker.standing(at(0)).last.map(|last| last.cause), Some(Cause::Slow));
    }

    #[test]
    fn slow_begins_at_the_very_length_and_without_one_nothing_is_slow() {
        let breaker = new_breaker(BY_NUMBER);
        pass(breaker).settle(Sign::Success, SLOW.at_least - 1, || at(0));
        assert_eq!(breaker.standing(at(0)).seen.slow, 0);
        pass(breaker).settle(Sign::Success, SLOW.at_least, || at(0));
        assert_eq!(breaker.standing(at(0)).seen.slow, 1);
        let breaker = new_breaker(Rules { slow: None, ..BY_NUMBER });
        for _ in 0..20 {
            pass(breaker).settle(Sign::Success, u64::MAX - 1, || unreachable!("nothing to judge"));
        }
        assert_eq!(breaker.standing(at(0)).seen, Seen { calls: 10, failures: 0, slow: 0 });
    }

    #[test]
    fn what_says_nothing_counts_only_when_it_was_slow() {
        let breaker = new_breaker(BY_NUMBER);
        pass(breaker).settle(Sign::Neutral, SLOW.at_least - 1, || unreachable!("nothing to say"));
        assert_eq!(breaker.standing(at(0)).seen, Seen::default());
        pass(breaker).settle(Sign::Neutral, SLOW.at_least, || at(0));
        assert_eq!(breaker.standing(at(0)).seen, Seen { calls: 1, failures: 0, slow: 1 });
    }

    #[test]
    fn a_slow_probe_has_failed_and_one_that_says_nothing_gives_its_place_back() {
        let breaker = new_breaker(BY_NUMBER);
        results(breaker, "SSSSS", at(0));
        breaker.admit(|| at(10)).expect("a probe").settle(Sign::Neutral, 0, || at(10));
        breaker.admit(|| at(10)).expect("given back").settle(Sign::Success, SLOW.at_least, || at(10));
        let standing = breaker.standing(at(10));
        assert_eq!((standing.state, standing.transitions), (State::Open, [2, 1, 0]));
        assert_eq!(standing.last.map(|last| last.cause), Some(Cause::ProbeSlow));
        breaker.admit(|| at(20)).expect("a probe").settle(Sign::Success, 0, || at(20));
        assert_eq!(state(breaker, at(20)), State::Closed);
    }
}

mod figures {
    use super::*;

    #[test]
    fn every_change_says_why_and_the_time_away_from_closed_adds_up() {
        let mut machine = Machine::new(Rules { window: Window::Calls(2), min_calls: 2, ..RULES });
        let mut causes = Vec::new();
        let mut note = |machine: &mut Machine| causes.extend(machine.take_news().map(|news| news.cause));
        machine.fault(FAILED, 0, None, 0, at(0), 0.0);
        note(&mut machine);
        machine.fault(FAILED, 0, None, 0, at(0), 0.0);
        note(&mut machine);
        machine.admit(at(10));
        note(&mut machine);
        machine.fault(FAILED, 2, Some(0), 0, at(15), 0.0);
        note(&mut machine);
        machine.admit(at(25));
        note(&mut machine);
        machine.success(4, Some(0), 0, at(30), 0.0);
        note(&mut machine);
        assert_eq!(machine.not_closed_for(at(100)), 3 * SECOND);
        machine.isolate(at(100));
        note(&mut machine);
        assert_eq!(machine.not_closed_for(at(105)), 3 * SECOND + SECOND / 2);
        machine.reset(at(110));
        note(&mut machine);
        machine.reset(at(120));
        note(&mut machine);
        assert_eq!(machine.not_closed_for(at(200)), 4 * SECOND);
        assert_eq!(
            causes,
            [
                Cause::Failures,
                Cause::CooldownOver,
                Cause::ProbeFailed,
                Cause::CooldownOver,
                Cause::ProbesSucceeded,
                Cause::ByHand,
                Cause::ByHand,
            ]
        );
    }

    #[test]
    fn the_stricter_of_two_declarations_does_not_depend_on_their_order() {
        let slow = Slow { at_least: 100, rate: 0.9 };
        let one = Rules { slow: Some(SLOW), ..RULES };
        let two = Rules { window: Window::Calls(50), slow: Some(slow), ..RULES };
        let expected = Some(Slow { at_least: 100, rate: 0.8 });
        for both in [one.stricter(two), two.stricter(one)] {
            assert_eq!((both.window, both.slow), (Window::Calls(50), expected));
        }
        let short = Rules { window: Window::Time(SECOND), ..RULES };
        for both in [one.stricter(short), short.stricter(one)] {
            assert_eq!((both.window, both.slow), (Window::Time(SECOND), Some(SLOW)));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The model keeps every result with its part of time and counts those of the last ten afresh after each.
    #[test]
    fn by_time_it_opens_at_the_very_result_at_which_a_plain_list_says_so(
        begin in -60_i64..60,
        min_calls in 1..20_u32,
        percent in 1..=100_u64, slow_percent in 1..=100_u64,
        events in prop::collection::vec((0..15_u64, prop::bool::weighted(0.3), prop::bool::weighted(0.3)), 1..200),
    ) {
        let rules = Rules {
            min_calls,
            failures: percent as f64 / 100.0,
            slow: Some(Slow { rate: slow_percent as f64 / 100.0, ..SLOW }),
            ..RULES
        };
        let breaker = new_breaker(rules);
        let mut list: Vec<(i64, bool, bool)> = Vec::new();
        let mut now = Moment::from_raw(begin * 100_000_000);
        for (tenths, failed, slow) in events {
            now = now.plus(tenths * SECOND / 10);
            let sign = if failed { Sign::Failure } else { Sign::Success };
            pass(breaker).settle(sign, if slow { SLOW.at_least } else { 0 }, || now);
            list.push((now.second(), failed, slow));
            let recent = list.iter().filter(|(second, ..)| now.second() - second < 10);
            let seen = recent.fold(Seen::default(), |seen, (_, failed, slow)| Seen {
                calls: seen.calls + 1,
                failures: seen.failures + u64::from(*failed),
                slow: seen.slow + u64::from(*slow),
            });
            let countable = seen.calls >= u64::from(min_calls);
            let reaches = |part: u64, percent: u64| part > 0 && part * 100 >= percent * seen.calls;
            let opens = countable && (reaches(seen.failures, percent) || reaches(seen.slow, slow_percent));
            let standing = breaker.standing(now);
            if opens {
                prop_assert_eq!(standing.state, State::Open);
                breaker.reset(now);
                list.clear();
            } else {
                prop_assert_eq!((standing.state, standing.seen), (State::Closed, seen));
            }
        }
    }
}
