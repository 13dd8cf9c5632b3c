//! The hand-over of bodies between callers and threads, on real threads; the slots are counted by the test, the bulkhead
//! that counts them otherwise has tests of its own.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU32, Ordering as Plain};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex as StdMutex};
use std::time::Duration;

use tokio::time::sleep;

use super::*;
use crate::base::park::wait;
use crate::call::context::{Deadline, Holding};

/// Longer than anything here takes, so that a failure is one and no hang.
const PATIENCE: Duration = Duration::from_secs(20);

#[allow(clippy::disallowed_methods)] // threads are the subject
fn block_for(length: Duration) {
    std::thread::sleep(length);
}

/// A slot that says how many there are.
struct Place {
    holding: Holding,
    taken: Arc<AtomicU32>,
}

impl Seat for Place {
    fn holding(&mut self) -> &mut Holding {
        &mut self.holding
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.taken.fetch_sub(1, Plain::SeqCst);
    }
}

/// A compartment, its slots counted by the test instead of a bulkhead.
struct Fixture {
    workers: &'static Workers,
    taken: Arc<AtomicU32>,
}

impl Fixture {
    fn new() -> Self {
        Self { workers: Box::leak(Box::new(Workers::new("fixture"))), taken: Arc::default() }
    }

    fn submit<F>(&self, body: F) -> Ticket<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let taken = self.taken.fetch_add(1, Plain::SeqCst) + 1;
        assert!(self.workers.keep_up(taken), "a thread");
        let seat = Place { holding: Holding::of(u32::MAX), taken: Arc::clone(&self.taken) };
        let context = Ambient { deadline: Deadline::NONE, limit: Moment::NEVER, call: 7, attempt: 3 };
        self.workers.submit(context, seat, body)
    }

    fn taken(&self) -> u32 {
        self.taken.load(Plain::SeqCst)
    }

    fn at_large(&self) -> u64 {
        self.workers.standing().at_large
    }

    /// Waits until something about the other thread has come true.
    #[track_caller]
    fn until(&self, what: impl Fn(&Self) -> bool) {
        let give_up = Moment::now().plus(20_000_000_000);
        while !what(self) {
            assert!(Moment::now() < give_up, "it never came true");
            block_for(Duration::from_millis(1));
        }
    }
}

/// A body that blocks its thread until the test lets it go, and says when it has begun.
fn blocking() -> (impl Future<Output = u32> + Send + 'static, Receiver<()>, Sender<()>) {
    let (begun, has_begun) = channel();
    let (go, let_go) = channel::<()>();
    // The receiver may not be shared between threads, and the body is not.
    let let_go = StdMutex::new(let_go);
    let body = async move {
        begun.send(()).expect("heard");
        let _ = let_go.lock().expect("never poisoned").recv();
        5
    };
    (body, has_begun, go)
}

/// Notes the thread on which it is dropped.
struct DropsOn(Sender<Option<String>>);

impl Drop for DropsOn {
    fn drop(&mut self) {
        let _ = self.0.send(std::thread::current().name().map(str::to_owned));
    }
}

#[test]
fn a_body_runs_on_a_thread_of_the_compartment_in_the_context_it_was_given() {
    let fixture = Fixture::new();
    let seen = wait(fixture.submit(async {
        let name = std::thread::current().name().map(str::to_owned);
        (name, Ambient::here().call, Ambient::here().attempt)
    }));
    assert_eq!(seen, (Some("fixture-1".to_owned()), 7, 3));
    assert_eq!(Ambient::here().call, 0);
}

#[test]
fn threads_start_one_by_one_and_are_used_again() {
    let fixture = Fixture::new();
    assert_eq!(fixture.workers.standing().started, 0);
    for _ in 0..20 {
        wait(fixture.submit(async {}));
    }
    assert_eq!(fixture.workers.standing().started, 1);
    let (first, has_begun, go) = blocking();
    let first = fixture.submit(first);
    has_begun.recv_timeout(PATIENCE).expect("begun");
    assert_eq!(wait(fixture.submit(async { 2 })), 2, "beside the one that blocks");
    assert_eq!(fixture.workers.standing().started, 2);
    drop(go);
    assert_eq!(wait(first), 5);
}

#[test]
fn the_slot_is_free_before_the_answer_is_seen() {
    let fixture = Fixture::new();
    for _ in 0..200 {
        wait(fixture.submit(async {}));
        assert_eq!(fixture.taken(), 0);
    }
}

#[test]
fn a_panic_surfaces_in_the_caller_and_the_thread_lives() {
    let fixture = Fixture::new();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        wait(fixture.submit(async { resume_unwind(Box::new("the body's own")) }));
    }));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"the body's own"));
    assert_eq!((fixture.taken(), fixture.at_large()), (0, 0));
    assert!(wait(fixture.submit(async { std::thread::current().name() == Some("fixture-1") })));
    assert_eq!(fixture.workers.standing().started, 1);
}

/// Panics whenever it is dropped.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        resume_unwind(Box::new(Fuse));
    }
}

/// Panics when what was thrown is dropped.
struct Fuse;

impl Drop for Fuse {
    fn drop(&mut self) {
        resume_unwind(Box::new("the last of it"));
    }
}

#[test]
fn whatever_panics_when_it_is_dropped_the_slot_comes_back_and_the_thread_lives() {
    let fixture = Fixture::new();
    // Told to stop at its await, and panicking then; and an answer that nobody takes and that panics.
    let (begun, has_begun) = channel();
    let resting = fixture.submit(async move {
        let _grenade = Grenade;
        begun.send(()).expect("heard");
        std::future::pending::<()>().await;
    });
    has_begun.recv_timeout(PATIENCE).expect("begun");
    drop(resting);
    fixture.until(|it| it.taken() == 0);
    let (body, has_begun, go) = blocking();
    let unwanted = fixture.submit(async move {
        body.await;
        Grenade
    });
    has_begun.recv_timeout(PATIENCE).expect("begun");
    drop(unwanted);
    drop(go);
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
    assert_eq!(wait(fixture.submit(async { 1 })), 1);
    assert_eq!(fixture.workers.standing().started, 1);
}

#[test]
fn a_body_at_an_await_is_dropped_on_its_own_thread_when_its_caller_goes() {
    let fixture = Fixture::new();
    let (begun, has_begun) = channel();
    let (note, dropped_on) = channel();
    let ticket = fixture.submit(async move {
        let _notes = DropsOn(note);
        begun.send(()).expect("heard");
        std::future::pending::<()>().await;
    });
    has_begun.recv_timeout(PATIENCE).expect("begun");
    drop(ticket);
    assert_eq!(dropped_on.recv_timeout(PATIENCE).expect("dropped").as_deref(), Some("fixture-1"));
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
}

#[test]
fn code_that_blocks_is_abandoned_keeps_its_slot_and_is_counted_with_its_overrun() {
    let fixture = Fixture::new();
    let (body, has_begun, go) = blocking();
    let (note, dropped_on) = channel();
    let ticket = fixture.submit(async move {
        let _notes = DropsOn(note);
        body.await
    });
    has_begun.recv_timeout(PATIENCE).expect("begun");
    drop(ticket);
    let standing = fixture.workers.standing();
    assert_eq!((standing.at_large, standing.abandoned, standing.overran.count()), (1, 1, 0));
    block_for(Duration::from_millis(20));
    assert_eq!((fixture.taken(), fixture.at_large()), (1, 1), "still");
    assert!(dropped_on.try_recv().is_err());
    drop(go);
    assert_eq!(dropped_on.recv_timeout(PATIENCE).expect("dropped").as_deref(), Some("fixture-1"));
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
    let standing = fixture.workers.standing();
    assert_eq!((standing.abandoned, standing.overran.count()), (1, 1));
    assert!(standing.overran.sum() >= Duration::from_millis(20));
}

#[test]
fn abandoned_code_that_comes_to_an_await_goes_no_further() {
    let fixture = Fixture::new();
    let (body, has_begun, go) = blocking();
    let (further, went_further) = channel();
    let ticket = fixture.submit(async move {
        body.await;
        tokio::task::yield_now().await;
        further.send(()).expect("heard");
    });
    has_begun.recv_timeout(PATIENCE).expect("begun");
    drop(ticket);
    drop(go);
    assert!(went_further.recv_timeout(PATIENCE).is_err(), "dropped instead");
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
}

#[test]
fn a_body_whose_caller_goes_before_it_begins_is_never_polled() {
    let fixture = Fixture::new();
    let (first, has_begun, go) = blocking();
    let first = fixture.submit(first);
    has_begun.recv_timeout(PATIENCE).expect("begun");
    // One slot too many for the threads there are, as between the end of a body and its thread's next round.
    let polled = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&polled);
    fixture.taken.fetch_add(1, Plain::SeqCst);
    let seat = Place { holding: Holding::of(u32::MAX), taken: Arc::clone(&fixture.taken) };
    let context = Ambient { deadline: Deadline::NONE, limit: Moment::NEVER, call: 8, attempt: 0 };
    let second = fixture.workers.submit(context, seat, async move { seen.fetch_add(1, Plain::SeqCst) });
    drop(second);
    assert_eq!(fixture.at_large(), 0, "it has not begun");
    drop(go);
    wait(first);
    fixture.until(|it| it.taken() == 0);
    assert_eq!((polled.load(Plain::SeqCst), fixture.workers.standing().abandoned), (0, 0));
}

#[test]
fn timers_and_spawned_tasks_are_those_of_the_callers_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let fixture = Fixture::new();
    runtime.block_on(async {
        let here = tokio::runtime::Handle::current().id();
        let there = fixture.submit(async {
            sleep(Duration::from_millis(2)).await;
            tokio::spawn(async { tokio::runtime::Handle::current().id() }).await.expect("no panic")
        });
        assert_eq!(there.await, here);
    });
}

#[test]
fn a_body_may_block_on_its_runtime_as_any_blocking_code_may() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
    let runtime = runtime.expect("a runtime");
    let fixture = Fixture::new();
    let answer = runtime.block_on(async {
        fixture
            .submit(async {
                tokio::runtime::Handle::current().block_on(async {
                    sleep(Duration::from_millis(1)).await;
                    3
                })
            })
            .await
    });
    assert_eq!(answer, 3);
}

#[test]
fn a_runtime_that_goes_down_with_work_in_flight_neither_waits_nor_panics() {
    let fixture = Fixture::new();
    let (body, has_begun, go) = blocking();
    {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build();
        let runtime = runtime.expect("a runtime");
        let _inside = runtime.enter();
        let blocks = fixture.submit(body);
        let sleeps = fixture.submit(async { sleep(Duration::from_secs(3_600)).await });
        has_begun.recv_timeout(PATIENCE).expect("begun");
        runtime.spawn(async move {
            blocks.await;
            sleeps.await;
        });
    }
    // It is down, and the code that blocks is not back yet.
    fixture.until(|it| (it.taken(), it.at_large()) == (1, 1));
    drop(go);
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
    assert_eq!(wait(fixture.submit(async { 4 })), 4);
}

#[test]
fn a_compartment_is_lost_when_all_its_threads_are_and_have_been_for_a_while() {
    let fixture = Fixture::new();
    let (body, has_begun, go) = blocking();
    let ticket = fixture.submit(body);
    has_begun.recv_timeout(PATIENCE).expect("begun");
    let lost = |wait: u64, later: u64| fixture.workers.is_lost(1, wait, || Moment::now().plus(later));
    assert!(!lost(0, 0), "its caller waits");
    drop(ticket);
    assert!(!lost(1_000_000_000_000, 0), "it may come back");
    assert!(lost(1_000_000_000_000, 2_000_000_000_000));
    assert!(!fixture.workers.is_lost(2, 0, Moment::now), "the other is there");
    drop(go);
    fixture.until(|it| it.at_large() == 0);
    assert!(!lost(0, 5));
}

#[test]
fn many_callers_and_threads_lose_nothing() {
    let fixture = Fixture::new();
    let sum: u32 = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..4)
            .map(|caller| {
                let fixture = &fixture;
                scope.spawn(move || {
                    (0..500)
                        .map(|turn| {
                            let ticket = fixture.submit(async move { caller * 1_000 + turn });
                            // Every seventh caller goes at once, wherever its body is by then.
                            if turn % 7 == 0 { caller * 1_000 + turn } else { wait(ticket) }
                        })
                        .sum::<u32>()
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().expect("no panic")).sum()
    });
    assert_eq!(sum, (0..4).map(|caller| (0..500).map(|turn| caller * 1_000 + turn).sum::<u32>()).sum::<u32>());
    fixture.until(|it| it.taken() == 0 && it.at_large() == 0);
    let standing = fixture.workers.standing();
    assert_eq!(standing.overran.count(), standing.abandoned);
}
