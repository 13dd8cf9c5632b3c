//! `mode = observe`: strategies decide and count what they would have done, and the call goes on.

use std::sync::Mutex;

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::testing::{World, figures_of};
use watertight::{Cut, Error, Fate, Refusal, deadline, resilient};
use watertight_tests::{AppError, Gate, Stopwatch, breaker, bulkhead, caught, ms, occupancy, panic_quietly, site};

/// An error that cannot be made from watertight's.
#[derive(Debug, PartialEq)]
struct Own;

#[resilient(
    deadline = "1s",
    timeout = "300ms",
    bulkhead = "observe_all:1/queue:1/wait:100ms",
    breaker(window = 4, min_calls = 4),
    retry(1, budget = off),
    mode = observe
)]
async fn observe_all(length: u64, answer: Result<u32, Own>) -> Result<u32, Own> {
    sleep(ms(length)).await;
    answer
}

#[tokio::test(start_paused = true)]
async fn a_function_that_only_observes_needs_no_way_to_say_no_and_does_what_the_bare_one_does() {
    let clock = Stopwatch::start();
    let slow = join_all((0..5).map(|_| observe_all(2_000, Ok(7)))).await;
    assert_eq!(slow, [Ok(7), Ok(7), Ok(7), Ok(7), Ok(7)]);
    clock.assert_reads(ms(2_000));
    assert_eq!(observe_all(0, Err(Own)).await, Err(Own));
    let figures = site("observe_all");
    assert_eq!((figures.ok, figures.error, figures.calls, figures.attempts()), (5, 1, 6, 6));
    assert_eq!((figures.refused, figures.timed_out, figures.retries), (0, 0, 0));
    assert_eq!(figures.would_refuse_for(Refusal::Full), 3);
    assert_eq!(figures.would_refuse_for(Refusal::Waited), 1);
    assert_eq!((figures.would_cut_by(Cut::Timeout), figures.would_cut), (1, 1));
    assert_eq!((figures.would_queue, figures.would_retry), (1, 1));
}

#[resilient(mode(bulkhead = observe), bulkhead = "observe_slots:2/queue:1")]
async fn observe_slots(gate: &Gate) -> u32 {
    gate.opened().await;
    7
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_counts_who_would_have_run_waited_and_been_refused_and_lets_everyone_in() {
    let _world = World::open();
    let figures = figures_of("observe_slots").unwrap();
    let gate = Gate::shut();
    let calls = join_all((0..6).map(|_| observe_slots(&gate)));
    let look = async {
        figures.until_running(6).await.unwrap();
        assert_eq!(occupancy("observe_slots@observe"), (2, 1), "its own figures stay within its limits");
        gate.open();
    };
    let (answers, ()) = tokio::join!(calls, look);
    assert_eq!(answers, [7; 6]);
    let read = figures.read();
    assert_eq!((read.would_queue, read.would_refuse_for(Refusal::Full), read.would_refuse), (1, 3, 3));
    assert_eq!(read.entered_at_once + read.queued, 0, "nothing that is enforced was asked");
    assert_eq!(occupancy("observe_slots@observe"), (0, 0));
    assert!(watertight::snapshot().bulkhead("observe_slots").is_none(), "nobody enforces it");
}

#[tokio::test(start_paused = true)]
async fn who_would_have_been_refused_takes_no_place_from_the_next() {
    let _world = World::open();
    let figures = figures_of("observe_slots").unwrap();
    let (gate, shut) = (Gate::shut(), Gate::shut());
    let mut placed: Vec<_> = (0..3).map(|_| Box::pin(observe_slots(&gate))).collect();
    let mut refused: Vec<_> = (0..5).map(|_| Box::pin(observe_slots(&shut))).collect();
    for call in placed.iter_mut().chain(&mut refused) {
        assert!(poll!(call).is_pending());
    }
    gate.open();
    join_all(placed).await;
    // The five run on, and would long have been gone.
    let mut next: Vec<_> = (0..2).map(|_| Box::pin(observe_slots(&shut))).collect();
    for call in &mut next {
        assert!(poll!(call).is_pending());
    }
    let read = figures.read();
    assert_eq!((figures.running(), read.would_refuse, read.would_queue), (7, 5, 1));
    drop((refused, next));
    assert_eq!(occupancy("observe_slots@observe"), (0, 0), "dropped calls give everything back");
}

#[resilient(bulkhead = "observe_shared:2")]
async fn observe_shared_enforced(gate: &Gate) -> Result<(), Error> {
    gate.opened().await;
    Ok(())
}

#[resilient(bulkhead = "observe_shared", mode = observe)]
async fn observe_shared_observed(gate: &Gate) {
    gate.opened().await;
}

#[tokio::test(start_paused = true)]
async fn observers_never_get_those_refused_who_enforce_and_see_the_slots_these_take() {
    let gate = Gate::shut();
    let mut observers: Vec<_> = (0..4).map(|_| Box::pin(observe_shared_observed(&gate))).collect();
    for call in &mut observers {
        assert!(poll!(call).is_pending());
    }
    assert_eq!((occupancy("observe_shared"), occupancy("observe_shared@observe")), ((0, 0), (2, 0)));
    assert_eq!(site("observe_shared_observed").would_refuse, 2);
    let mut enforced: Vec<_> = (0..2).map(|_| Box::pin(observe_shared_enforced(&gate))).collect();
    for call in &mut enforced {
        assert!(poll!(call).is_pending(), "four observers run, and both slots are free all the same");
    }
    drop(observers);
    let mut late = Box::pin(observe_shared_observed(&gate));
    assert!(poll!(&mut late).is_pending());
    assert_eq!(site("observe_shared_observed").would_refuse, 3, "both slots are taken by those who enforce");
    gate.open();
    join_all(enforced).await.into_iter().for_each(Result::unwrap);
    late.await;
    assert_eq!(site("observe_shared_enforced").ok, 2);
}

#[resilient(bulkhead = "observe_waits:1/queue:5/wait:100ms", timeout = "1s", mode(bulkhead = observe))]
async fn observe_waits(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_have_been_in_vain_is_counted_when_it_is_over_and_the_enforced_timeout_holds() {
    let _world = World::open();
    let figures = figures_of("observe_waits").unwrap();
    let clock = Stopwatch::start();
    let mut calls: Vec<_> = [5_000, 150, 50].into_iter().map(|length| Box::pin(observe_waits(length))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    assert_eq!((figures.read().would_queue, occupancy("observe_waits@observe")), (2, (1, 2)));
    calls.pop().unwrap().await.unwrap();
    clock.assert_reads(ms(50));
    assert_eq!((figures.read().would_refuse, occupancy("observe_waits@observe")), (0, (1, 1)), "it left the queue");
    calls.pop().unwrap().await.unwrap();
    clock.assert_reads(ms(150));
    let read = figures.read();
    assert_eq!((read.would_refuse_for(Refusal::Waited), read.would_refuse), (1, 1));
    assert!(calls.pop().unwrap().await.is_err());
    clock.assert_reads(ms(1_000));
    assert_eq!(figures.fates(), [(Fate::Ok, 2), (Fate::TimedOut, 1)]);
    assert_eq!((figures.read().would_cut, occupancy("observe_waits@observe")), (0, (0, 0)));
}

#[resilient(
    breaker(name = "observe_breaker", window = 4, min_calls = 4, cooldown = "1s", probes = 1),
    mode(breaker = observe)
)]
async fn observe_breaker(fails: bool) -> Result<(), Own> {
    if fails { Err(Own) } else { Ok(()) }
}

#[resilient(breaker = "observe_breaker")]
async fn observe_breaker_enforced() -> Result<(), Error> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_breaker_walks_through_its_states_by_the_results_of_those_it_would_have_let_through() {
    let _world = World::open();
    let figures = figures_of("observe_breaker").unwrap();
    let changes = std::sync::Arc::<Mutex<Vec<BreakerState>>>::default();
    let seen = std::sync::Arc::clone(&changes);
    watertight::breaker::on_change("observe_breaker@observe", move |change| seen.lock().unwrap().push(change.to));
    let state = || breaker("observe_breaker@observe").state;
    for _ in 0..4 {
        assert_eq!(observe_breaker(true).await, Err(Own));
    }
    assert_eq!((state(), figures.read().would_refuse), (BreakerState::Open, 0));
    for _ in 0..3 {
        observe_breaker(false).await.expect("it runs, although the breaker is open");
    }
    assert_eq!((state(), figures.read().would_refuse_for(Refusal::Open)), (BreakerState::Open, 3));
    advance(ms(1_000)).await;
    observe_breaker(true).await.unwrap_err();
    assert_eq!(state(), BreakerState::Open, "a probe that failed");
    advance(ms(1_000)).await;
    observe_breaker(false).await.unwrap();
    assert_eq!(state(), BreakerState::Closed, "a probe that did not");
    observe_breaker_enforced().await.expect("nothing of this is the enforced breaker's");
    let enforced = breaker("observe_breaker");
    assert_eq!((enforced.state, enforced.opened, enforced.calls), (BreakerState::Closed, 0, 1));
    assert_eq!((figures.read().would_refuse, figures.read().refused), (3, 0));
    let walked: Vec<_> = changes.lock().unwrap().iter().map(|state| state.as_str()).collect();
    assert_eq!(walked, ["open", "half_open", "open", "half_open", "closed"]);
}

#[resilient(timeout = "300ms", mode(timeout = observe))]
async fn observe_timeout(length: u64) -> u64 {
    sleep(ms(length)).await;
    length
}

#[tokio::test(start_paused = true)]
async fn a_timeout_marks_the_attempt_at_the_limit_and_the_body_runs_on() {
    let _world = World::open();
    let figures = figures_of("observe_timeout").unwrap();
    assert_eq!(observe_timeout(299).await, 299);
    assert_eq!(figures.read().would_cut, 0);
    let mut long = Box::pin(observe_timeout(900));
    assert!(poll!(&mut long).is_pending());
    advance(ms(299)).await;
    assert!(poll!(&mut long).is_pending());
    assert_eq!(figures.read().would_cut, 0);
    advance(ms(1)).await;
    assert!(poll!(&mut long).is_pending());
    assert_eq!(figures.read().would_cut_by(Cut::Timeout), 1, "known while it still runs");
    assert_eq!(long.await, 900);
    let read = figures.read();
    assert_eq!((read.would_cut, read.ok, read.latency.count(), read.cut_off.count(), read.overruns), (1, 2, 2, 0, 0));
}

#[resilient(
    timeout = "100ms",
    bulkhead = "observe_cut:1",
    breaker(name = "observe_cut", window = 1, min_calls = 1),
    mode = observe
)]
async fn observe_cut(length: u64) {
    sleep(ms(length)).await;
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_would_have_been_cut_off_leaves_its_slot_and_has_failed() {
    let _world = World::open();
    let mut hung = Box::pin(observe_cut(1_000));
    assert!(poll!(&mut hung).is_pending());
    assert_eq!(occupancy("observe_cut@observe"), (1, 0));
    advance(ms(100)).await;
    assert!(poll!(&mut hung).is_pending());
    assert_eq!(occupancy("observe_cut@observe"), (0, 0), "the slot would be free by now");
    assert_eq!(breaker("observe_cut@observe").state, BreakerState::Open, "and the breaker would know");
    hung.await;
    assert_eq!(breaker("observe_cut@observe").state, BreakerState::Open, "its answer comes too late to count");
    assert_eq!(bulkhead("observe_cut@observe").peak_running, 1);
}

#[resilient(deadline = "200ms", mode(deadline = observe))]
async fn observe_deadline(length: u64) -> Option<u64> {
    sleep(ms(length)).await;
    deadline::remaining().map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_marked_and_opens_no_scope_and_the_one_around_is_observed_too() {
    let _world = World::open();
    let figures = figures_of("observe_deadline").unwrap();
    assert_eq!(observe_deadline(300).await, None, "what is called inside sees none");
    assert_eq!((figures.read().would_cut_by(Cut::Deadline), figures.read().would_refuse), (1, 0));
    // Around it 100 ms are left: its own 200 would be 100. The body sees what is around, as it would without.
    let within = deadline::within(ms(100), observe_deadline(50)).await;
    assert_eq!(within.unwrap(), Some(50));
    assert_eq!(figures.read().would_cut, 1);
    let spent = deadline::within(ms(100), async {
        advance(ms(100)).await;
        observe_deadline(0).await
    });
    assert_eq!(spent.await.unwrap(), Some(0), "with nothing left it runs all the same");
    assert_eq!((figures.read().would_refuse_for(Refusal::Deadline), figures.read().refused), (1, 0));
}

#[resilient(rate = "observe_rate:10/s/burst:2/wait:100ms", bulkhead = "observe_rate:4", mode = observe)]
async fn observe_rate(length: u64) {
    sleep(ms(length)).await;
}

#[tokio::test(start_paused = true)]
async fn a_rate_counts_who_would_have_waited_and_been_refused_and_a_full_bulkhead_gives_tokens_back() {
    let _world = World::open();
    let figures = figures_of("observe_rate").unwrap();
    let clock = Stopwatch::start();
    join_all((0..6).map(|_| observe_rate(300))).await;
    clock.assert_reads(ms(300));
    // Two tokens, one in time, and three that would not have been.
    let read = figures.read();
    assert_eq!((read.would_queue, read.would_refuse_for(Refusal::Rate), read.would_refuse), (1, 3, 3));
    advance(ms(700)).await;
    let mut held: Vec<_> = (0..2).map(|_| Box::pin(observe_rate(10_000))).collect();
    for call in &mut held {
        assert!(poll!(call).is_pending());
    }
    assert_eq!((figures.read().would_queue, figures.read().would_refuse), (1, 3), "the bucket has filled again");
    advance(ms(200)).await;
    let mut more: Vec<_> = (0..2).map(|_| Box::pin(observe_rate(10_000))).collect();
    for call in &mut more {
        assert!(poll!(call).is_pending());
    }
    advance(ms(200)).await;
    for _ in 0..3 {
        observe_rate(0).await;
    }
    let read = figures.read();
    assert_eq!((read.would_refuse_for(Refusal::Full), read.would_refuse_for(Refusal::Rate)), (3, 3));
    assert_eq!(read.ok, 9);
}

/// Not `Clone`: nothing is run twice, so nothing is needed twice.
struct Once(u32);

#[resilient(retry(2, budget = "observe_retry:0%+0.2/s"), mode(retry = observe))]
async fn observe_retry(once: Once, runs: &Mutex<u32>) -> Result<u32, Own> {
    *runs.lock().unwrap() += once.0;
    Err(Own)
}

#[resilient(retry(2, backoff = "1ms..1ms", budget = "observe_retry"))]
async fn observe_retry_enforced() -> Result<u32, Own> {
    Err(Own)
}

#[tokio::test(start_paused = true)]
async fn a_retry_counts_the_calls_it_would_have_tried_again_from_a_budget_of_its_own() {
    let _world = World::open();
    let figures = figures_of("observe_retry").unwrap();
    let runs = Mutex::new(0);
    for _ in 0..3 {
        assert_eq!(observe_retry(Once(1), &runs).await, Err(Own));
    }
    assert_eq!(*runs.lock().unwrap(), 3);
    let read = figures.read();
    assert_eq!((read.would_retry, read.retries, read.attempts()), (2, 0, 3), "its budget has two, and was spent");
    observe_retry_enforced().await.unwrap_err();
    assert_eq!(site("observe_retry_enforced").retries, 2, "that of those who retry was not");
}

#[resilient(
    retry(2, backoff = "10ms..10ms", on = any, budget = off),
    idempotent,
    timeout = "100ms",
    bulkhead = "observe_mixed:1",
    breaker(name = "observe_mixed", window = 2, min_calls = 2, cooldown = "1h"),
    mode(bulkhead = observe, breaker = observe)
)]
async fn observe_mixed(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Err(AppError::Broken("always"))
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_observed_beside_what_is_enforced() {
    let _world = World::open();
    let figures = figures_of("observe_mixed").unwrap();
    observe_mixed(0).await.unwrap_err();
    assert_eq!((figures.read().attempts(), figures.read().would_refuse_for(Refusal::Open)), (3, 1));
    assert_eq!(breaker("observe_mixed@observe").state, BreakerState::Open);
    watertight::breaker::reset("observe_mixed@observe");
    // Cut off by the enforced timeout: an ordinary failure for the breaker that observes.
    assert!(observe_mixed(1_000).await.is_err());
    assert_eq!((figures.read().timed_out, figures.read().would_cut), (1, 0));
    assert_eq!(breaker("observe_mixed@observe").state, BreakerState::Open);
    assert_eq!((figures.read().would_refuse, figures.read().retries), (2, 4));
    assert_eq!(occupancy("observe_mixed@observe"), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_in_truth_is_not_counted_as_refused_in_thought() {
    #[resilient(bulkhead = "observe_truth:1", breaker(name = "observe_truth"), mode(breaker = observe))]
    async fn observe_truth(gate: &Gate) -> Result<(), Error> {
        gate.opened().await;
        Ok(())
    }

    let gate = Gate::shut();
    let mut holder = Box::pin(observe_truth(&gate));
    assert!(poll!(&mut holder).is_pending());
    watertight::breaker::isolate("observe_truth@observe");
    observe_truth(&gate).await.unwrap_err();
    let figures = site("observe_truth");
    assert_eq!((figures.refused_for(Refusal::Full), figures.would_refuse), (1, 0));
    gate.open();
    holder.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_panic_gives_everything_back() {
    #[resilient(
        bulkhead = "observe_panic:1",
        breaker(name = "observe_panic", window = 1, min_calls = 1),
        timeout = "1s",
        mode = observe
    )]
    async fn observe_panic() {
        sleep(ms(10)).await;
        panic_quietly()
    }

    caught(observe_panic()).await.unwrap_err();
    assert_eq!(occupancy("observe_panic@observe"), (0, 0));
    assert_eq!(breaker("observe_panic@observe").state, BreakerState::Open);
    assert_eq!(site("observe_panic").panicked, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_back_into_an_observed_bulkhead_borrows_as_it_would() {
    #[resilient(bulkhead = "observe_nested:1", mode = observe)]
    async fn observe_outer() -> u32 {
        observe_inner().await + observe_inner().await
    }

    #[resilient(bulkhead = "observe_nested", mode = observe)]
    async fn observe_inner() -> u32 {
        sleep(ms(1)).await;
        occupancy("observe_nested@observe").0
    }

    assert_eq!(observe_outer().await, 2, "one slot, lent twice");
    assert_eq!((site("observe_inner").would_refuse, occupancy("observe_nested@observe")), (0, (0, 0)));
}

struct Api;

#[resilient(name = "observe_api", timeout = "100ms", bulkhead = "observe_api:1", mode = observe)]
impl Api {
    async fn whole(&self) {
        sleep(ms(150)).await;
    }

    #[resilient(mode(bulkhead = observe))]
    async fn part(&self) -> Result<(), AppError> {
        sleep(ms(150)).await;
        Ok(())
    }

    #[resilient(mode = off)]
    async fn none(&self) -> Result<(), AppError> {
        sleep(ms(150)).await;
        Ok(())
    }

    #[resilient(bulkhead = off)]
    async fn less(&self) {
        sleep(ms(150)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocks_mode_holds_for_its_methods_and_a_method_has_the_last_word() {
    let api = Api;
    api.whole().await;
    assert!(api.part().await.is_err() && api.none().await.is_err());
    api.less().await;
    let cut = |name: &str| (site(name).would_cut, site(name).timed_out);
    assert_eq!((cut("observe_api.whole"), cut("observe_api.part")), ((1, 0), (0, 1)));
    assert_eq!((cut("observe_api.none"), cut("observe_api.less")), ((0, 1), (1, 0)));
}

#[tokio::test]
async fn figures_tried_out_by_observing_neither_tighten_nor_conflict_with_those_in_force() {
    #[resilient(bulkhead = "observe_limits:8/queue:4")]
    async fn in_force() -> Result<(), Error> {
        Ok(())
    }

    #[resilient(bulkhead = "observe_limits:2", mode = observe)]
    async fn tried_out() {}

    in_force().await.unwrap();
    tried_out().await;
    let limits = |name: &str| (bulkhead(name).slots, bulkhead(name).queue);
    assert_eq!((limits("observe_limits"), limits("observe_limits@observe")), ((8, 4), (2, 0)));
    let findings = watertight::check().findings;
    assert!(findings.iter().all(|finding| finding.name != "observe_limits"));
    assert!(
        findings.iter().all(|finding| finding.name != "observe_shared"),
        "joined in one mode, declared in the other"
    );
}

#[tokio::test(start_paused = true)]
async fn a_guard_can_observe_too() {
    let guard = watertight::Guard::named("observe_guard").timeout(ms(100)).retry(2).observe().build().unwrap();
    let answer = guard.run(|| async {
        sleep(ms(200)).await;
        Err::<u32, _>(std::io::Error::other("its own"))
    });
    assert!(matches!(answer.await, Err(watertight::Failure::Failed(_))));
    let figures = site("observe_guard");
    assert_eq!((figures.error, figures.attempts(), figures.would_cut, figures.would_retry), (1, 1, 1, 0));
}
