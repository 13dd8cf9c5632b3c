//! What each strategy owes its neighbour in the line.

use std::sync::Mutex;

use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{Error, ErrorKind, FallbackUse, Fate, StopReason, WaitFate, deadline, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, assert_free, assert_idle, breaker, ms, occupancy, site, yields};

const DOWN: AppError = AppError::Broken("down");

// breaker × bulkhead

#[resilient(
    breaker(name = "breaker_bulkhead", window = 2, failures = "100%", cooldown = "1s"),
    bulkhead = "breaker_bulkhead:1/queue:1/wait:50ms"
)]
async fn breaker_bulkhead(gate: Option<&Gate>) -> Result<(), AppError> {
    match gate {
        Some(gate) => {
            gate.opened().await;
            Ok(())
        }
        None => Err(DOWN),
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_bulkhead_says_nothing_to_the_breaker_and_an_open_breaker_takes_no_slot() {
    let gate = Gate::shut();
    let mut holder = Box::pin(breaker_bulkhead(Some(&gate)));
    let mut waiter = Box::pin(breaker_bulkhead(Some(&gate)));
    assert!(poll!(&mut holder).is_pending() && poll!(&mut waiter).is_pending());
    for _ in 0..10 {
        assert_eq!(breaker_bulkhead(None).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    }
    assert_eq!(waiter.await.unwrap_err().kind(), Some(ErrorKind::BulkheadWait));
    let now = breaker("breaker_bulkhead");
    assert_eq!((now.state, now.failures, now.calls), (BreakerState::Closed, 0, 0));
    drop(holder);
    for _ in 0..2 {
        breaker_bulkhead(None).await.unwrap_err();
    }
    let entered = site("breaker_bulkhead").entered_at_once;
    for _ in 0..10 {
        let (answer, (running, queued)) = (breaker_bulkhead(None).await, occupancy("breaker_bulkhead"));
        assert_eq!(answer.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
        assert_eq!((running, queued), (0, 0));
    }
    assert_eq!(site("breaker_bulkhead").entered_at_once, entered);
    assert_idle("breaker_bulkhead");
    assert_free!("breaker_bulkhead", 1);
}

#[resilient(
    breaker(name = "probe_bulkhead", window = 1, failures = "100%", cooldown = "1s"),
    bulkhead = "probe_bulkhead:1"
)]
async fn probe_bulkhead(gate: Option<&Gate>) -> Result<(), AppError> {
    match gate {
        Some(gate) => {
            gate.opened().await;
            Ok(())
        }
        None => Err(DOWN),
    }
}

#[resilient(bulkhead = "probe_bulkhead")]
async fn probe_bulkhead_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_finds_the_bulkhead_full_gives_its_place_back() {
    probe_bulkhead(None).await.unwrap_err();
    advance(ms(1_000)).await;
    let gate = Gate::shut();
    let mut holder = Box::pin(probe_bulkhead_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    for _ in 0..5 {
        let refused = probe_bulkhead(Some(&gate)).await.unwrap_err();
        assert_eq!(
            refused.kind(),
            Some(ErrorKind::BulkheadFull),
            "each is a probe again, none is held against the next"
        );
    }
    assert_eq!(breaker("probe_bulkhead").state, BreakerState::HalfOpen);
    gate.open();
    holder.await.unwrap();
    probe_bulkhead(Some(&gate)).await.unwrap();
    assert_eq!(breaker("probe_bulkhead").state, BreakerState::Closed);
    assert_free!("probe_bulkhead", 1);
}

// retry × bulkhead

#[resilient(retry(1, backoff = "1s..1s", budget = off), bulkhead = "retry_bulkhead:1/queue:4/wait:10s")]
async fn retry_bulkhead(who: &'static str, log: &Mutex<Vec<(&'static str, u32)>>) -> Result<(), AppError> {
    log.lock().unwrap().push((who, watertight::attempt()));
    sleep(ms(400)).await;
    if who == "a" && watertight::attempt() == 0 { Err(DOWN) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn a_retry_holds_no_slot_in_its_pause_and_joins_the_back_of_the_queue() {
    let log = Mutex::default();
    let calls = ["a", "b", "c", "d"].map(|who| retry_bulkhead(who, &log));
    let answers = futures::future::join_all(calls).await;
    assert!(answers.iter().all(Result::is_ok));
    let log = log.into_inner().unwrap();
    assert_eq!(log[..2], [("a", 0), ("b", 0)], "b runs as soon as a pauses");
    // Whenever a comes back within its second of jitter, it stands behind those who were there.
    let order: Vec<_> = log.iter().map(|(who, _)| *who).collect();
    assert_eq!(order, ["a", "b", "c", "d", "a"]);
    assert_eq!(occupancy("retry_bulkhead"), (0, 0));
    assert_free!("retry_bulkhead", 1);
}

// retry × breaker

#[resilient(
    retry(9, backoff = "1ms..1ms", budget = off),
    breaker(name = "retry_breaker", window = 3, failures = "100%", cooldown = "1s"),
    bulkhead = "retry_breaker:1"
)]
async fn retry_breaker(well: bool) -> Result<(), AppError> {
    if well { Ok(()) } else { Err(DOWN) }
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_ends_the_loop_with_the_real_error_and_a_refused_call_is_not_repeated() {
    let clock = Stopwatch::start();
    assert_eq!(retry_breaker(false).await.unwrap_err().broken(), Some("down"));
    assert_eq!((site("retry_breaker").attempts(), site("retry_breaker").stopped_for(StopReason::Open)), (3, 1));
    assert_eq!(retry_breaker(true).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    assert!(clock.read() < ms(10), "nobody pauses for an open breaker: {:?}", clock.read());
    assert_eq!(site("retry_breaker").stopped_for(StopReason::Open), 2);
    assert_free!("retry_breaker", 1);
}

#[resilient(retry(1, backoff = "500ms..500ms", budget = off), breaker = "opened_meanwhile", bulkhead = "opened_meanwhile:2")]
async fn opened_meanwhile() -> Result<(), AppError> {
    Err(DOWN)
}

#[resilient(breaker(name = "opened_meanwhile", window = 4, failures = "100%", cooldown = "60s"))]
async fn opens_it() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_opens_during_a_pause_refuses_the_next_attempt_and_keeps_the_real_error() {
    let mut paused = Box::pin(opened_meanwhile());
    while poll!(&mut paused).is_ready() {
        watertight::breaker::reset("opened_meanwhile");
        paused = Box::pin(opened_meanwhile());
    }
    for _ in 0..4 {
        let _ = opens_it().await;
    }
    assert_eq!(breaker("opened_meanwhile").state, BreakerState::Open);
    let error = paused.await.unwrap_err();
    assert_eq!(error.kind(), Some(ErrorKind::BreakerOpen));
    let source = std::error::Error::source(error.refused()).and_then(|source| source.downcast_ref::<AppError>());
    assert_eq!(source.and_then(AppError::broken), Some("down"));
    assert_free!("opened_meanwhile", 2);
}

// fallback × all

/// Why the fallback was asked, and how many ran and waited then.
type Asked = (Option<ErrorKind>, (u32, u32));

static SEEN: Mutex<Vec<Asked>> = Mutex::new(Vec::new());

#[resilient(
    fallback = |why| SEEN.lock().unwrap().push((why.refusal().map(Error::kind), occupancy("fallback_all"))),
    retry(1, backoff = "1ms..1ms", budget = off),
    breaker(name = "fallback_all", window = 2, failures = "100%", cooldown = "1s"),
    bulkhead = "fallback_all:1",
    timeout = "50ms"
)]
async fn fallback_all(hangs: bool) -> Result<(), AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(DOWN)
}

#[resilient(bulkhead = "fallback_all")]
async fn fallback_all_hold(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_fallback_answers_once_for_every_failure_with_no_slot_held() {
    let gate = Gate::shut();
    let mut holder = Box::pin(fallback_all_hold(&gate));
    assert!(poll!(&mut holder).is_pending());
    fallback_all(true).await.unwrap();
    drop(holder);
    fallback_all(true).await.unwrap();
    watertight::breaker::reset("fallback_all");
    fallback_all(false).await.unwrap();
    fallback_all(false).await.unwrap();
    let spent = deadline::within(ms(10), async {
        advance(ms(10)).await;
        fallback_all(false).await
    });
    spent.await.unwrap().unwrap();
    let seen: Vec<_> = SEEN.lock().unwrap().drain(..).collect();
    assert_eq!(
        seen,
        [
            (Some(ErrorKind::BulkheadFull), (1, 0)), // the holder's slot, not its own
            (Some(ErrorKind::TimedOut), (0, 0)),
            (None, (0, 0)), // the body's error, after two attempts that opened the breaker
            (Some(ErrorKind::BreakerOpen), (0, 0)),
            (Some(ErrorKind::Deadline), (0, 0)),
        ]
    );
    let figures = site("fallback_all");
    assert_eq!((figures.calls, figures.fallback_used, figures.ok), (5, 5, 0));
    assert_eq!(figures.fate_with(Fate::Error, FallbackUse::Used), 1);
    assert_eq!(figures.attempts(), 3);
    assert_idle("fallback_all");
    assert_free!("fallback_all", 1);
}

// timeout × deadline × bulkhead

#[resilient(deadline = "300ms", timeout = "200ms", bulkhead = "three_limits:1/queue:2/wait:250ms")]
async fn three_limits(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn waiting_working_and_the_whole_are_bounded_apart_and_said_apart() {
    let clock = Stopwatch::start();
    // The first takes 190 ms of its 200; the second gets the slot with 110 ms left; the third waits in vain.
    let (first, second, third) = tokio::join!(three_limits(190), three_limits(10_000), async {
        let answer = three_limits(1).await;
        (answer, clock.read())
    });
    first.unwrap();
    assert_eq!(second.unwrap_err().kind(), Some(ErrorKind::Deadline), "110 ms were left, less than its timeout");
    clock.assert_reads(ms(300));
    let (third, after) = third;
    assert_eq!(third.unwrap_err().kind(), Some(ErrorKind::BulkheadWait), "its own wait, before the deadline");
    assert!(after >= ms(250) && after <= ms(253), "{after:?}");
    let clock = Stopwatch::start();
    assert_eq!(three_limits(10_000).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(200));
    assert_eq!(site("three_limits").waits(WaitFate::Expired).count(), 1);
    assert_idle("three_limits");
    assert_free!("three_limits", 1);
}

// Nesting

#[resilient(deadline = "100ms", bulkhead = "nest_outer:1")]
async fn nest_outer() -> Result<u32, AppError> {
    nest_inner().await
}

#[resilient(deadline = "10s", timeout = "5s", retry(5, budget = off), idempotent, bulkhead = "nest_inner:1")]
async fn nest_inner() -> Result<u32, AppError> {
    yields(1).await;
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn an_inner_call_ends_with_the_outer_deadline_and_holds_nothing_after_it() {
    let clock = Stopwatch::start();
    assert_eq!(nest_outer().await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    clock.assert_reads(ms(100));
    assert_eq!((occupancy("nest_outer"), occupancy("nest_inner")), ((0, 0), (0, 0)));
    assert_eq!(site("nest_inner").attempts(), 1, "its retries have no time left either");
    assert_idle("nest_outer");
    assert_idle("nest_inner");
    assert_free!("nest_outer", 1);
    assert_free!("nest_inner", 1);
}
