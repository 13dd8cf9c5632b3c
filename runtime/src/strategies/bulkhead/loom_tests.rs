//! Every interleaving of two or three threads at the places where a slot or a waiter could get lost.
//!
//! Run with `RUSTFLAGS="--cfg watertight_loom" cargo test -p watertight --lib --release loom_`.
//!
//! A wake-up that is lost shows as a deadlock, which loom reports. The ambient context is a thread-local of the standard
//! library's, which all of loom's threads share: no scope is open while a second thread runs.

use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use loom::future::block_on;
use loom::model;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::{Bulkhead, Held, Limits, Queued, Slot, Waiting};
use crate::base::clock::Moment;
use crate::call::Detail;
use crate::call::context::{Ambient, Deadline};

fn new_bulkhead(slots: u32, queue: u32) -> &'static Bulkhead {
    Box::leak(Box::new(Bulkhead::new(1, "recs", Limits { slots, queue })))
}

fn assert_all_free(bulkhead: &'static Bulkhead) {
    assert_eq!(counts(bulkhead), (0, 0));
    let slots = bulkhead.limits().slots;
    let burst: Vec<Slot> = (0..slots).map(|_| enter(bulkhead)).collect();
    assert!(bulkhead.try_enter().is_none());
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

fn wait(bulkhead: &'static Bulkhead) -> Waiting {
    match bulkhead.enqueue(Waker::noop().clone()) {
        Queued::Waiting(waiting) => waiting,
        Queued::Slot(_) | Queued::Full(_) => panic!("not queued"),
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

/// Asks like a call does: whatever comes free first, for as long as it takes.
async fn enter_or_wait(bulkhead: &'static Bulkhead) -> Slot {
    let mut place = None;
    poll_fn(|cx| {
        let waiting = match &mut place {
            Some(waiting) => waiting,
            none => match bulkhead.enqueue(cx.waker().clone()) {
                Queued::Slot(slot) => return Poll::Ready(slot),
                Queued::Waiting(waiting) => none.insert(waiting),
                Queued::Full(full) => panic!("refused: {full:?}"),
            },
        };
        waiting.poll_slot(cx)
    })
    .await
}

#[test]
fn loom_one_slot_is_taken_once_when_two_ask() {
    model(|| {
        let bulkhead = new_bulkhead(1, 0);
        let other = thread::spawn(|| bulkhead.try_enter());
        let mine = bulkhead.try_enter();
        let theirs = other.join().expect("no panic");
        assert!(mine.is_some() != theirs.is_some());
        drop((mine, theirs));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_bodies_never_overlap_on_one_slot() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let inside = Arc::new(AtomicU32::new(0));
        let run = |inside: &AtomicU32| {
            let slot = block_on(enter_or_wait(bulkhead));
            assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0);
            inside.fetch_sub(1, Ordering::Relaxed);
            drop(slot);
        };
        let other = thread::spawn({
            let inside = inside.clone();
            move || run(&inside)
        });
        run(&inside);
        other.join().expect("no overlap");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_slot_given_back_reaches_whoever_queues_in_that_moment() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        drop(block_on(enter_or_wait(bulkhead)));
        holder.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_waiter_that_changes_its_waker_is_woken_all_the_same() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let mut waiting = wait(bulkhead); // with a waker that wakes nobody
        let holder = thread::spawn(|| drop(slot));
        drop(block_on(poll_fn(|cx| waiting.poll_slot(cx))));
        holder.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_waiter_dropped_while_it_is_being_served_passes_the_slot_on() {
    model(|| {
        let bulkhead = new_bulkhead(1, 2);
        let slot = enter(bulkhead);
        let first = wait(bulkhead);
        let second = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        drop(first);
        holder.join().expect("no panic");
        drop(granted(second));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_both_waiters_dropped_while_a_slot_comes_back_leave_it_free() {
    model(|| {
        let bulkhead = new_bulkhead(1, 2);
        let slot = enter(bulkhead);
        let first = wait(bulkhead);
        let second = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        let other = thread::spawn(|| drop(second));
        drop(first);
        holder.join().expect("no panic");
        other.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_caller_that_comes_while_a_slot_comes_back_and_a_waiter_leaves_is_served() {
    let mut builder = model::Builder::new();
    builder.preemption_bound = Some(3); // without it half a minute
    builder.check(|| {
        let bulkhead = new_bulkhead(1, 2);
        let slot = enter(bulkhead);
        let waiting = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        let leaver = thread::spawn(|| drop(waiting));
        drop(block_on(enter_or_wait(bulkhead)));
        holder.join().expect("no panic");
        leaver.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_giving_up_gets_the_slot_or_leaves_the_line_and_never_both() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let waiting = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        let late = waiting.give_up();
        holder.join().expect("no panic");
        assert_eq!(counts(bulkhead), (u32::from(late.is_some()), 0));
        drop(late);
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_newcomer_cannot_overtake_a_waiter() {
    model(|| {
        let bulkhead = new_bulkhead(1, 2);
        let slot = enter(bulkhead);
        let first = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        let barging = thread::spawn(|| bulkhead.try_enter().is_some());
        let mut second = match bulkhead.enqueue(Waker::noop().clone()) {
            Queued::Waiting(second) => second,
            Queued::Slot(_) => panic!("overtook the waiter through the queue"),
            Queued::Full(full) => panic!("refused with room in the queue: {full:?}"),
        };
        holder.join().expect("no panic");
        assert!(!barging.join().expect("no panic"), "overtook the waiter at the door");
        assert!(poll(&mut second).is_none());
        drop(granted(first));
        drop(granted(second));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_slots_added_while_one_comes_back_serve_every_waiter() {
    model(|| {
        let bulkhead = new_bulkhead(1, 2);
        let slot = enter(bulkhead);
        let first = wait(bulkhead);
        let second = wait(bulkhead);
        let holder = thread::spawn(|| drop(slot));
        bulkhead.resize(Limits { slots: 2, queue: 2 });
        holder.join().expect("no panic");
        let (first, second) = (granted(first), granted(second));
        assert_eq!(counts(bulkhead), (2, 0));
        drop((first, second));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_slots_cut_while_one_comes_back_lose_neither_it_nor_the_waiter() {
    model(|| {
        let bulkhead = new_bulkhead(2, 1);
        let (a, b) = (enter(bulkhead), enter(bulkhead));
        let mut waiting = wait(bulkhead);
        let holder = thread::spawn(|| drop(a));
        bulkhead.resize(Limits { slots: 1, queue: 1 });
        holder.join().expect("no panic");
        // Handed over before the cut, or kept back after it.
        let served = poll(&mut waiting);
        assert_eq!(counts(bulkhead), if served.is_some() { (2, 0) } else { (1, 1) });
        drop(b);
        drop(served.unwrap_or_else(|| granted(waiting)));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_slots_cut_while_two_come_back_serve_the_waiter_with_the_last() {
    model(|| {
        let bulkhead = new_bulkhead(2, 1);
        let (a, b) = (enter(bulkhead), enter(bulkhead));
        let waiting = wait(bulkhead);
        let one = thread::spawn(|| drop(a));
        let other = thread::spawn(|| drop(b));
        bulkhead.resize(Limits { slots: 1, queue: 1 });
        one.join().expect("no panic");
        other.join().expect("no panic");
        drop(granted(waiting));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_waiter_that_leaves_while_slots_are_added_takes_none_with_it() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let waiting = wait(bulkhead);
        let leaver = thread::spawn(|| drop(waiting));
        bulkhead.resize(Limits { slots: 2, queue: 1 });
        leaver.join().expect("no panic");
        assert_eq!(counts(bulkhead), (1, 0));
        drop(slot);
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_the_last_place_in_the_queue_is_given_once() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let ask = || match bulkhead.enqueue(Waker::noop().clone()) {
            Queued::Waiting(waiting) => Some(waiting),
            Queued::Full(full) => {
                assert_eq!(full, Detail::Full { name: "recs", slots: 1, running: 1, queue: 1, queued: 1 });
                None
            }
            Queued::Slot(_) => panic!("the slot is taken"),
        };
        let other = thread::spawn(ask);
        let mine = ask();
        let theirs = other.join().expect("no panic");
        assert!(mine.is_some() != theirs.is_some());
        drop((mine, theirs, slot));
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_a_refusal_is_right_at_the_moment_it_is_decided() {
    model(|| {
        let bulkhead = new_bulkhead(1, 1);
        let slot = enter(bulkhead);
        let full = Detail::Full { name: "recs", slots: 1, running: 1, queue: 1, queued: 1 };
        let holder = thread::spawn(|| drop(slot));
        let other = thread::spawn(move || {
            assert!(bulkhead.full().is_none_or(|refused| refused == full));
            bulkhead.enqueue(Waker::noop().clone())
        });
        let mine = bulkhead.enqueue(Waker::noop().clone());
        let theirs = other.join().expect("no panic");
        let answers = [&mine, &theirs];
        for answer in answers {
            assert!(!matches!(answer, Queued::Full(refused) if *refused != full), "one ran and one waited");
        }
        assert!(!answers.iter().all(|answer| matches!(answer, Queued::Full(_))), "one of two finds a place");
        holder.join().expect("no panic");
        let now = bulkhead.occupancy();
        assert!(now.peak_running <= 1 && now.peak_queued <= 1, "{now:?}");
        drop((mine, theirs));
        assert_all_free(bulkhead);
    });
}

/// What a call holds that borrows the slot of the call in `held`, which is out of its scope again.
fn lend(bulkhead: &'static Bulkhead, held: &mut Held, lender: u64, borrower: u64) -> Held {
    let around = Ambient { deadline: Deadline::NONE, limit: Moment::NEVER, call: lender, attempt: 0 };
    let scope = around.enter_holding(Some(held.holding));
    let inner = bulkhead.borrow(borrower).expect("held, and not lent");
    scope.note_loan(&mut held.holding);
    drop(scope);
    inner
}

#[test]
fn loom_a_lender_and_its_borrower_that_end_at_once_give_the_slot_back_once() {
    model(|| {
        let bulkhead = new_bulkhead(1, 0);
        let mut outer = Held::own(enter(bulkhead), 1);
        let inner = lend(bulkhead, &mut outer, 1, 2);
        let other = thread::spawn(|| drop(inner));
        drop(outer);
        other.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}

#[test]
fn loom_three_on_one_slot_that_end_at_once_give_it_back_once() {
    model(|| {
        let bulkhead = new_bulkhead(1, 0);
        let mut outer = Held::own(enter(bulkhead), 1);
        let mut middle = lend(bulkhead, &mut outer, 1, 2);
        let inner = lend(bulkhead, &mut middle, 2, 3);
        let one = thread::spawn(|| drop(inner));
        let other = thread::spawn(|| drop(middle));
        drop(outer);
        one.join().expect("no panic");
        other.join().expect("no panic");
        assert_all_free(bulkhead);
    });
}
