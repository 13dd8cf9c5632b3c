//! `watertight::testing::inject`: faults by name, in the place of a body.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::join_all;
use futures::poll;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::testing::{Fault, Injectable, World, figures_of, inject};
use watertight::{AttemptFate, Class, Classify, ErrorKind, Failure, Fate, Guard, StopReason, resilient};
use watertight_tests::{AppError, Stopwatch, breaker, ms, occupancy, site};

/// An error that cannot be made from watertight's.
#[derive(Debug, PartialEq)]
enum Own {
    Busy,
    Gone,
}

impl Injectable for Own {}

impl Classify for Own {
    fn class(&self) -> Class {
        if *self == Self::Busy { Class::Retryable } else { Class::Permanent }
    }
}

#[derive(Default)]
struct Runs(AtomicU32);

impl Runs {
    fn one_more(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn seen(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

#[resilient(
    timeout = "300ms",
    bulkhead = "inject_hang:2",
    breaker(name = "inject_hang", window = 2, min_calls = 2),
    retry = 2
)]
async fn inject_hang(runs: &Runs) -> Result<u32, AppError> {
    Ok(runs.one_more())
}

#[tokio::test(start_paused = true)]
async fn a_hang_holds_its_slot_is_cut_off_at_the_limit_and_is_a_failure() {
    let _world = World::open();
    let figures = figures_of("inject_hang").unwrap();
    let runs = Runs::default();
    let hang = inject("inject_hang", Fault::hang()).unwrap();
    let clock = Stopwatch::start();
    let mut calls: Vec<_> = (0..2).map(|_| Box::pin(inject_hang(&runs))).collect();
    for call in &mut calls {
        assert!(poll!(call).is_pending());
    }
    assert_eq!((occupancy("inject_hang"), figures.running()), ((2, 0), 2));
    assert_eq!(inject_hang(&runs).await.unwrap_err().kind(), Some(ErrorKind::BulkheadFull));
    for call in calls {
        assert_eq!(call.await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    }
    clock.assert_reads(ms(300));
    assert_eq!((runs.seen(), hang.struck(), occupancy("inject_hang")), (0, 2, (0, 0)));
    assert_eq!(breaker("inject_hang").state, BreakerState::Open);
    drop(hang);
    watertight::breaker::reset("inject_hang");
    assert_eq!(inject_hang(&runs).await.unwrap(), 1, "lifted with its guard");
}

#[resilient(retry(2, backoff = "1ms..1ms", budget = off))]
async fn inject_error(runs: &Runs) -> Result<u32, Own> {
    Ok(runs.one_more())
}

#[tokio::test(start_paused = true)]
async fn an_error_is_the_functions_own_and_is_judged_like_one_of_the_bodys() {
    let _world = World::open();
    let figures = figures_of("inject_error").unwrap();
    let runs = Runs::default();
    let twice = inject("inject_error", Fault::error(|| Own::Busy).times(2)).unwrap();
    assert_eq!(inject_error(&runs).await, Ok(1), "tried again");
    assert_eq!((twice.struck(), figures.read().retries), (2, 2));
    drop(twice);
    let gone = inject("behaviour::inject::inject_error", Fault::error(|| Own::Gone)).unwrap();
    assert_eq!(inject_error(&runs).await, Err(Own::Gone), "permanent, so final");
    assert_eq!((gone.struck(), figures.read().stopped_for(StopReason::NotRetryable)), (1, 1));
    let busy = inject("inject_error", Fault::error(|| Own::Busy)).unwrap();
    assert_eq!(inject_error(&runs).await, Err(Own::Busy), "the one set last has the first say");
    assert_eq!((busy.struck(), gone.struck(), runs.seen()), (3, 1, 1));
    assert_eq!(figures.fates(), [(Fate::Ok, 1), (Fate::Error, 2)]);
    assert_eq!(figures.read().attempts_by(AttemptFate::Error), 6);
}

#[resilient(timeout = "1s", breaker(name = "inject_asked", on = |error: &Own| *error == Own::Gone), fallback = stand_in)]
async fn inject_asked() -> Result<u32, Own> {
    Ok(1)
}

fn stand_in(why: Failure<Own>) -> u32 {
    match why {
        Failure::Failed(Own::Busy) => 10,
        Failure::Failed(Own::Gone) => 20,
        Failure::Refused(error) => {
            drop(error);
            30
        }
    }
}

#[tokio::test(start_paused = true)]
async fn predicates_and_fallbacks_are_given_the_error() {
    let _world = World::open();
    let busy = inject("inject_asked", Fault::error(|| Own::Busy)).unwrap();
    assert_eq!(inject_asked().await, Ok(10));
    assert_eq!((breaker("inject_asked").calls, breaker("inject_asked").failures), (1, 0));
    drop(busy);
    let _gone = inject("inject_asked", Fault::error(|| Own::Gone)).unwrap();
    assert_eq!(inject_asked().await, Ok(20));
    assert_eq!((breaker("inject_asked").calls, breaker("inject_asked").failures), (2, 1));
}

#[resilient(timeout = "300ms")]
async fn inject_delay(runs: &Runs) -> Result<u32, AppError> {
    sleep(ms(100)).await;
    Ok(runs.one_more())
}

#[tokio::test(start_paused = true)]
async fn a_delay_comes_before_the_body_and_counts_towards_its_limit() {
    let _world = World::open();
    let runs = Runs::default();
    let clock = Stopwatch::start();
    let late = inject("inject_delay", Fault::delay(ms(150))).unwrap();
    assert_eq!(inject_delay(&runs).await.unwrap(), 1);
    clock.assert_reads(ms(250));
    drop(late);
    let _too_late = inject("inject_delay", Fault::delay(ms(250))).unwrap();
    assert_eq!(inject_delay(&runs).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    clock.assert_reads(ms(550));
    assert_eq!(runs.seen(), 1);
}

#[resilient(bulkhead = "inject_panic:1", breaker(name = "inject_panic", window = 1, min_calls = 1))]
async fn inject_panic() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_panic_goes_the_way_of_the_bodys_own() {
    let _world = World::open();
    let figures = figures_of("inject_panic").unwrap();
    let _panic = inject("inject_panic", Fault::panic("out of range")).unwrap();
    let joined = tokio::spawn(inject_panic()).await.unwrap_err().into_panic();
    assert_eq!(joined.downcast_ref::<String>().map(String::as_str), Some("out of range"));
    assert_eq!((figures.fates(), occupancy("inject_panic")), (vec![(Fate::Panicked, 1)], (0, 0)));
    assert_eq!(breaker("inject_panic").state, BreakerState::Open);
}

#[resilient(timeout = "1s")]
async fn inject_rate() -> Result<(), AppError> {
    Ok(())
}

#[resilient(timeout = "1s", mode = observe)]
async fn inject_share() -> Result<(), Own> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rate_strikes_its_share_and_the_same_attempts_in_every_run() {
    let run = async |fault: Fault| {
        let set = inject("inject_share", fault.rate(0.3)).unwrap();
        let mut struck = Vec::new();
        for _ in 0..1_000 {
            struck.push(inject_share().await.is_err());
        }
        assert_eq!(struck.iter().filter(|struck| **struck).count() as u64, set.struck());
        struck
    };
    let fault = || Fault::error(|| Own::Busy);
    let (first, again, other) = (run(fault()).await, run(fault()).await, run(fault().seed(7)).await);
    let share = first.iter().filter(|struck| **struck).count();
    assert!((250..=350).contains(&share), "{share}");
    assert_eq!(first, again);
    assert_ne!(first, other);
    for (rate, struck) in [(0.0, 0), (-1.0, 0), (f64::NAN, 0), (1.0, 5), (7.0, 5)] {
        let set = inject("inject_share", Fault::delay(ms(1)).rate(rate)).unwrap();
        join_all((0..5).map(|_| inject_share())).await.into_iter().for_each(|it| it.unwrap());
        assert_eq!(set.struck(), struck, "{rate}");
    }
}

#[resilient(timeout = "300ms")]
async fn inject_apart() -> Result<u32, AppError> {
    Ok(1)
}

fn on_a_runtime_of_its_own<T: Send + 'static>(test: impl Future<Output = T> + Send + 'static) -> T {
    let thread = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(test)
    });
    thread.join().expect("no panic")
}

#[tokio::test(start_paused = true)]
async fn it_strikes_what_this_test_spawns_and_no_other_test() {
    let hang = inject("inject_apart", Fault::hang()).unwrap();
    assert_eq!(on_a_runtime_of_its_own(async { inject_apart().await.unwrap() }), 1);
    assert_eq!(hang.struck(), 0);
    assert!(tokio::spawn(inject_apart()).await.expect("no panic").is_err());
    assert!(watertight::spawn(inject_apart()).await.expect("no panic").is_err());
    assert_eq!(hang.struck(), 2);
    drop(hang);
    let everywhere = inject("inject_apart", Fault::hang().everywhere()).unwrap();
    assert!(on_a_runtime_of_its_own(async { inject_apart().await.is_err() }));
    assert_eq!(everywhere.struck(), 1);
    drop(everywhere);
    let outside = std::thread::spawn(|| inject("inject_apart", Fault::hang())).join().expect("no panic").unwrap();
    assert!(inject_apart().await.is_err(), "set outside of a runtime, it is for all of them");
    assert_eq!(outside.struck(), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_that_were_struck_stay_struck_when_the_fault_is_lifted() {
    #[resilient(timeout = "300ms")]
    async fn inject_lifted() -> Result<(), AppError> {
        Ok(())
    }

    let hang = inject("inject_lifted", Fault::hang()).unwrap();
    let mut struck = Box::pin(inject_lifted());
    assert!(poll!(&mut struck).is_pending());
    drop(hang);
    inject_lifted().await.unwrap();
    advance(ms(300)).await;
    assert!(struck.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn an_error_of_another_type_is_said_and_not_passed_over() {
    #[resilient(timeout = "1s", mode = observe)]
    async fn inject_value() -> u32 {
        1
    }

    let _error = inject("inject_rate", Fault::error(|| Own::Gone)).unwrap();
    let _value = inject("inject_value", Fault::error(|| Own::Gone)).unwrap();
    let told = |panic: Box<dyn std::any::Any + Send>| panic.downcast_ref::<String>().cloned().expect("a sentence");
    let said = told(tokio::spawn(inject_rate()).await.unwrap_err().into_panic());
    assert!(
        said.starts_with(
            "an injected error of type `behaviour::inject::Own` has struck behaviour::inject::inject_rate"
        )
    );
    assert!(said.ends_with("or one that lacks `impl watertight::testing::Injectable for behaviour::inject::Own {}`"));
    assert!(told(tokio::spawn(inject_value()).await.unwrap_err().into_panic()).contains("inject_value"));
}

#[tokio::test]
async fn a_body_with_threads_of_its_own_never_gets_there() {
    #[resilient(timeout = "20ms", isolate = "inject_isolate:1")]
    async fn inject_isolate(runs: Arc<Runs>) -> Result<u32, AppError> {
        Ok(runs.one_more())
    }

    let runs = Arc::<Runs>::default();
    let hang = inject("inject_isolate", Fault::hang()).unwrap();
    assert_eq!(inject_isolate(Arc::clone(&runs)).await.unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert_eq!((hang.struck(), runs.seen()), (1, 0));
    drop(hang);
    assert_eq!(inject_isolate(Arc::clone(&runs)).await.unwrap(), 1, "its thread is free");
}

#[tokio::test(start_paused = true)]
async fn a_guard_can_be_struck_too() {
    let guard = Guard::named("inject_guard").timeout(ms(50)).build().unwrap();
    let _hang = inject("inject_guard", Fault::hang()).unwrap();
    let answer = guard.run(|| async { Ok::<u32, std::io::Error>(1) }).await;
    assert!(matches!(answer, Err(Failure::Refused(error)) if error.kind() == ErrorKind::TimedOut));
}

#[tokio::test(start_paused = true)]
async fn what_only_observes_is_struck_like_everything_else() {
    #[resilient(timeout = "100ms", mode = observe)]
    async fn inject_observed() -> u32 {
        1
    }

    let _late = inject("inject_observed", Fault::delay(ms(500))).unwrap();
    assert_eq!(inject_observed().await, 1);
    assert_eq!(site("inject_observed").would_cut, 1);
}

/// An error that borrows, and a type that is not known: with the feature on, both are guarded as without.
#[derive(Debug)]
struct Borrows<'a>(&'a str);

impl Classify for Borrows<'_> {
    fn class(&self) -> Class {
        if self.0.is_empty() { Class::Permanent } else { Class::Retryable }
    }
}

#[resilient(retry(1, backoff = "1ms..1ms"))]
async fn inject_borrows<'a>(word: &'a str, runs: &Runs) -> Result<(), Borrows<'a>> {
    runs.one_more();
    Err(Borrows(word))
}

#[resilient(retry(1, backoff = "1ms..1ms"))]
async fn inject_generic<E: Classify>(make: fn() -> E, runs: &Runs) -> Result<(), E> {
    runs.one_more();
    Err(make())
}

#[tokio::test(start_paused = true)]
async fn errors_that_cannot_be_injected_mean_what_they_always_mean() {
    let runs = Runs::default();
    assert_eq!(inject_borrows("", &runs).await.unwrap_err().0, "");
    assert_eq!(runs.seen(), 1, "permanent");
    assert_eq!(inject_borrows("later", &runs).await.unwrap_err().0, "later");
    assert_eq!(runs.seen(), 3, "retryable");
    assert_eq!(inject_generic(|| Own::Gone, &runs).await, Err(Own::Gone));
    assert_eq!(runs.seen(), 4, "permanent");
    assert_eq!(inject_generic(|| Own::Busy, &runs).await, Err(Own::Busy));
    assert_eq!(runs.seen(), 6, "retryable");
}

#[tokio::test]
async fn a_name_that_is_nobodys_is_refused_with_what_was_meant() {
    let misspelt = inject("inject_hagn", Fault::hang()).unwrap_err();
    let said = "no guarded function is called `inject_hagn`; did you mean `behaviour::inject::inject_hang`?";
    assert_eq!(misspelt.to_string(), said);
    assert!(inject("testing_twin", Fault::hang()).unwrap_err().is_ambiguous);
}
