//! Closed: what opens it, and what does not.

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
