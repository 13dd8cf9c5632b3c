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

mod shares;
mod word;

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

mod loans;

mod against_a_model;

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
