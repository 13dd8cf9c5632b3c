//! What a process asks for, and for how long it believes what it was told.

use super::super::decide::{Heard, Member, want};
use super::super::store::Answer;
use super::*;
use crate::base::clock::Moment;

const MS: u64 = 1_000_000;

fn at(millis: u64) -> Moment {
    Moment::from_raw(0).plus(millis * MS)
}

fn member() -> Member {
    Member::new("one".into(), 0, 1_000 * MS, 8, at(0))
}

fn answer(shares: &[u32]) -> Answer {
    Answer { replicas: 8, settled: true, hurry: false, shares: shares.to_vec() }
}

#[test]
fn what_is_wanted_is_what_was_used_and_a_quarter_and_four_times_the_share_where_somebody_was_turned_away() {
    assert_eq!(want(&reading(64, 8, 8, 16, false), 0, 8), 20);
    assert_eq!(want(&reading(64, 8, 8, 8, true), 0, 8), 40, "four times what there was, and a quarter");
    assert_eq!(want(&reading(64, 0, 0, 0, true), 0, 8), 1, "from nothing");
    assert_eq!(want(&reading(64, 60, 60, 60, true), 0, 8), 64, "never more than there is");
    assert_eq!(want(&reading(64, 8, 0, 0, false), 40, 8), 20, "half of what it was");
    assert_eq!(want(&reading(6_400, 8, 0, 0, false), 0, 8), 100, "an eighth of an equal part");
    assert_eq!(
        want(&reading(4, 0, 0, 0, false), 0, 8),
        0,
        "where there are fewer slots than processes, nothing unasked"
    );
}

#[test]
fn a_share_ends_a_fiftieth_before_the_lease_counted_from_before_the_question() {
    let mut member = member();
    let ask = member.ask(&[reading(64, 8, 0, 0, false)]);
    let heard = member.answered(&ask, &answer(&[9]), at(10), at(110), 0.5);
    assert_eq!(heard, Heard::Shares(vec![("recs".into(), 9)]));
    assert_eq!(member.until(), Some(at(10 + 980)));
    assert_eq!(member.due(), at(110 + 200), "five times in a lease");
    assert!(!member.lapses(at(989)) && member.lapses(at(990)) && !member.lapses(at(991)), "said once");
}

#[test]
fn an_answer_that_comes_after_its_lease_or_to_another_question_is_not_heard() {
    let mut member = member();
    let ask = member.ask(&[reading(64, 8, 0, 0, false)]);
    assert_eq!(member.answered(&ask, &answer(&[9]), at(0), at(980), 0.5), Heard::TooLate);
    assert_eq!(member.answered(&ask, &answer(&[9, 9]), at(0), at(1), 0.5), Heard::TooLate);
    assert_eq!(member.until(), None);
}

#[test]
fn what_somebody_waits_for_is_given_back_at_once_and_said_once() {
    let mut member = member();
    let hurry = |share| Answer { hurry: true, ..answer(&[share]) };
    let ask = member.ask(&[reading(64, 40, 40, 40, false)]);
    let _ = member.answered(&ask, &hurry(8), at(0), at(1), 0.5);
    assert_eq!(member.due(), at(1));
    let ask = member.ask(&[reading(64, 8, 30, 30, false)]);
    assert_eq!(ask.claims[0].held, 30, "what still runs is still held");
    let _ = member.answered(&ask, &hurry(8), at(1), at(2), 0.5);
    assert_eq!(member.due(), at(2 + 50), "those run for as long as they run");
}

#[test]
fn whoever_has_nothing_asks_more_often() {
    let mut member = member();
    let ask = member.ask(&[reading(64, 0, 0, 3, true)]);
    let _ = member.answered(&ask, &answer(&[0]), at(0), at(1), 0.5);
    assert_eq!(member.due(), at(1 + 50));
    let ask = member.ask(&[reading(4, 0, 0, 3, true)]);
    let _ = member.answered(&ask, &answer(&[0]), at(1), at(2), 0.5);
    assert_eq!(member.due(), at(2 + 200), "of four slots for eight it has its turn");
}

#[test]
fn a_fleet_of_a_thousand_asks_a_thousand_times_a_second_and_no_more() {
    let mut member = member();
    let ask = member.ask(&[]);
    let _ = member.answered(&ask, &Answer { replicas: 1_000, ..answer(&[]) }, at(0), at(1), 0.5);
    assert_eq!((member.every(), member.length()), (1_000 * MS, 5_000 * MS));
}

#[test]
fn a_process_goes_by_the_number_that_was_declared_until_it_has_counted_more() {
    let mut member = member();
    let ask = member.ask(&[]);
    let _ = member.answered(&ask, &Answer { replicas: 2, ..answer(&[]) }, at(0), at(1), 0.5);
    assert_eq!(member.replicas(), 8);
    let ask = member.ask(&[]);
    let _ = member.answered(&ask, &Answer { replicas: 12, ..answer(&[]) }, at(2), at(3), 0.5);
    assert_eq!(member.replicas(), 12);
}
