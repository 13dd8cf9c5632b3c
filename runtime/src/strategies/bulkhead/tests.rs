//! The word alone, the bulkhead through its guards, against a reference model, and under real threads.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use proptest::prelude::*;

use super::decide::{Admission, Release, Word};
use super::{Bulkhead, Held, Limits, Queued, Slot, Waiting};
use crate::base::clock::Moment;
use crate::call::Detail;
use crate::call::context::{Ambient, Deadline};

/// A waker that counts.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Counting {
    fn new() -> (Arc<Self>, Waker) {
        let counting = Arc::new(Self::default());
        (counting.clone(), Waker::from(counting))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn new_bulkhead(slots: u32, queue: u32) -> &'static Bulkhead {
    static IDS: AtomicU32 = AtomicU32::new(1);
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    Box::leak(Box::new(Bulkhead::new(id, "recs", Limits { slots, queue })))
}

/// Runs a story on a bulkhead of its own; whatever happened, everything is free afterwards.
fn story(slots: u32, queue: u32, tell: impl FnOnce(&'static Bulkhead)) {
    let bulkhead = new_bulkhead(slots, queue);
    tell(bulkhead);
    assert_all_free(bulkhead);
}

fn assert_all_free(bulkhead: &'static Bulkhead) {
    assert_eq!(counts(bulkhead), (0, 0), "nothing runs and nobody waits at the end");
    let slots = bulkhead.limits().slots;
    let burst: Vec<Slot> = (0..slots).map(|_| enter(bulkhead)).collect();
    assert!(bulkhead.try_enter().is_none(), "not one slot more than there are");
    assert_eq!(counts(bulkhead), (slots, 0));
    drop(burst);
    assert_eq!(counts(bulkhead), (0, 0));
}

/// How many run and how many wait.
fn counts(bulkhead: &'static Bulkhead) -> (u32, u32) {
    let now = bulkhead.occupancy();
    (now.running, now.queued)
}

fn enter(bulkhead: &'static Bulkhead) -> Slot {
    bulkhead.try_enter().expect("a slot is free")
}

fn wait_with(bulkhead: &'static Bulkhead, waker: Waker) -> Waiting {
    match bulkhead.enqueue(waker) {
        Queued::Waiting(waiting) => waiting,
        Queued::Slot(_) => panic!("got a slot instead of a place in the queue"),
        Queued::Full(full) => panic!("refused instead of queued: {full:?}"),
    }
}

fn wait(bulkhead: &'static Bulkhead) -> Waiting {
    wait_with(bulkhead, Waker::noop().clone())
}

fn refusal(bulkhead: &'static Bulkhead) -> Detail {
    match bulkhead.enqueue(Waker::noop().clone()) {
        Queued::Full(full) => full,
        Queued::Slot(_) | Queued::Waiting(_) => panic!("accepted one more than fit"),
    }
}

fn poll(waiting: &mut Waiting) -> Option<Slot> {
    match waiting.poll_slot(&Context::from_waker(Waker::noop())) {
        Poll::Ready(slot) => Some(slot),
        Poll::Pending => None,
    }
}

fn granted(mut waiting: Waiting) -> Slot {
    poll(&mut waiting).expect("the slot has been handed over")
}

mod word {
    use super::*;

    /// The largest figure that a declaration may have.
    const MAX: u32 = 1_000_000;

    fn word(running: u32, queued: u32, slots: u32) -> Word {
        Word::from_raw(u64::from(running) | u64::from(queued) << 20 | u64::from(slots) << 40)
    }

    fn figures(word: Word) -> (u32, u32, u32) {
        (word.running(), word.queued(), word.slots())
    }

    #[test]
    fn the_largest_figures_fit_and_leave_room_for_one_more() {
        let full = word(MAX, MAX, MAX);
        assert_eq!(figures(full), (MAX, MAX, MAX));
        assert_eq!(full.enqueue(MAX), Admission::Full);
        let Admission::Queue(more) = full.enqueue(MAX + 1) else { panic!("there is room") };
        assert_eq!(figures(more), (MAX, MAX + 1, MAX), "no carry into the slots");
        let more = word(MAX, 0, MAX).with_slots(MAX + 1).admit().expect("a slot was added");
        assert_eq!(figures(more), (MAX + 1, 0, MAX + 1), "no carry into the queue");
        assert_eq!(Word::from_raw(full.to_raw()), full);
    }

    #[test]
    fn a_free_slot_is_not_for_a_newcomer_while_somebody_waits() {
        let mid_growth = word(1, 1, 2);
        assert_eq!(mid_growth.admit(), None);
        assert_eq!(mid_growth.enqueue(1), Admission::Full);
        assert_eq!(mid_growth.enqueue(2), Admission::Queue(word(1, 2, 2)));
        assert_eq!(mid_growth.grant(), Some(word(2, 0, 2)));
    }

    #[test]
    fn no_slots_and_no_queue_admit_nobody() {
        assert_eq!(Word::empty(0).enqueue(0), Admission::Full);
        assert_eq!(Word::empty(0).enqueue(1), Admission::Queue(word(0, 1, 0)));
        assert_eq!(Word::empty(0).grant(), None, "and there is nobody to grant one to");
    }

    #[test]
    fn after_a_cut_slots_are_kept_back_until_no_more_run_than_may() {
        assert_eq!(word(3, 2, 1).release(), Release::Free(word(2, 2, 1)));
        assert_eq!(word(2, 2, 1).release(), Release::Free(word(1, 2, 1)));
        assert_eq!(word(1, 2, 1).release(), Release::HandOver(word(1, 1, 1)));
        assert_eq!(word(1, 0, 1).release(), Release::Free(word(0, 0, 1)));
    }

    proptest! {
        #[test]
        fn every_step_changes_only_its_figure_and_keeps_the_invariant(
            running in 0..=MAX, queued in 0..=MAX, slots in 0..=MAX, bound in 0..=MAX,
        ) {
            let word = word(running, queued, slots);
            prop_assert_eq!(figures(word), (running, queued, slots));
            let holds = |word: Word| word.queued() == 0 || word.running() >= word.slots();
            let sound = holds(word);
            match word.enqueue(bound) {
                Admission::Slot(next) => {
                    prop_assert!(queued == 0 && running < slots);
                    prop_assert_eq!(figures(next), (running + 1, 0, slots));
                }
                Admission::Queue(next) => {
                    prop_assert!(queued < bound);
                    prop_assert_eq!(figures(next), (running, queued + 1, slots));
                    prop_assert!(holds(next) || !sound);
                }
                Admission::Full => prop_assert!(queued >= bound && (queued > 0 || running >= slots)),
            }
            if running > 0 {
                match word.release() {
                    Release::Free(next) => {
                        prop_assert_eq!(figures(next), (running - 1, queued, slots));
                        prop_assert!(holds(next) || !sound);
                    }
                    Release::HandOver(next) => {
                        prop_assert!(running <= slots);
                        prop_assert_eq!(figures(next), (running, queued - 1, slots));
                        prop_assert!(holds(next) || !sound);
                    }
                }
            }
            if queued > 0 {
                prop_assert_eq!(figures(word.leave_queue()), (running, queued - 1, slots));
            }
            match word.grant() {
                Some(next) => prop_assert_eq!(figures(next), (running + 1, queued - 1, slots)),
                None => prop_assert!(sound, "granting goes on until the invariant holds again"),
            }
            prop_assert_eq!(figures(word.with_slots(bound)), (running, queued, bound));
        }
    }
}

#[test]
fn exactly_slots_plus_queue_are_accepted_and_the_next_is_told_the_figures() {
    story(3, 2, |bulkhead| {
        let _slots = [enter(bulkhead), enter(bulkhead), enter(bulkhead)];
        assert!(bulkhead.try_enter().is_none());
        assert_eq!(bulkhead.full(), None, "there is room in the queue");
        let _waiting = [wait(bulkhead), wait(bulkhead)];
        let full = Detail::Full { name: "recs", slots: 3, running: 3, queue: 2, queued: 2 };
        assert_eq!(bulkhead.full(), Some(full));
        assert_eq!(refusal(bulkhead), full);
        assert_eq!(counts(bulkhead), (3, 2), "a refusal takes nothing");
    });
}

#[test]
fn without_a_queue_one_more_than_the_slots_is_refused() {
    story(1, 0, |bulkhead| {
        assert_eq!(bulkhead.full(), None);
        let _slot = enter(bulkhead);
        assert_eq!(refusal(bulkhead), Detail::Full { name: "recs", slots: 1, running: 1, queue: 0, queued: 0 });
    });
}

#[test]
fn asking_for_a_place_in_the_queue_gets_a_free_slot_at_once() {
    story(1, 1, |bulkhead| {
        let Queued::Slot(_slot) = bulkhead.enqueue(Waker::noop().clone()) else { panic!("a slot is free") };
        assert_eq!(counts(bulkhead), (1, 0));
        assert_eq!(bulkhead.occupancy().peak_running, 1);
    });
}

#[test]
fn waiters_are_served_in_the_order_they_came_and_only_the_served_one_is_woken() {
    story(1, 3, |bulkhead| {
        let mut slot = enter(bulkhead);
        let wakers: Vec<_> = (0..3).map(|_| Counting::new()).collect();
        let mut line: VecDeque<_> = wakers.iter().map(|(_, waker)| wait_with(bulkhead, waker.clone())).collect();
        for served in 0..3 {
            drop(slot);
            let woken: Vec<_> = wakers.iter().map(|(counting, _)| counting.count()).collect();
            assert_eq!(woken, (0..3).map(|nth| usize::from(nth <= served)).collect::<Vec<_>>());
            slot = granted(line.pop_front().expect("still in line"));
            assert_eq!(counts(bulkhead), (1, 2 - served), "and nobody else has one");
        }
    });
}

#[test]
fn a_newcomer_never_overtakes_a_waiter() {
    story(1, 2, |bulkhead| {
        let slot = enter(bulkhead);
        let first = wait(bulkhead);
        drop(slot);
        assert!(bulkhead.try_enter().is_none(), "the slot is the waiter's before it has looked");
        let mut second = wait(bulkhead);
        let slot = granted(first);
        assert!(poll(&mut second).is_none());
        drop(slot);
        drop(granted(second));
    });
}

#[test]
fn a_waiter_that_is_dropped_leaves_the_line_at_once_and_the_others_keep_their_order() {
    story(1, 3, |bulkhead| {
        let slot = enter(bulkhead);
        let (first, second, third) = (wait(bulkhead), wait(bulkhead), wait(bulkhead));
        drop(second);
        assert_eq!(counts(bulkhead), (1, 2));
        let fourth = wait(bulkhead);
        drop(first);
        drop(slot);
        let mut fourth = fourth;
        assert!(poll(&mut fourth).is_none(), "the third came before it");
        let slot = granted(third);
        drop(slot);
        drop(granted(fourth));
    });
}

#[test]
fn a_slot_granted_to_a_waiter_that_never_looked_passes_on() {
    story(1, 2, |bulkhead| {
        let slot = enter(bulkhead);
        let (counting, waker) = Counting::new();
        let (first, second) = (wait(bulkhead), wait_with(bulkhead, waker));
        drop(slot);
        assert_eq!(counts(bulkhead), (1, 1));
        drop(first);
        assert_eq!((counts(bulkhead), counting.count()), ((1, 0), 1), "to the next in line, who is woken");
        drop(second);
        assert_eq!(counts(bulkhead), (0, 0), "to nobody, when nobody is left");
    });
}

#[test]
fn giving_up_takes_the_slot_that_came_in_the_same_moment_and_nothing_otherwise() {
    story(1, 2, |bulkhead| {
        let slot = enter(bulkhead);
        let (first, second) = (wait(bulkhead), wait(bulkhead));
        assert!(second.give_up().is_none());
        assert_eq!(counts(bulkhead), (1, 1));
        drop(slot);
        let late = first.give_up().expect("handed over already");
        assert_eq!(counts(bulkhead), (1, 0));
        drop(late);
    });
}

#[test]
fn the_waker_of_the_latest_poll_is_the_one_that_is_woken() {
    story(1, 1, |bulkhead| {
        let slot = enter(bulkhead);
        let (early, early_waker) = Counting::new();
        let (late, late_waker) = Counting::new();
        let mut waiting = wait_with(bulkhead, early_waker.clone());
        assert!(waiting.poll_slot(&Context::from_waker(&early_waker)).is_pending());
        assert_eq!(Arc::strong_count(&early), 3, "here, in our waker, and once in the line");
        assert!(waiting.poll_slot(&Context::from_waker(&late_waker)).is_pending());
        assert_eq!(Arc::strong_count(&early), 2, "the replaced one is let go");
        drop(slot);
        assert_eq!((early.count(), late.count()), (0, 1));
        drop(granted(waiting));
        assert_eq!(Arc::strong_count(&late), 2, "nothing of a served waiter stays behind");
    });
}

#[test]
fn more_slots_go_to_the_oldest_waiters_first() {
    story(1, 4, |bulkhead| {
        let slot = enter(bulkhead);
        let wakers: Vec<_> = (0..3).map(|_| Counting::new()).collect();
        let mut line: Vec<_> = wakers.iter().map(|(_, waker)| wait_with(bulkhead, waker.clone())).collect();
        bulkhead.resize(Limits { slots: 3, queue: 4 });
        assert_eq!(counts(bulkhead), (3, 1));
        assert_eq!(wakers.iter().map(|(counting, _)| counting.count()).collect::<Vec<_>>(), [1, 1, 0]);
        let mut third = line.pop().expect("three of them");
        let _slots: Vec<_> = line.into_iter().map(granted).collect();
        assert!(poll(&mut third).is_none());
        drop(slot);
        drop(granted(third));
        let more = enter(bulkhead);
        assert!(bulkhead.try_enter().is_none());
        drop(more);
    });
}

#[test]
fn fewer_slots_take_effect_as_slots_come_back_and_lose_no_waiter() {
    story(3, 2, |bulkhead| {
        let (a, b, c) = (enter(bulkhead), enter(bulkhead), enter(bulkhead));
        let mut first = wait(bulkhead);
        let second = wait(bulkhead);
        bulkhead.resize(Limits { slots: 1, queue: 2 });
        assert_eq!(counts(bulkhead), (3, 2));
        drop(a);
        drop(b);
        assert!(poll(&mut first).is_none(), "one still runs, and only one may");
        assert_eq!(counts(bulkhead), (1, 2));
        drop(c);
        let slot = granted(first);
        assert_eq!(counts(bulkhead), (1, 1));
        drop(slot);
        drop(granted(second));
    });
}

#[test]
fn a_shorter_queue_turns_newcomers_away_and_keeps_who_stands_in_line() {
    story(1, 2, |bulkhead| {
        let slot = enter(bulkhead);
        let (first, second) = (wait(bulkhead), wait(bulkhead));
        bulkhead.resize(Limits { slots: 1, queue: 1 });
        assert_eq!(refusal(bulkhead), Detail::Full { name: "recs", slots: 1, running: 1, queue: 1, queued: 2 });
        drop(slot);
        assert!(bulkhead.full().is_some(), "one waits, and one may");
        drop(granted(first));
        drop(granted(second));
    });
}

#[test]
fn no_slots_at_all_hold_everyone_until_there_are_some_again() {
    story(1, 1, |bulkhead| {
        let slot = enter(bulkhead);
        let mut waiting = wait(bulkhead);
        bulkhead.resize(Limits { slots: 0, queue: 1 });
        drop(slot);
        assert!(poll(&mut waiting).is_none());
        assert_eq!(counts(bulkhead), (0, 1));
        bulkhead.resize(Limits { slots: 1, queue: 1 });
        drop(granted(waiting));
    });
}

#[test]
fn peaks_keep_the_highest_figures_ever_seen() {
    let peaks = |bulkhead: &'static Bulkhead| {
        let now = bulkhead.occupancy();
        (now.peak_running, now.peak_queued)
    };
    story(2, 3, |bulkhead| {
        assert_eq!(peaks(bulkhead), (0, 0));
        let slots = [enter(bulkhead), enter(bulkhead)];
        let waiting = [wait(bulkhead), wait(bulkhead)];
        assert_eq!(peaks(bulkhead), (2, 2));
        drop(waiting);
        drop(slots);
        let slots = [enter(bulkhead), enter(bulkhead)];
        let line = [wait(bulkhead), wait(bulkhead), wait(bulkhead)];
        bulkhead.resize(Limits { slots: 4, queue: 3 });
        assert_eq!(peaks(bulkhead), (4, 3), "slots added to those who wait count too");
        drop(line);
        drop(slots);
        assert_eq!(peaks(bulkhead), (4, 3));
    });
}

mod loans {
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
            let inner =
                poll_body(&mut middle, calls[1], || bulkhead.borrow(calls[2]).expect("nor is the middle one's"));
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
}

mod against_a_model {
    use super::*;

    /// Who runs, who waits, and the limits: everything a bulkhead is.
    #[derive(Default)]
    struct Model {
        running: Vec<usize>,
        line: VecDeque<usize>,
        slots: usize,
        queue: usize,
    }

    impl Model {
        fn enter(&mut self, id: usize) -> bool {
            let free = self.line.is_empty() && self.running.len() < self.slots;
            self.running.extend(free.then_some(id));
            free
        }

        fn enqueue(&mut self, id: usize) -> bool {
            let room = self.line.len() < self.queue;
            self.line.extend(room.then_some(id));
            room
        }

        fn leave(&mut self, id: usize) {
            self.running.retain(|it| *it != id);
            self.line.retain(|it| *it != id);
            self.serve();
        }

        fn serve(&mut self) {
            while self.running.len() < self.slots {
                let Some(next) = self.line.pop_front() else { return };
                self.running.push(next);
            }
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Op {
        TryEnter,
        Enqueue,
        Poll(prop::sample::Index),
        Drop(prop::sample::Index),
        GiveUp(prop::sample::Index),
        Resize(u32, u32),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let index = any::<prop::sample::Index>;
        let op = prop_oneof![
            3 => Just(Op::TryEnter),
            6 => Just(Op::Enqueue),
            4 => index().prop_map(Op::Poll),
            5 => index().prop_map(Op::Drop),
            2 => index().prop_map(Op::GiveUp),
            1 => (0..5_u32, 0..5_u32).prop_map(|(slots, queue)| Op::Resize(slots, queue)),
        ];
        prop::collection::vec(op, 1..120)
    }

    enum Place {
        Slot(#[allow(dead_code)] Slot), // held, and given back by being dropped
        Waiting(Waiting),
    }

    /// A caller, what it holds, and its waker.
    struct Caller {
        id: usize,
        place: Place,
        woken: Arc<Counting>,
        waker: Waker,
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn any_sequence_of_events_leaves_it_as_it_leaves_the_model(
            slots in 0..4_u32, queue in 0..4_u32, ops in ops(),
        ) {
            let bulkhead = new_bulkhead(slots, queue);
            let mut model = Model { slots: slots as usize, queue: queue as usize, ..Model::default() };
            let mut peaks = (0, 0);
            let mut callers: Vec<Caller> = Vec::new();
            for (id, op) in ops.into_iter().enumerate() {
                let (woken, waker) = Counting::new();
                let pick = |index: prop::sample::Index| (!callers.is_empty()).then(|| index.index(callers.len()));
                match op {
                    Op::TryEnter => {
                        let slot = bulkhead.try_enter();
                        prop_assert_eq!(slot.is_some(), model.enter(id));
                        callers.extend(slot.map(|slot| Caller { id, place: Place::Slot(slot), woken, waker }));
                    }
                    Op::Enqueue => {
                        let refused = bulkhead.full();
                        let place = match bulkhead.enqueue(waker.clone()) {
                            Queued::Slot(slot) => {
                                prop_assert!(model.enter(id));
                                Some(Place::Slot(slot))
                            }
                            Queued::Waiting(waiting) => {
                                prop_assert!(!model.enter(id) && model.enqueue(id));
                                Some(Place::Waiting(waiting))
                            }
                            Queued::Full(full) => {
                                prop_assert!(!model.enter(id) && !model.enqueue(id));
                                prop_assert_eq!(refused, Some(full));
                                None
                            }
                        };
                        prop_assert_eq!(refused.is_some(), place.is_none(), "one read says the same");
                        callers.extend(place.map(|place| Caller { id, place, woken, waker }));
                    }
                    Op::Poll(index) => if let Some(at) = pick(index) {
                        let caller = &mut callers[at];
                        if let Place::Waiting(waiting) = &mut caller.place {
                            match waiting.poll_slot(&Context::from_waker(&caller.waker)) {
                                Poll::Ready(slot) => {
                                    prop_assert!(model.running.contains(&caller.id));
                                    caller.place = Place::Slot(slot);
                                }
                                Poll::Pending => prop_assert!(model.line.contains(&caller.id)),
                            }
                        }
                    }
                    Op::Drop(index) => if let Some(at) = pick(index) {
                        let caller = callers.swap_remove(at);
                        drop(caller.place);
                        model.leave(caller.id);
                    }
                    Op::GiveUp(index) => if let Some(at) = pick(index) {
                        let caller = callers.swap_remove(at);
                        if let Place::Waiting(waiting) = caller.place {
                            let late = waiting.give_up();
                            prop_assert_eq!(late.is_some(), model.running.contains(&caller.id));
                        }
                        model.leave(caller.id);
                    }
                    Op::Resize(slots, queue) => {
                        bulkhead.resize(Limits { slots, queue });
                        (model.slots, model.queue) = (slots as usize, queue as usize);
                        model.serve();
                    }
                }
                peaks = (peaks.0.max(model.running.len()), peaks.1.max(model.line.len()));
                let now = bulkhead.occupancy();
                let seen = [now.running, now.queued, now.slots, now.queue, now.peak_running, now.peak_queued];
                let modelled =
                    [model.running.len(), model.line.len(), model.slots, model.queue, peaks.0, peaks.1];
                prop_assert_eq!(seen.map(|figure| figure as usize), modelled);
                for caller in &callers {
                    if let Place::Waiting(_) = caller.place {
                        let is_served = model.running.contains(&caller.id);
                        prop_assert_eq!(caller.woken.count(), usize::from(is_served), "woken once, when served");
                    }
                }
            }
            drop(callers);
            assert_all_free(bulkhead);
        }
    }
}

#[test]
fn under_threads_and_random_cancels_no_bound_is_passed_and_nothing_is_lost() {
    const SLOTS: u32 = 3;
    const QUEUE: u32 = 4;
    const THREADS: u64 = 9; // more than slots and queue together, so that all three answers come up
    const ROUNDS: u32 = 3_000;

    struct Inside<'a>(&'a AtomicU32);
    impl<'a> Inside<'a> {
        fn enter(inside: &'a AtomicU32) -> Self {
            assert!(inside.fetch_add(1, Ordering::SeqCst) < SLOTS, "more bodies run than there are slots");
            Self(inside)
        }
    }
    impl Drop for Inside<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    let bulkhead = new_bulkhead(SLOTS, QUEUE);
    let inside = Arc::new(AtomicU32::new(0));
    let answers: Arc<[AtomicU32; 5]> = Arc::default();
    let (done, all_done) = std::sync::mpsc::channel();
    let threads: Vec<_> = (0..THREADS)
        .map(|seed| {
            let (inside, answers, done) = (inside.clone(), answers.clone(), done.clone());
            std::thread::spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let run = |slot: Slot| {
                    let body = Inside::enter(&inside);
                    std::thread::yield_now();
                    drop(body);
                    drop(slot);
                };
                let saw = |answer: usize| answers[answer].fetch_add(1, Ordering::Relaxed);
                for _ in 0..ROUNDS {
                    if random.u8(..4) == 0 {
                        bulkhead.try_enter().into_iter().for_each(&run);
                        continue;
                    }
                    let mut waiting = match bulkhead.enqueue(Waker::noop().clone()) {
                        Queued::Waiting(waiting) => waiting,
                        Queued::Slot(slot) => {
                            saw(0);
                            run(slot);
                            continue;
                        }
                        Queued::Full(_) => {
                            saw(1);
                            std::thread::yield_now();
                            continue;
                        }
                    };
                    match random.u8(..4) {
                        0 => {
                            saw(2);
                            drop(waiting);
                        }
                        1 => {
                            saw(3);
                            std::thread::yield_now();
                            waiting.give_up().into_iter().for_each(&run);
                        }
                        _ => {
                            saw(4);
                            run(futures::executor::block_on(poll_fn(|cx| waiting.poll_slot(cx))));
                        }
                    }
                }
                done.send(()).expect("the test waits for it");
            })
        })
        .collect();
    drop(done);
    for _ in 0..THREADS {
        // Not a pause: only a waiter that is never woken, or a thread that failed, lets this run out.
        all_done.recv_timeout(Duration::from_secs(60)).expect("every thread ends");
    }
    for thread in threads {
        thread.join().expect("no bound was passed");
    }
    let now = bulkhead.occupancy();
    assert!(now.peak_running <= SLOTS, "{now:?}");
    assert!(now.peak_queued <= QUEUE, "{now:?}");
    let answers = answers.each_ref().map(|answer| answer.load(Ordering::Relaxed));
    assert!(answers.iter().all(|&seen| seen > 0), "every way in and out was taken: {answers:?}");
    assert_all_free(bulkhead);
}
