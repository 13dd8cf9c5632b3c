//! `watertight::testing`: worlds, figures since a mark, waiting without sleeping.

use std::sync::Arc;

use futures::future::join_all;
use tokio::time::{advance, sleep};
use watertight::metrics::BreakerState;
use watertight::testing::{Hung, World, figures_of};
use watertight::{AttemptFate, Fate, Refusal, resilient};
use watertight_tests::{AppError, Stopwatch, ms};

#[resilient(
    timeout = "300ms",
    bulkhead = "testing_shop:2/queue:1",
    breaker(name = "testing_shop", window = 4, min_calls = 4),
    retry(1, backoff(constant, first = "10ms", jitter = none), budget = "testing_shop:0%+1/s")
)]
async fn testing_shop(vendor: Arc<Hung>) -> Result<u32, AppError> {
    vendor.call().await;
    Ok(7)
}

/// An outage in a world of its own: the same in every test, whatever the others do to the same function.
async fn outage() {
    let _world = World::open();
    let shop = figures_of("testing_shop").unwrap();
    let vendor = Arc::<Hung>::default();
    let calls = join_all((0..5).map(|_| tokio::spawn(testing_shop(Arc::clone(&vendor)))));
    let watch = async {
        shop.until_running(2).await.unwrap();
        assert_eq!((shop.running(), shop.queued(), vendor.inside()), (2, 1, 2));
        let now = watertight::snapshot();
        assert_eq!(now.bulkhead("testing_shop").map(|it| (it.running, it.queued)), Some((2, 1)));
    };
    let (answers, ()) = tokio::join!(calls, watch);
    assert!(answers.into_iter().all(|answer| answer.expect("no panic").is_err()));
    assert_eq!(shop.fates(), [(Fate::TimedOut, 3), (Fate::Refused(Refusal::Full), 2)]);
    let again = join_all((0..2).map(|_| testing_shop(Arc::clone(&vendor)))).await;
    assert!(again.iter().all(Result::is_err));
    assert_eq!(watertight::snapshot().breaker("testing_shop").map(|it| it.state), Some(BreakerState::Open));
    assert_eq!(vendor.inside(), 0);
}

#[tokio::test(start_paused = true)]
async fn tests_of_one_function_side_by_side_do_not_meet() {
    let threads: Vec<_> = (0..8)
        .map(|_| {
            std::thread::spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
                runtime.expect("a runtime").block_on(outage());
            })
        })
        .collect();
    outage().await;
    for thread in threads {
        thread.join().expect("the same everywhere");
    }
    let all = watertight::snapshot();
    assert_eq!(all.site("testing_shop").map(|it| it.calls), Some(0), "nor does the process count them");
    assert_eq!(all.bulkhead("testing_shop").map(|it| it.peak_running), Some(0));
    assert_eq!(all.breaker("testing_shop").map(|it| it.opened), Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_a_test_spawns_is_in_its_world() {
    #[resilient(timeout = "1s")]
    async fn testing_spawned() -> Result<u32, AppError> {
        Ok(1)
    }

    let _world = World::open();
    let figures = figures_of("testing_spawned").unwrap();
    join_all((0..20).map(|_| tokio::spawn(testing_spawned()))).await.into_iter().for_each(|it| {
        it.expect("no panic").unwrap();
    });
    watertight::spawn(testing_spawned()).await.expect("no panic").unwrap();
    let runtime = tokio::runtime::Handle::current();
    let blocking = tokio::task::spawn_blocking(move || runtime.block_on(testing_spawned()));
    blocking.await.expect("no panic").unwrap();
    assert_eq!(figures.fates(), [(Fate::Ok, 22)]);
    futures::executor::block_on(std::future::ready(()));
    std::thread::spawn(|| futures::executor::block_on(testing_spawned())).join().expect("no panic").unwrap();
    assert_eq!(figures.fates(), [(Fate::Ok, 22)], "outside of the runtime is outside of its world");
}

#[tokio::test(start_paused = true)]
async fn a_call_belongs_to_the_world_in_which_it_began() {
    #[resilient(bulkhead = "testing_outlives:1")]
    async fn testing_outlives() -> Result<(), AppError> {
        sleep(ms(50)).await;
        Ok(())
    }

    let outside = figures_of("testing_outlives").unwrap();
    let world = World::open();
    let inside = figures_of("testing_outlives").unwrap();
    let call = tokio::spawn(testing_outlives());
    inside.until_running(1).await.unwrap();
    drop(world);
    testing_outlives().await.expect("the slot in the other world is not this one's");
    call.await.expect("no panic").unwrap();
    assert_eq!((inside.fates(), inside.running()), (vec![(Fate::Ok, 1)], 0));
    assert_eq!(outside.fates(), [(Fate::Ok, 1)]);
}

#[resilient(bulkhead = "testing_waits:1/queue:9/wait:10s", timeout = "2s")]
async fn testing_waits(length: u64) -> Result<(), AppError> {
    sleep(ms(length)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn waiting_moves_a_paused_clock_as_far_as_needed_and_no_further() {
    let _world = World::open();
    let figures = figures_of("testing_waits").unwrap();
    let clock = Stopwatch::start();
    let calls: Vec<_> = (0..3).map(|_| tokio::spawn(testing_waits(100))).collect();
    figures.until_queued(2).await.unwrap();
    clock.assert_reads(ms(0));
    let later = tokio::spawn(async {
        sleep(ms(40)).await;
        testing_waits(100).await
    });
    figures.until_queued(3).await.unwrap();
    clock.assert_reads(ms(40));
    figures.until_idle().await.unwrap();
    clock.assert_reads(ms(400));
    assert_eq!(figures.fates(), [(Fate::Ok, 4)]);
    assert!(calls.iter().all(tokio::task::JoinHandle::is_finished) && later.is_finished());
}

#[tokio::test(start_paused = true)]
async fn what_never_comes_is_said_and_not_waited_for_for_ever() {
    let _world = World::open();
    let figures = figures_of("testing_waits").unwrap();
    let held = tokio::spawn(testing_waits(1_900));
    figures.until_running(1).await.unwrap();
    let never = figures.until_running(2).await.unwrap_err();
    let said = "waited 60s for 2 running in `testing_waits`, and there are 0 running, 0 queued, 0 in flight";
    assert_eq!((never.to_string(), format!("{never:?}")), (said.to_owned(), said.to_owned()));
    held.await.expect("no panic").unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_mark_leaves_out_what_was_before() {
    let _world = World::open();
    let mut figures = figures_of("testing_waits").unwrap();
    testing_waits(5_000).await.unwrap_err();
    assert_eq!(figures.read().attempts_by(AttemptFate::TimedOut), 1);
    let mut across = Box::pin(testing_waits(100));
    assert!(futures::poll!(&mut across).is_pending());
    figures.mark();
    let read = figures.read();
    assert_eq!((read.calls, read.in_flight, figures.running(), figures.fates()), (0, 1, 1, vec![]));
    advance(ms(100)).await;
    across.await.unwrap();
    let read = figures.read();
    assert_eq!((read.calls, read.in_flight, read.latency.count(), read.cut_off.count()), (1, 0, 1, 0));
    assert_eq!(figures.fates(), [(Fate::Ok, 1)]);
}

mod one {
    #[watertight::resilient(retry = 1)]
    pub(super) async fn testing_twin() {}
}

mod two {
    #[watertight::resilient(retry = 1)]
    pub(super) async fn testing_twin() {}
}

#[tokio::test]
async fn a_name_that_fits_none_or_several_is_refused_with_what_was_meant() {
    one::testing_twin().await;
    two::testing_twin().await;
    assert!(figures_of("testing_waits").is_ok());
    assert!(figures_of("behaviour::testing::testing_waits").is_ok());
    assert!(figures_of("one::testing_twin").is_ok());
    assert!(figures_of("ne::testing_twin").is_err(), "a path is cut between its parts");
    let twins = figures_of("testing_twin").unwrap_err();
    assert!(twins.is_ambiguous);
    assert_eq!(twins.candidates.len(), 2);
    assert!(twins.candidates[0].starts_with("behaviour::testing::one::testing_twin (tests/behaviour/testing.rs:"));
    assert!(twins.to_string().ends_with("write more of the path, or give one a name of its own with `name = \"..\"`"));
    let misspelt = figures_of("testing::testing_wait").unwrap_err();
    let said = "no guarded function is called `testing::testing_wait`; did you mean \
                `behaviour::testing::testing_waits`?";
    assert_eq!((misspelt.to_string(), format!("{misspelt:?}")), (said.to_owned(), said.to_owned()));
    let far = figures_of("something else entirely").unwrap_err();
    assert!(far.candidates.len() > 6 && far.to_string().ends_with("more?"), "{far}");
}
