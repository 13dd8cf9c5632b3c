//! `hedge`: a second attempt beside a slow one.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, Class, Classify, ErrorKind, Fate, HedgeFate, StopReason, resilient};
use watertight_tests::{
    AppError, Gate, Peak, Stopwatch, assert_free, assert_idle, breaker, caught, ms, occupancy, panic_quietly, site,
    yields,
};

const DOWN: AppError = AppError::Broken("down");

/// What each attempt of a call does, by its number: how long it takes, and whether it answers.
type Script<'a> = &'a [(u64, Result<u32, &'static str>)];

async fn act(script: Script<'_>) -> Result<u32, AppError> {
    let (length, answer) = script[watertight::attempt() as usize];
    sleep(ms(length)).await;
    answer.map_err(AppError::Broken)
}

fn fates(name: &str) -> Vec<(HedgeFate, u64)> {
    let figures = site(name);
    HedgeFate::ALL.into_iter().map(|fate| (fate, figures.hedges_by(fate))).filter(|(_, count)| *count > 0).collect()
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_wins(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_slow_attempt_gets_a_second_one_beside_it_and_the_first_good_answer_wins() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(10, Ok(0))]).await.unwrap(), 0);
    clock.assert_reads(ms(10));
    assert_eq!(site("hedge_wins").attempts(), 1, "a quick one is left alone");
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(1_000, Ok(0)), (10, Ok(1))]).await.unwrap(), 1, "the second one, number 1");
    clock.assert_reads(ms(60));
    let clock = Stopwatch::start();
    assert_eq!(hedge_wins(&[(80, Ok(0)), (1_000, Ok(1))]).await.unwrap(), 0, "the first one after all");
    clock.assert_reads(ms(80));
    assert_eq!(fates("hedge_wins"), [(HedgeFate::Won, 1), (HedgeFate::Lost, 1)]);
    let figures = site("hedge_wins");
    assert_eq!((figures.calls, figures.ok, figures.hedges(), figures.retries), (3, 3, 2, 0));
    assert_eq!((figures.attempts_by(AttemptFate::Ok), figures.attempts_by(AttemptFate::Lost)), (3, 2));
    assert_eq!(
        (figures.latency.count(), figures.cut_off.count()),
        (3, 2),
        "the losers are kept as longer than they ran"
    );
    assert_idle("hedge_wins");
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_ids(seen: &Mutex<Vec<(u32, String)>>) -> Result<(), AppError> {
    let id = watertight::call_id().expect("in a call").to_string();
    seen.lock().unwrap().push((watertight::attempt(), id));
    sleep(ms(100)).await;
    assert_eq!(watertight::attempt(), seen.lock().unwrap()[0].0, "the first keeps its own number");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn both_attempts_have_one_call_id_and_a_number_each() {
    let seen = Mutex::default();
    hedge_ids(&seen).await.unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(seen[0].1, seen[1].1);
}

#[resilient(hedge = "50ms", retry(2, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_errors(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn an_error_of_one_waits_for_the_other() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_errors(&[(60, Err("first")), (30, Ok(1))]).await.unwrap(), 1);
    clock.assert_reads(ms(80));
    let clock = Stopwatch::start();
    assert_eq!(hedge_errors(&[(90, Ok(0)), (10, Err("second"))]).await.unwrap(), 0);
    clock.assert_reads(ms(90));
    let figures = site("hedge_errors");
    assert_eq!((figures.ok, figures.retries, figures.attempts_by(AttemptFate::Error)), (2, 0, 2));
    assert_eq!(fates("hedge_errors"), [(HedgeFate::Won, 1), (HedgeFate::Lost, 1)]);
}

#[resilient(hedge = "50ms", retry(2, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_both_fail(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn retry_decides_once_for_both_and_the_numbers_go_on() {
    let script = [(60, Err("a")), (30, Err("b")), (1, Err("c")), (70, Err("d")), (20, Err("e"))];
    assert_eq!(
        hedge_both_fail(&script).await.unwrap_err().broken(),
        Some("d"),
        "of the last two the one that came first"
    );
    let figures = site("hedge_both_fail");
    assert_eq!((figures.attempts_by(AttemptFate::Error), figures.retries), (5, 2));
    assert_eq!((figures.error, figures.stopped_for(StopReason::Exhausted)), (1, 1));
    assert_eq!(fates("hedge_both_fail"), [(HedgeFate::Failed, 2)]);
}

#[derive(Debug, PartialEq)]
enum Classed {
    Missing,
    Forbidden,
}

impl Classify for Classed {
    fn class(&self) -> Class {
        match self {
            Self::Missing => Class::Success,
            Self::Forbidden => Class::Permanent,
        }
    }
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_final(missing: bool) -> Result<(), Classed> {
    sleep(ms(60 - 50 * u64::from(watertight::attempt()))).await;
    Err(if missing { Classed::Missing } else { Classed::Forbidden })
}

#[tokio::test(start_paused = true)]
async fn an_error_that_asking_again_would_not_change_is_an_answer() {
    for (missing, expected) in [(true, Classed::Missing), (false, Classed::Forbidden)] {
        let clock = Stopwatch::start();
        assert_eq!(hedge_final(missing).await.unwrap_err(), expected);
        clock.assert_reads(ms(60));
    }
    assert_eq!(site("hedge_final").attempts_by(AttemptFate::Lost), 2);
}

#[resilient(hedge = "50ms", timeout = "100ms", idempotent)]
async fn hedge_timeouts(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn each_attempt_has_its_own_timeout_and_an_error_says_more_than_a_limit() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_timeouts(&[(9_999, Ok(0)), (90, Ok(1))]).await.unwrap(), 1, "after the first was cut off");
    clock.assert_reads(ms(140));
    assert_eq!(hedge_timeouts(&[(9_999, Ok(0)), (80, Err("second"))]).await.unwrap_err().broken(), Some("second"));
    assert_eq!(hedge_timeouts(&[(70, Err("first")), (9_999, Ok(1))]).await.unwrap_err().broken(), Some("first"));
    let clock = Stopwatch::start();
    let both = hedge_timeouts(&[(9_999, Ok(0)), (9_999, Ok(1))]).await.unwrap_err();
    clock.assert_reads(ms(150));
    assert_eq!(both.kind(), Some(ErrorKind::TimedOut));
    let figures = site("hedge_timeouts");
    assert_eq!((figures.ok, figures.error, figures.timed_out), (1, 2, 1));
    assert_eq!(figures.attempts_by(AttemptFate::TimedOut), 5);
}

#[resilient(hedge = "50ms", timeout = "100ms", retry(1, backoff = "1ms..1ms", budget = off), idempotent)]
async fn hedge_retries_timeouts(script: Script<'_>) -> Result<u32, AppError> {
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn two_that_timed_out_are_tried_again_as_one() {
    assert_eq!(hedge_retries_timeouts(&[(9_999, Ok(0)), (9_999, Ok(1)), (1, Ok(2))]).await.unwrap(), 2);
    assert_eq!(site("hedge_retries_timeouts").retries, 1);
}

#[resilient(hedge = "50ms", deadline = "80ms", idempotent)]
async fn hedge_deadline() -> Result<u32, AppError> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_both() {
    let clock = Stopwatch::start();
    assert_eq!(hedge_deadline().await.unwrap_err().kind(), Some(ErrorKind::Deadline));
    clock.assert_reads(ms(80));
    assert_eq!(site("hedge_deadline").attempts_by(AttemptFate::TimedOut), 2);
}

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

#[resilient(hedge = "50ms", bulkhead = "hedge_dropped:2", breaker(name = "hedge_dropped"), idempotent)]
async fn hedge_dropped(peak: &Peak) -> Result<(), AppError> {
    let _inside = peak.enter();
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_drops_both_and_has_one_fate() {
    let peak = Peak::default();
    for wait in [10, 60] {
        let mut call = Box::pin(hedge_dropped(&peak));
        assert!(poll!(&mut call).is_pending());
        advance(ms(wait)).await;
        assert!(poll!(&mut call).is_pending());
        drop(call);
        assert_eq!((peak.now(), occupancy("hedge_dropped")), (0, (0, 0)));
    }
    let figures = site("hedge_dropped");
    assert_eq!((figures.calls, figures.cancelled, figures.attempts_by(AttemptFate::Cancelled)), (2, 2, 3));
    assert_eq!(fates("hedge_dropped"), [(HedgeFate::Cancelled, 1)], "one was never due");
    assert_eq!((breaker("hedge_dropped").calls, breaker("hedge_dropped").failures), (0, 0));
    assert_free!("hedge_dropped", 2);
}

/// Notes in whose scope it is dropped.
struct Noted<'a>(&'a Mutex<Vec<Option<u32>>>);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        let inside = watertight::call_id().map(|_| watertight::attempt());
        self.0.lock().unwrap().push(inside);
    }
}

#[resilient(hedge = "50ms", bulkhead = "hedge_panics:2", breaker(name = "hedge_panics", min_calls = 5), idempotent)]
async fn hedge_panics(who: u32, dropped: &Mutex<Vec<Option<u32>>>) -> Result<(), AppError> {
    let _noted = Noted(dropped);
    sleep(ms(70)).await;
    if watertight::attempt() == who {
        panic_quietly();
    }
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_either_is_the_calls_and_the_other_is_dropped_in_its_own_scope() {
    for who in [0, 1] {
        let dropped = Mutex::default();
        caught(hedge_panics(who, &dropped)).await.unwrap_err();
        let dropped = dropped.into_inner().unwrap();
        assert!(dropped.contains(&Some(0)) && dropped.contains(&Some(1)), "{who}: {dropped:?}");
        assert_eq!(watertight::call_id(), None);
    }
    let figures = site("hedge_panics");
    assert_eq!((figures.calls, figures.panicked, figures.fate(Fate::Panicked)), (2, 2, 2));
    let of = |fate| figures.attempts_by(fate);
    assert_eq!((of(AttemptFate::Panicked), of(AttemptFate::Cancelled)), (2, 2));
    assert_eq!(fates("hedge_panics"), [(HedgeFate::Cancelled, 2)]);
    assert_eq!((breaker("hedge_panics").calls, breaker("hedge_panics").failures), (2, 2));
    assert_free!("hedge_panics", 2);
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_scopes(dropped: &Mutex<Vec<Option<u32>>>) -> Result<u32, AppError> {
    let _noted = Noted(dropped);
    sleep(ms(if watertight::attempt() == 0 { 500 } else { 10 })).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn the_loser_is_dropped_in_its_own_scope() {
    let dropped = Mutex::default();
    assert_eq!(hedge_scopes(&dropped).await.unwrap(), 1);
    assert_eq!(dropped.into_inner().unwrap(), [Some(1), Some(0)]);
}

/// Counts its clones.
#[derive(Debug, Default)]
struct Counted<'a>(Option<&'a AtomicU32>, Cell<u32>);

impl Clone for Counted<'_> {
    fn clone(&self) -> Self {
        if let Some(clones) = self.0 {
            clones.fetch_add(1, Ordering::SeqCst);
        }
        Self(self.0, self.1.clone())
    }
}

#[resilient(hedge = "50ms", idempotent)]
async fn hedge_clones(mut given: Counted<'_>, length: u64) -> Result<u32, AppError> {
    *given.1.get_mut() += 1 + watertight::attempt();
    sleep(ms(length * u64::from(watertight::attempt() == 0))).await;
    Ok(given.1.get())
}

#[tokio::test(start_paused = true)]
async fn the_first_has_a_clone_and_a_second_one_gets_the_argument_itself() {
    let clones = AtomicU32::new(0);
    assert_eq!(hedge_clones(Counted(Some(&clones), Cell::new(5)), 10).await.unwrap(), 6);
    assert_eq!(hedge_clones(Counted(Some(&clones), Cell::new(5)), 99).await.unwrap(), 7, "from the original value");
    assert_eq!(clones.load(Ordering::SeqCst), 2, "one for each call");
}

#[resilient(hedge(after = "p95", floor = "20ms"), idempotent)]
async fn hedge_percentile(length: u64) -> Result<u32, AppError> {
    let length = if watertight::attempt() == 0 { length } else { 30 };
    sleep(ms(length)).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_percentile_is_that_of_the_own_attempts_and_until_it_is_known_there_is_no_hedge() {
    for _ in 0..99 {
        assert_eq!(hedge_percentile(40).await.unwrap(), 0);
    }
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 0, "not known yet");
    let clock = Stopwatch::start();
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 1);
    let took = clock.read();
    assert!(took >= ms(70) && took <= ms(77), "about 40 ms, then 30: {took:?}");
    // Faster than the floor by far: what is due then is due at the floor.
    join_all((0..5_000).map(|_| hedge_percentile(1))).await;
    for _ in 0..3 {
        advance(ms(6_000)).await;
        join_all((0..200).map(|_| hedge_percentile(1))).await;
    }
    advance(ms(1_000)).await;
    let clock = Stopwatch::start();
    assert_eq!(hedge_percentile(2_000).await.unwrap(), 1);
    clock.assert_reads(ms(50));
}

#[resilient(hedge = "50ms", idempotent, fallback = || 9)]
async fn hedge_plain(length: u64) -> u32 {
    yields(1).await;
    sleep(ms(length * u64::from(watertight::attempt() == 0))).await;
    watertight::attempt()
}

struct Client {
    base: u32,
}

impl Client {
    #[resilient(hedge = "50ms", idempotent, fallback = self.none(&name))]
    async fn hedge_method<'a>(&'a self, name: String, text: &'a str) -> Result<(u32, &'a str), AppError> {
        sleep(ms(500 * u64::from(watertight::attempt() == 0))).await;
        if name.is_empty() {
            return Err(DOWN);
        }
        drop(name);
        Ok((self.base + watertight::attempt(), text))
    }

    fn none(&self, name: &str) -> (u32, &'static str) {
        (self.base + u32::try_from(name.len()).unwrap_or(0), "none")
    }
}

fn is_send<T: Send>(_: &T) {}

#[tokio::test(start_paused = true)]
async fn any_function_that_shares_what_it_is_given_can_be_hedged() {
    assert_eq!((hedge_plain(10).await, hedge_plain(100).await), (0, 1));
    let client = Client { base: 10 };
    assert_eq!(client.hedge_method("name".to_owned(), "text").await.unwrap(), (11, "text"));
    assert_eq!(client.hedge_method(String::new(), "text").await.unwrap(), (10, "none"));
    is_send(&client.hedge_method(String::new(), ""));
    is_send(&hedge_clones(Counted::default(), 1));
}

static HANGS: AtomicBool = AtomicBool::new(false);

#[resilient(hedge = "50ms", idempotent, timeout = "100ms", fallback = last_good("60s"))]
async fn hedge_last_good() -> Result<u32, AppError> {
    if watertight::attempt() == 0 || HANGS.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn the_answer_of_a_second_attempt_is_a_last_good_one_like_any() {
    assert_eq!(hedge_last_good().await.unwrap(), 1);
    HANGS.store(true, Ordering::SeqCst);
    assert_eq!(hedge_last_good().await.unwrap(), 1, "kept from the second attempt of before");
    assert_eq!(site("hedge_last_good").timed_out, 1);
}

#[resilient(hedge = "50ms", idempotent, bulkhead = "hedge_keyed:2", key = tenant, rate = "100/s")]
async fn hedge_keyed(tenant: u32, script: Script<'_>) -> Result<u32, AppError> {
    assert!(tenant == 1 || tenant == 2);
    act(script).await
}

#[tokio::test(start_paused = true)]
async fn a_second_attempt_is_in_the_compartment_of_its_calls_key() {
    let slow: Script<'_> = &[(200, Ok(0)), (30, Ok(1))];
    assert_eq!(hedge_keyed(1, slow).await.unwrap(), 1);
    let mut other = Box::pin(hedge_keyed(1, &[(300, Ok(0)), (300, Ok(1))]));
    assert!(poll!(&mut other).is_pending());
    assert_eq!(hedge_keyed(1, slow).await.unwrap(), 0, "its own key has no slot to spare");
    assert_eq!(hedge_keyed(2, slow).await.unwrap(), 1, "another's has");
    assert_eq!(other.await.unwrap(), 0);
    assert_idle("hedge_keyed");
}

#[resilient(hedge = "50ms", idempotent, timeout = "100ms")]
async fn hedge_struck() -> Result<u32, AppError> {
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_a_test_sets_strikes_both_attempts() {
    let hang = watertight::testing::inject("hedge_struck", watertight::testing::Fault::hang()).unwrap();
    assert_eq!(hedge_struck().await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!((hang.struck(), site("hedge_struck").attempts_by(AttemptFate::TimedOut)), (2, 2));
    drop(hang);
    assert_eq!(hedge_struck().await.unwrap(), 0);
}

#[resilient(bulkhead = "hedge_nested:3", idempotent, hedge = "50ms")]
async fn hedge_nested(deep: bool) -> Result<u32, AppError> {
    if deep {
        return Box::pin(hedge_nested(false)).await;
    }
    sleep(ms(500 * u64::from(watertight::attempt() == 0))).await;
    Ok(watertight::attempt())
}

#[tokio::test(start_paused = true)]
async fn a_nested_call_runs_in_the_slot_of_the_attempt_it_belongs_to() {
    hedge_nested(true).await.unwrap();
    let figures = site("hedge_nested");
    assert!(figures.lent >= 1, "{figures:?}");
    assert_idle("hedge_nested");
    assert_free!("hedge_nested", 3);
}
