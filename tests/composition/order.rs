//! The event trace of the full stack. The list is exact: nothing missing, nothing else, nothing in another place.

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::Event::{
    self, BodyCutOff, BodyReturned, BodyStarted, BreakerPassed, BreakerSettled, CallBegun, CallEnded, DeadlineChecked,
    FallbackAsked, Paused, Queued, SlotFreed, SlotTaken, TokenTaken,
};
use watertight::testing::record;
use watertight::{ErrorKind, deadline, resilient};
use watertight_tests::{AppError, Gate, assert_free, assert_idle, ms};

/// What the body does.
#[derive(Clone, Copy)]
enum Does {
    Answers,
    ErrsOnce,
    Errs,
    Hangs,
    HangsOnce,
}

impl Does {
    async fn it(self) -> Result<u32, AppError> {
        match (self, watertight::attempt()) {
            (Self::Answers, _) | (Self::ErrsOnce | Self::HangsOnce, 1..) => Ok(1),
            (Self::Errs | Self::ErrsOnce, _) => Err(AppError::Broken("down")),
            (Self::Hangs | Self::HangsOnce, _) => std::future::pending().await,
        }
    }
}

/// The same full stack twice, its keys written from the outside in and from the inside out, and in disorder.
macro_rules! stacks {
    ($($function:ident: [$($keys:tt)*];)*) => {
        $(#[resilient($($keys)*)]
        async fn $function(does: Does) -> Result<u32, AppError> {
            does.it().await
        })*
    };
}

stacks! {
    outside_in: [
        fallback = || 0, deadline = "10s", retry(1, backoff = "1ms..1ms", budget = off), idempotent,
        breaker(window = 100, min_calls = 100), rate = "1000/s", bulkhead = "outside_in:1/queue:1", timeout = "300ms"
    ];
    inside_out: [
        timeout = "300ms", bulkhead = "inside_out:1/queue:1", rate = "1000/s", breaker(window = 100, min_calls = 100), idempotent,
        retry(1, backoff = "1ms..1ms", budget = off), deadline = "10s", fallback = || 0
    ];
    disorder: [
        retry(1, backoff = "1ms..1ms", budget = off), timeout = "300ms", fallback = || 0, idempotent, rate = "1000/s",
        bulkhead = "disorder:1/queue:1", deadline = "10s", breaker(window = 100, min_calls = 100)
    ];
}

/// An attempt's way in, from the deadline to the body.
const IN: [Event; 5] = [DeadlineChecked, BreakerPassed, TokenTaken, SlotTaken, BodyStarted];

/// The concatenation of parts.
fn steps(parts: &[&[Event]]) -> Vec<Event> {
    parts.concat()
}

/// Asserts that a call of each stack ends in `answer` by exactly these steps.
macro_rules! assert_steps {
    ($does:expr => $answer:expr, $steps:expr) => {{
        let expected = $steps;
        let (answer, events) = record(outside_in($does)).await;
        assert_eq!((answer.unwrap(), &events), ($answer, &expected), "written from the outside in");
        let (answer, events) = record(inside_out($does)).await;
        assert_eq!((answer.unwrap(), &events), ($answer, &expected), "written from the inside out");
        let (answer, events) = record(disorder($does)).await;
        assert_eq!((answer.unwrap(), &events), ($answer, &expected), "written in disorder");
    }};
}

#[tokio::test(start_paused = true)]
async fn the_full_stack_runs_in_one_order_whatever_order_the_keys_are_written_in() {
    let returned: &[Event] = &[BodyReturned, SlotFreed, BreakerSettled];
    let cut_off: &[Event] = &[BodyCutOff, SlotFreed, BreakerSettled];
    assert_steps!(Does::Answers => 1, steps(&[&[CallBegun], &IN, returned, &[CallEnded]]));
    assert_steps!(
        Does::ErrsOnce => 1,
        steps(&[&[CallBegun], &IN, returned, &[Paused], &IN, returned, &[CallEnded]])
    );
    assert_steps!(
        Does::HangsOnce => 1,
        steps(&[&[CallBegun], &IN, cut_off, &[Paused], &IN, returned, &[CallEnded]])
    );
    assert_steps!(
        Does::Errs => 0,
        steps(&[&[CallBegun], &IN, returned, &[Paused], &IN, returned, &[FallbackAsked, CallEnded]])
    );
    assert_steps!(
        Does::Hangs => 0,
        steps(&[&[CallBegun], &IN, cut_off, &[Paused], &IN, cut_off, &[FallbackAsked, CallEnded]])
    );
    assert_idle("outside_in");
    assert_free!("outside_in", 1);
    assert_free!("inside_out", 1);
    assert_free!("disorder", 1);
}

// The same without a fallback, so that refusals are seen by the caller.

#[resilient(
    deadline = "10s",
    retry(1, backoff = "1ms..1ms", budget = off),
    breaker(window = 1, failures = "100%", cooldown = "1s"),
    rate = "1000/s",
    bulkhead = "bare_stack:1/queue:1/wait:50ms",
    timeout = "300ms"
)]
async fn bare_stack(gate: &Gate, errs: bool) -> Result<u32, AppError> {
    gate.opened().await;
    if errs { Err(AppError::Broken("down")) } else { Ok(1) }
}

#[tokio::test(start_paused = true)]
async fn each_refusal_ends_the_call_at_its_own_stage() {
    let (open, shut) = (Gate::shut(), Gate::shut());
    open.open();
    // The holder has the slot, the waiter the queue.
    let mut holder = Box::pin(bare_stack(&shut, false));
    assert!(poll!(&mut holder).is_pending());
    let mut waiter = Box::pin(record(bare_stack(&open, false)));
    assert!(poll!(&mut waiter).is_pending());
    // Full: past the breaker, which is told nothing, as it gives the admission back unsettled.
    let (answer, events) = record(bare_stack(&open, false)).await;
    assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    assert_eq!(events, [CallBegun, DeadlineChecked, BreakerPassed, TokenTaken, CallEnded]);
    // Waited in vain.
    let (answer, events) = waiter.await;
    assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
    assert_eq!(events, [CallBegun, DeadlineChecked, BreakerPassed, TokenTaken, Queued, CallEnded]);
    // Queued, and then granted; the time left is looked at again.
    let mut waiter = Box::pin(record(bare_stack(&open, false)));
    assert!(poll!(&mut waiter).is_pending());
    shut.open();
    holder.await.unwrap();
    let (answer, events) = waiter.await;
    answer.unwrap();
    let granted = [DeadlineChecked, SlotTaken, BodyStarted, BodyReturned, SlotFreed, BreakerSettled, CallEnded];
    assert_eq!(events, steps(&[&[CallBegun, DeadlineChecked, BreakerPassed, TokenTaken, Queued], &granted]));
    // An error opens the breaker, which ends the loop: no pause, no second attempt.
    let (answer, events) = record(bare_stack(&open, true)).await;
    assert_eq!(answer.unwrap_err().broken(), Some("down"));
    assert_eq!(events, steps(&[&[CallBegun], &IN, &[BodyReturned, SlotFreed, BreakerSettled, CallEnded]]));
    // Open: before the bulkhead.
    let (answer, events) = record(bare_stack(&open, false)).await;
    assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    assert_eq!(events, [CallBegun, DeadlineChecked, CallEnded]);
    // Out of time: before the breaker.
    let (answer, events) = record(deadline::within(ms(10), async {
        advance(ms(10)).await;
        bare_stack(&open, false).await
    }))
    .await;
    assert_eq!(answer.unwrap().unwrap_err().kind(), Some(ErrorKind::Deadline));
    assert_eq!(events, [CallBegun, DeadlineChecked, CallEnded]);
    assert_idle("bare_stack");
    assert_free!("bare_stack", 1);
}

#[resilient(bulkhead = "outer_step:1")]
async fn outer_step() -> Result<u32, AppError> {
    inner_step().await
}

#[resilient(timeout = "1s", bulkhead = "inner_step:1")]
async fn inner_step() -> Result<u32, AppError> {
    sleep(ms(5)).await;
    Ok(1)
}

#[tokio::test(start_paused = true)]
async fn a_nested_calls_steps_lie_between_its_callers() {
    let (answer, events) = record(outer_step()).await;
    answer.unwrap();
    let way_in = [CallBegun, SlotTaken, BodyStarted];
    let way_out = [BodyReturned, SlotFreed, CallEnded];
    assert_eq!(events, steps(&[&way_in, &way_in, &way_out, &way_out]));
    // A strategy that is not declared leaves no step.
    let (answer, events) = record(only_timeout()).await;
    answer.unwrap();
    assert_eq!(events, [CallBegun, BodyStarted, BodyReturned, CallEnded]);
}

#[resilient(timeout = "1s")]
async fn only_timeout() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_ends_too() {
    let gate = Gate::shut();
    let recorded = record(async {
        let mut call = Box::pin(dropped_step(&gate));
        assert!(poll!(&mut call).is_pending());
    });
    assert_eq!(recorded.await.1, [CallBegun, BreakerPassed, SlotTaken, BodyStarted, CallEnded]);
    assert_free!("dropped_step", 1);
}

#[resilient(breaker, bulkhead = "dropped_step:1")]
async fn dropped_step(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}
