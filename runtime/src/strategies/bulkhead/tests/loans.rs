//! A slot lent to a nested call, and what becomes of it in whatever order the two end.

use super::*;

/// Runs code as the body of a call that holds a slot, for the length of one poll.
fn poll_body<T>(held: &mut Held, call: u64, body: impl FnOnce() -> T) -> T {
    let around = Ambient { deadline: Deadline::NONE, limit: Moment::NEVER, call, attempt: 0 };
    let scope = around.enter_holding(Some(held.holding));
    let output = body();
    scope.note_loan(&mut held.holding);
    drop(scope);
    output
}

/// Three calls, each called by the one before and on a slot borrowed from it, all out of their scopes.
fn chain(bulkhead: &'static Bulkhead, calls: [u64; 3]) -> [Held; 3] {
    let mut outer = Held::own(enter(bulkhead), calls[0]);
    let (middle, inner) = poll_body(&mut outer, calls[0], || {
        let mut middle = bulkhead.borrow(calls[1]).expect("the outer slot is not lent yet");
        let inner = poll_body(&mut middle, calls[1], || bulkhead.borrow(calls[2]).expect("nor is the middle one's"));
        (middle, inner)
    });
    [outer, middle, inner]
}

#[test]
fn a_nested_call_runs_on_the_slot_around_it_and_a_second_one_does_not() {
    story(1, 0, |bulkhead| {
        let mut outer = Held::own(enter(bulkhead), 1);
        assert!(!outer.is_borrowed());
        poll_body(&mut outer, 1, || {
            let inner = bulkhead.borrow(2).expect("held, and not lent");
            assert!(inner.is_borrowed());
            assert_eq!(counts(bulkhead), (1, 0), "two calls, one slot");
            assert!(bulkhead.borrow(3).is_none(), "lent already");
            drop(inner);
            assert!(bulkhead.borrow(4).is_some(), "repaid");
        });
        assert_eq!(counts(bulkhead), (1, 0));
        assert!(bulkhead.borrow(5).is_none(), "outside the scope there is nothing to borrow");
    });
}

#[test]
fn a_slot_of_another_bulkhead_is_not_lent() {
    story(1, 0, |bulkhead| {
        story(1, 0, |other| {
            let mut outer = Held::own(enter(bulkhead), 1);
            poll_body(&mut outer, 1, || assert!(other.borrow(2).is_none()));
        });
    });
}

#[test]
fn a_loan_stands_over_polls_of_the_lender() {
    story(1, 0, |bulkhead| {
        let mut outer = Held::own(enter(bulkhead), 1);
        let inner = poll_body(&mut outer, 1, || bulkhead.borrow(2)).expect("held");
        poll_body(&mut outer, 1, || {
            assert!(bulkhead.borrow(3).is_none(), "still lent");
            drop(inner);
            assert!(bulkhead.borrow(3).is_some());
        });
        drop(outer);
    });
}

#[test]
fn a_borrower_that_outlives_its_lender_keeps_the_slot_and_hands_it_on() {
    story(1, 1, |bulkhead| {
        let mut outer = Held::own(enter(bulkhead), 1);
        let inner = poll_body(&mut outer, 1, || bulkhead.borrow(2)).expect("held");
        let mut waiting = wait(bulkhead);
        drop(outer);
        assert_eq!(counts(bulkhead), (1, 1), "the borrower still runs on it");
        assert!(poll(&mut waiting).is_none());
        drop(inner);
        drop(granted(waiting));
    });
}

#[test]
fn a_borrower_that_ends_elsewhere_leaves_the_slot_to_its_running_lender() {
    story(1, 1, |bulkhead| {
        let mut outer = Held::own(enter(bulkhead), 1);
        let inner = poll_body(&mut outer, 1, || bulkhead.borrow(2)).expect("held");
        std::thread::scope(|threads| {
            threads.spawn(|| drop(inner));
        });
        assert_eq!(counts(bulkhead), (1, 0), "the lender still runs on it");
        drop(outer);
    });
}

#[test]
fn a_slot_lent_twice_over_is_free_when_the_last_of_the_three_has_ended_in_whatever_order() {
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        story(1, 0, |bulkhead| {
            let mut held = chain(bulkhead, [1, 2, 3]).map(Some);
            for next in order {
                assert_eq!(counts(bulkhead), (1, 0), "{order:?}: one of them still runs");
                held[next] = None;
            }
            assert_eq!(counts(bulkhead), (0, 0), "{order:?}");
        });
    }
}

#[test]
fn the_innermost_of_three_repays_the_outermost_when_the_middle_one_has_ended() {
    story(1, 0, |bulkhead| {
        let [mut outer, middle, inner] = chain(bulkhead, [1, 2, 3]);
        poll_body(&mut outer, 1, || {
            drop(middle);
            assert!(bulkhead.borrow(4).is_none(), "the innermost runs on it");
            drop(inner);
            assert!(bulkhead.borrow(4).is_some(), "repaid past the one that has ended");
        });
        assert!(!outer.holding.is_lent());
    });
}

#[test]
fn attempts_of_one_call_settle_their_loans_one_by_one() {
    // Both attempts have the call's number, so their notes look alike; what counts is that the sum is right.
    story(2, 0, |bulkhead| {
        let mut first = Held::own(enter(bulkhead), 1);
        let from_first = poll_body(&mut first, 1, || bulkhead.borrow(2)).expect("held");
        drop(first);
        let mut second = Held::own(enter(bulkhead), 1);
        let from_second = poll_body(&mut second, 1, || bulkhead.borrow(3)).expect("held");
        drop(from_second);
        drop(second);
        assert_eq!(counts(bulkhead), (1, 0));
        drop(from_first);
    });
}

#[test]
fn a_settled_loan_leaves_nothing_behind_for_the_next_attempt_of_the_same_call() {
    story(1, 0, |bulkhead| {
        for _ in 0..2 {
            let mut lender = Held::own(enter(bulkhead), 1);
            let moved_away = poll_body(&mut lender, 1, || bulkhead.borrow(2)).expect("held");
            drop(moved_away);
            drop(lender);
            let mut lender = Held::own(enter(bulkhead), 1);
            let moved_away = poll_body(&mut lender, 1, || bulkhead.borrow(3)).expect("held");
            drop(lender);
            assert_eq!(counts(bulkhead), (1, 0), "it still runs on the slot");
            drop(moved_away);
        }
    });
}

#[test]
fn call_numbers_beyond_the_tag_are_settled_by_their_tag() {
    let large = (1 << 50) + 7;
    story(1, 0, |bulkhead| {
        let [outer, middle, inner] = chain(bulkhead, [large, large + 1, large + 2]);
        drop(middle);
        drop(outer);
        assert_eq!(counts(bulkhead), (1, 0));
        drop(inner);
    });
}
