//! No allocation on the happy path of the full stack, and none for a refusal.
//!
//! Counting is per thread, so tests side by side do not count into one another. What a function sets up once (its
//! pipeline, the calling thread's cells) is allocated by the calls before the counting begins.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use allocation_counter::measure;
use watertight::guard::{Breaker, Bulkhead};
use watertight::{Error, ErrorKind, Failure, Guard, deadline, resilient};

const CALLS: u32 = 10_000;

/// How often the calling thread asks for memory in ten thousand calls, after a few to warm up.
fn allocations_of<F: Future>(call: impl Fn() -> F, check: impl Fn(F::Output)) -> u64 {
    let once = || {
        let mut call = pin!(call());
        match call.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => check(answer),
            Poll::Pending => panic!("a body that is ready is not waited for"),
        }
    };
    (0..10).for_each(|_| once());
    measure(|| (0..CALLS).for_each(|_| once())).count_total
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations_of(|| async { Box::new(1_u8) }, drop), u64::from(CALLS));
    assert_eq!(allocations_of(|| async { 1_u8 }, |_| ()), 0);
}

#[resilient(timeout = "1s", bulkhead = "cost_full:8/queue:16", breaker, retry = 2)]
async fn cost_full(number: u32) -> Result<u32, Error> {
    Ok(number + 1)
}

#[resilient(timeout = "1s", deadline = "2s", bulkhead = "cost_fuller:8/queue:16", breaker, retry = 2, idempotent, fallback = || 0)]
async fn cost_fuller(number: u32) -> Result<u32, Error> {
    Ok(number + 1)
}

#[resilient(bulkhead = "cost_outer:8", timeout = "1s")]
async fn cost_outer(number: u32) -> Result<u32, Error> {
    Ok(cost_inner(number).await? + 1)
}

#[resilient(bulkhead = "cost_outer", timeout = "1s")]
async fn cost_inner(number: u32) -> Result<u32, Error> {
    Ok(number)
}

#[resilient(timeout = "1s", bulkhead = "cost_observed:8/queue:16", idempotent, observe = "0.01%")]
async fn cost_observed(number: u32) -> Result<u32, Error> {
    Ok(number + 1)
}

#[test]
fn a_call_that_is_not_drawn_to_be_observed_allocates_nothing() {
    // One roll says how many attempts come before the next draw: this makes it more than there are here.
    let late = (0..u64::MAX).find(|seed| fastrand::Rng::with_seed(*seed).f64() > 0.95).unwrap();
    fastrand::seed(late);
    assert_eq!(allocations_of(|| cost_observed(1), |answer| assert_eq!(answer.unwrap(), 2)), 0);
}

#[test]
fn ten_thousand_calls_of_the_full_stack_allocate_nothing() {
    assert_eq!(allocations_of(|| cost_full(1), |answer| assert_eq!(answer.unwrap(), 2)), 0);
    assert_eq!(watertight::snapshot().site("cost_full").unwrap().ok, u64::from(CALLS) + 10, "and all are counted");
}

// On a clock that stands: some estimates are made anew a few times a second, which takes memory.
#[tokio::test(start_paused = true)]
async fn nor_with_deadline_and_fallback_beside_it() {
    assert_eq!(allocations_of(|| cost_fuller(1), |answer| assert_eq!(answer.unwrap(), 2)), 0);
}

#[test]
fn nor_when_a_slot_is_lent_to_a_nested_call() {
    assert_eq!(allocations_of(|| cost_outer(1), |answer| assert_eq!(answer.unwrap(), 2)), 0);
    assert_eq!(watertight::snapshot().site("cost_inner").unwrap().lent, u64::from(CALLS) + 10);
}

#[test]
fn nor_when_a_guard_runs_a_closure() {
    let guard = guard("cost_guard");
    assert_eq!(
        allocations_of(|| guard.run(|| async { Ok::<_, Error>(2) }), |answer| assert_eq!(answer.unwrap(), 2)),
        0
    );
    assert_eq!(watertight::snapshot().site("cost_guard").unwrap().ok, u64::from(CALLS) + 10);
    let mut holders: Vec<_> = (0..24).map(|_| Box::pin(guard.run(std::future::pending::<Result<(), Error>>))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _entered = runtime.enter();
    for holder in &mut holders {
        assert!(holder.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    let full = |answer: Result<u32, Failure<Error>>| assert!(answer.unwrap_err().refusal().is_some());
    assert_eq!(allocations_of(|| guard.run(|| async { Ok(2) }), full), 0, "nor when it is full");
}

fn guard(name: &'static str) -> Guard {
    let guard = Guard::named(name).timeout(Duration::from_secs(1)).breaker(Breaker::own()).retry(2);
    guard.bulkhead(Bulkhead::new(name, 8).queue(16)).build().expect("a guard")
}

#[test]
fn nor_for_the_bodys_own_error() {
    #[resilient(timeout = "1s", bulkhead = "cost_error:8", retry(2, on = |_error| false))]
    async fn cost_error() -> Result<u32, Trouble> {
        Err(Trouble)
    }
    assert_eq!(allocations_of(cost_error, |answer| assert!(answer.is_err())), 0);
}

/// An error without anything inside.
#[derive(Debug)]
struct Trouble;

impl From<Error> for Trouble {
    fn from(_: Error) -> Self {
        Self
    }
}

#[resilient(bulkhead = "cost_refused:1", timeout = "1s", retry = 2, breaker)]
async fn cost_refused(hangs: bool) -> Result<(), Error> {
    if hangs { std::future::pending().await } else { Ok(()) }
}

#[tokio::test]
async fn a_refusal_by_a_full_bulkhead_allocates_nothing() {
    let mut holder = Box::pin(cost_refused(true));
    assert!(futures::poll!(&mut holder).is_pending());
    let full = |answer: Result<(), Error>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::BulkheadFull);
    assert_eq!(allocations_of(|| cost_refused(false), full), 0);
}

#[resilient(breaker, retry = 2, bulkhead = "cost_open:1")]
async fn cost_open() -> Result<(), Error> {
    Ok(())
}

#[test]
fn a_refusal_by_an_open_breaker_allocates_nothing() {
    allocations_of(cost_open, Result::unwrap);
    assert_eq!(watertight::breaker::isolate("cost_open"), 1);
    let open = |answer: Result<(), Error>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::BreakerOpen);
    assert_eq!(allocations_of(cost_open, open), 0);
}

#[resilient(timeout = "1s", bulkhead = "cost_spent:1")]
async fn cost_spent() -> Result<(), Error> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_refusal_for_want_of_time_allocates_nothing() {
    let spent = deadline::within(Duration::from_millis(1), async {
        tokio::time::advance(Duration::from_millis(1)).await;
        let late = |answer: Result<(), Error>| assert_eq!(answer.unwrap_err().kind(), ErrorKind::Deadline);
        allocations_of(cost_spent, late)
    });
    assert_eq!(spent.await.unwrap(), 0);
}

#[resilient(bulkhead = "cost_stand_in:1", fallback = || 0)]
async fn cost_stand_in(hangs: bool) -> u32 {
    if hangs { std::future::pending().await } else { 1 }
}

#[tokio::test]
async fn an_answer_of_the_fallback_for_a_refusal_allocates_nothing() {
    let mut holder = Box::pin(cost_stand_in(true));
    assert!(futures::poll!(&mut holder).is_pending());
    assert_eq!(allocations_of(|| cost_stand_in(false), |answer| assert_eq!(answer, 0)), 0);
}
