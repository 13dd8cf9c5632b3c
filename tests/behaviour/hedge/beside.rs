//! A second attempt goes the way of every attempt: slot, breaker, and a ticket from the budget.

use super::*;

#[resilient(hedge = "50ms", bulkhead = "hedge_slots:2", idempotent)]
async fn hedge_slots(peak: &Peak, script: Script<'_>) -> Result<u32, AppError> {
    let _inside = peak.enter();
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_slot_and_the_loser_is_dropped_at_once() {
    let peak = Peak::default();
    let script = [(200, Ok(0)), (30, Ok(1))];
    let mut call = Box::pin(hedge_slots(&peak, &script));
    assert!(poll!(&mut call).is_pending());
    assert_eq!((occupancy("hedge_slots"), peak.now()), ((1, 0), 1));
    advance(ms(52)).await;
    assert!(poll!(&mut call).is_pending());
    assert_eq!((occupancy("hedge_slots"), peak.now()), ((2, 0), 2));
    assert_eq!(call.await.unwrap(), 1);
    assert_eq!((occupancy("hedge_slots"), peak.now(), peak.most()), ((0, 0), 0, 2));
    assert_free!("hedge_slots", 2);
}

#[resilient(hedge = "50ms", bulkhead = "hedge_full:1/queue:4", idempotent)]
async fn hedge_full(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_hedge_never_waits_in_line_and_the_first_runs_on() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_full(&[(200, Ok(0)), (1, Ok(1))]).await.unwrap(), 0);
    clock.assert_reads(ms(200));
    let figures = site("hedge_full");
    assert_eq!((figures.attempts(), figures.refused, figures.hedges_by(HedgeFate::Refused)), (1, 0, 1));
    assert_eq!(watertight::snapshot().bulkhead("hedge_full").unwrap().peak_queued, 0);
    assert_free!("hedge_full", 1);
}

#[resilient(hedge = "50ms", bulkhead = "hedge_queue:1/queue:4", idempotent)]
async fn hedge_queue(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn time_in_the_queue_does_not_count() {
    let (holds, gate) = (Gate::shut(), Gate::shut());
    let mut holder = Box::pin(hedge_queue(&holds));
    let mut waiting = Box::pin(hedge_queue(&gate));
    assert!(poll!(&mut holder).is_pending() && poll!(&mut waiting).is_pending());
    advance(ms(200)).await;
    assert!(poll!(&mut waiting).is_pending());
    holds.open();
    holder.await.unwrap();
    assert_eq!(occupancy("hedge_queue"), (1, 0));
    assert!(poll!(&mut waiting).is_pending());
    advance(ms(40)).await;
    assert!(poll!(&mut waiting).is_pending());
    assert_eq!(site("hedge_queue").hedges_by(HedgeFate::Refused), 0, "its body has run for 40 ms");
    gate.open();
    waiting.await.unwrap();
    assert_free!("hedge_queue", 1);
}

#[resilient(
    hedge = "50ms",
    breaker(window = 10, min_calls = 2, failures = "100%", slow = "55ms", slow_rate = "100%"),
    timeout = "1s",
    idempotent
)]
async fn hedge_neutral(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn the_loser_is_neutral_for_the_breaker_but_slow_is_slow() {
    assert_eq!(hedge_neutral(&[(100, Ok(0)), (1, Ok(1))]).await.unwrap(), 1);
    let figures = breaker("hedge_neutral");
    assert_eq!((figures.calls, figures.failures, figures.slow), (1, 0, 0), "52 ms are not slow");
    assert_eq!(hedge_neutral(&[(54, Ok(0)), (40, Ok(1))]).await.unwrap(), 0);
    assert_eq!(breaker("hedge_neutral").calls, 2, "the second, dropped after 4 ms, says nothing");
    assert_eq!(hedge_neutral(&[(900, Ok(0)), (20, Ok(1))]).await.unwrap(), 1);
    let figures = breaker("hedge_neutral");
    assert_eq!((figures.calls, figures.failures, figures.slow), (4, 0, 1), "the first ran for 70 ms, whoever answered");
}

#[resilient(hedge = "50ms", breaker(name = "hedge_open"), idempotent)]
async fn hedge_open(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn an_open_breaker_lets_no_hedge_through_and_the_first_runs_on() {
    let mut call = Box::pin(hedge_open(&[(200, Ok(0)), (1, Ok(1))]));
    assert!(poll!(&mut call).is_pending());
    watertight::breaker::isolate("hedge_open");
    assert_eq!(call.await.unwrap(), 0);
    assert_eq!(fates("hedge_open"), [(HedgeFate::Refused, 1)]);
}

#[resilient(
    hedge = "50ms",
    breaker(name = "hedge_probe", window = 1, failures = "100%", cooldown = "1s", probes = 2),
    idempotent
)]
async fn hedge_probe(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_probe_that_loses_gives_its_place_back() {
    hedge_probe(&[(1, Err("down"))]).await.unwrap_err();
    advance(ms(1_000)).await;
    assert_eq!(hedge_probe(&[(200, Ok(0)), (1, Ok(1))]).await.unwrap(), 1);
    assert_eq!(breaker("hedge_probe").state, BreakerState::HalfOpen, "one of two");
    hedge_probe(&[(1, Ok(0))]).await.expect("the place is there");
    assert_eq!(breaker("hedge_probe").state, BreakerState::Closed);
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_budget() -> Result<(), AppError> {
    sleep(ms(100)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn without_retry_hedges_have_the_default_budget_and_beyond_it_there_are_none() {
    join_all((0..100).map(|_| hedge_budget())).await.into_iter().for_each(Result::unwrap);
    assert_eq!(
        fates("hedge_budget"),
        [(HedgeFate::Lost, 30), (HedgeFate::NoBudget, 70)],
        "ten, and a fifth of the calls"
    );
    let figures = site("hedge_budget");
    assert_eq!((figures.ok, figures.attempts(), figures.refused), (100, 130, 0));
}

#[resilient(hedge = "50ms", retry(1, backoff = "1ms..1ms", budget = "hedge_shared:0%+1/s"), idempotent)]
async fn hedge_shared(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[resilient(retry(1, backoff = "1ms..1ms", budget = "hedge_shared"))]
async fn hedge_shared_with() -> Result<(), AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn hedges_and_retries_are_paid_from_one_budget() {
    for _ in 0..6 {
        hedge_shared(&[(70, Ok(0)), (70, Ok(1))]).await.unwrap();
    }
    join_all((0..10).map(|_| hedge_shared_with())).await;
    assert_eq!(site("hedge_shared_with").retries, 4, "six of ten went to hedges");
    assert_eq!(hedge_shared(&[(70, Ok(0)), (1, Ok(1))]).await.unwrap(), 0);
    assert_eq!(site("hedge_shared").hedges_by(HedgeFate::NoBudget), 1);
}

#[tokio::test(start_paused = true)]
async fn a_hedge_without_a_budget_is_a_finding() {
    let report = watertight::check();
    let of = |name: &str| report.findings.iter().find(|it| (it.strategy, it.name) == ("hedge", name));
    let finding = of("hedge_errors").expect("`budget = off` stands there");
    assert_eq!((finding.problem, finding.strategy), (watertight::check::Problem::Unbudgeted, "hedge"));
    assert!(finding.remedy.starts_with("up to 6 attempts a call"), "{finding}");
    assert!(of("hedge_budget").is_none() && of("hedge_shared").is_none());
}

#[resilient(hedge = "50ms", bulkhead = "hedge_ticket:1", retry(1, budget = "0%+0.1/s"), idempotent)]
async fn hedge_ticket() -> Result<(), AppError> {
    sleep(ms(70)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_hedge_that_was_refused_pays_nothing() {
    for _ in 0..5 {
        hedge_ticket().await.unwrap();
    }
    assert_eq!(fates("hedge_ticket"), [(HedgeFate::Refused, 5)], "the one ticket came back each time");
}
