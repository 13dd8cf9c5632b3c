//! Loans, scopes and numbers: what the context keeps, and what it gives back.

use super::context::*;
use super::ids::{attempt, call_id};
use crate::base::clock::Moment;

fn in_call(call: u64, attempt: u32, holding: Option<Holding>) -> Scope {
    Ambient { deadline: Deadline::NONE, limit: Moment::NEVER, call, attempt }.enter_holding(holding)
}

#[test]
fn a_slot_is_lent_once_and_repaid() {
    let mut holding = Holding::of(7);
    let scope = in_call(1, 0, Some(holding));
    let lender = Ambient::borrow(7).expect("held");
    assert_eq!(Ambient::borrow(7), None, "lent already");
    assert_eq!(Ambient::borrow(8), None, "not held");
    assert!(Ambient::repay(7, lender));
    assert!(Ambient::borrow(7).is_some());
    scope.note_loan(&mut holding);
    drop(scope);
    assert!(holding.is_lent(), "the mark outlives the poll");
    assert_eq!(Ambient::borrow(7), None, "outside the scope nothing is held");
}

#[test]
fn a_borrower_may_lend_on_and_the_outer_mark_stays() {
    let mut outer = Holding::of(7);
    let outer_scope = in_call(1, 0, Some(outer));
    let lender = Ambient::borrow(7).expect("held");
    let mut inner = Holding::of(7);
    let inner_scope = in_call(2, 0, Some(inner));
    assert_eq!(Ambient::borrow(7), Some(2), "the borrower's to lend");
    inner_scope.note_loan(&mut inner);
    drop(inner_scope);
    assert!(inner.is_lent());
    assert_eq!(Ambient::borrow(7), None, "the outer slot is still lent");
    assert!(!Ambient::repay(7, 2), "its lender is not in scope");
    assert!(Ambient::repay(7, lender));
    outer_scope.note_loan(&mut outer);
    drop(outer_scope);
    assert!(!outer.is_lent());
}

#[test]
fn a_loan_from_two_levels_up_is_kept_through_a_call_with_another_slot() {
    let mut outer = Holding::of(7);
    let outer_scope = in_call(1, 0, Some(outer));
    let mut middle = Holding::of(9);
    let middle_scope = in_call(2, 0, Some(middle));
    assert_eq!(Ambient::borrow(7), Some(1));
    middle_scope.note_loan(&mut middle);
    drop(middle_scope);
    assert!(!middle.is_lent());
    assert_eq!(Ambient::borrow(7), None);
    outer_scope.note_loan(&mut outer);
    drop(outer_scope);
    assert!(outer.is_lent());
}

#[test]
fn a_fifth_bulkhead_is_not_tracked_and_harms_nothing() {
    let scopes: Vec<_> = (1..=5).map(|n| in_call(u64::from(n), 0, Some(Holding::of(n)))).collect();
    assert_eq!(Ambient::borrow(4), Some(4));
    assert_eq!(Ambient::borrow(5), None);
    scopes.into_iter().rev().for_each(drop);
    assert_eq!((1..=5).filter_map(Ambient::borrow).count(), 0);
}

#[test]
fn a_panicking_poll_leaves_the_context_as_it_was() {
    let caught = std::panic::catch_unwind(|| {
        let _scope = in_call(5, 3, Some(Holding::of(7)));
        assert_eq!(attempt(), 3);
        panic!("the body's");
    });
    assert!(caught.is_err());
    assert_eq!((attempt(), call_id(), Ambient::borrow(7)), (0, None, None));
}

#[test]
fn an_attempt_ends_at_its_limit_or_at_the_deadline_and_inside_only_earlier() {
    let until = |limit: i64, deadline: i64| {
        let deadline = Deadline { at: Moment::from_raw(deadline), since: Moment::from_raw(0) };
        Ambient { deadline, limit: Moment::from_raw(limit), call: 1, attempt: 0 }.enter()
    };
    let end = || Ambient::here().end();
    assert_eq!(end(), Moment::NEVER);
    let outer = until(300, i64::MAX);
    assert_eq!((end(), Ambient::deadline().is_set()), (Moment::from_raw(300), false), "a limit is no deadline");
    let inner = until(2_000, 500);
    assert_eq!((end(), Ambient::deadline().at), (Moment::from_raw(300), Moment::from_raw(500)));
    let innermost = until(2_000, 200);
    assert_eq!(end(), Moment::from_raw(200));
    drop(innermost);
    assert_eq!(end(), Moment::from_raw(300));
    drop((inner, outer));
    assert_eq!(end(), Moment::NEVER);
}

#[test]
fn numbers_are_unique_over_threads() {
    let threads: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| (0..10_000).map(|_| next_call()).collect::<Vec<_>>())).collect();
    let mut all: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 40_000);
    assert!(!all.contains(&0));
}

#[test]
fn the_two_attempts_of_a_hedged_call_hold_apart_what_they_hold() {
    let first = Holding::of(7);
    let mut second = Holding::of(7);
    second.mark_second();
    assert_ne!(first.tag(1), second.tag(1));
    let scope = in_call(1, 0, Some(first));
    let lender = Ambient::borrow(7).expect("the first's slot");
    drop(scope);
    let _scope = in_call(1, 1, Some(second));
    let _ = Ambient::borrow(7).expect("the second's own, which is not lent");
    assert!(!Ambient::repay(7, lender), "what is owed to the first cannot be repaid to the second");
    assert!(Ambient::repay(7, second.tag(1)));
}
