//! A change while calls wait, run, pause: nothing of theirs is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};
use watertight::settings::Override;
use watertight::testing::World;
use watertight::{Error, ErrorKind, breaker, resilient};
use watertight_tests::{AppError, breaker as breaker_figures, bulkhead, ms, occupancy, site};

use crate::load;

async fn settle() {
    for _ in 0..32 {
        yield_now().await;
    }
}

#[resilient(timeout = "100ms", bulkhead = "place_waiting:1/queue:8/wait:60s")]
async fn place_waiting(work: Arc<Semaphore>) -> Result<(), Error> {
    work.acquire().await.expect("open").forget();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_served_by_the_new_figures_and_those_who_run_keep_theirs() {
    let _world = World::open();
    let work = Arc::new(Semaphore::new(0));
    let calls: Vec<_> = (0..5).map(|_| tokio::spawn(place_waiting(Arc::clone(&work)))).collect();
    settle().await;
    assert_eq!(occupancy("place_waiting"), (1, 4));
    load("waiting", "[site.place_waiting]\ntimeout = \"10s\"\n[bulkhead.place_waiting]\nslots = 3\n").unwrap();
    settle().await;
    assert_eq!(occupancy("place_waiting"), (3, 2), "two of those who waited run at once");
    load("waiting", "[site.place_waiting]\ntimeout = \"10s\"\n[bulkhead.place_waiting]\nslots = 1\nqueue = 0\n")
        .unwrap();
    sleep(ms(150)).await;
    let ended: Vec<_> = calls.iter().map(tokio::task::JoinHandle::is_finished).collect();
    assert_eq!(ended, [true, false, false, false, false], "the first began with 100 ms, the others with ten seconds");
    assert_eq!(occupancy("place_waiting"), (2, 2), "fewer slots take effect as they are given back");
    work.add_permits(4);
    settle().await;
    for (number, call) in calls.into_iter().enumerate() {
        let answer = call.await.unwrap();
        assert_eq!(answer.is_err(), number == 0, "{number}: {answer:?}");
    }
    assert_eq!(occupancy("place_waiting"), (0, 0));
}

#[resilient(bulkhead = "place_off:1/queue:4/wait:60s")]
async fn place_off(work: Arc<Semaphore>) -> Result<(), Error> {
    work.acquire().await.expect("open").forget();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn switched_off_and_on_a_bulkhead_has_all_its_slots_and_has_lost_no_waiter() {
    let _world = World::open();
    let work = Arc::new(Semaphore::new(0));
    let go = || tokio::spawn(place_off(Arc::clone(&work)));
    let (holder, waiter) = (go(), go());
    settle().await;
    Override::of("site.place_off.bulkhead.enabled", "false").apply().unwrap();
    let beside: Vec<_> = (0..6).map(|_| go()).collect();
    settle().await;
    assert_eq!(occupancy("place_off"), (1, 1), "the others passed it by");
    watertight::settings::revert_all("test");
    work.add_permits(8);
    for call in beside.into_iter().chain([holder, waiter]) {
        call.await.unwrap().unwrap();
    }
    assert_eq!(occupancy("place_off"), (0, 0));
    let _holder = go();
    settle().await;
    assert_eq!(occupancy("place_off"), (1, 0), "and it holds again");
}

#[resilient(retry(3, backoff(constant, first = "1s", jitter = none), on = any, budget = off), idempotent)]
async fn place_retries(runs: Arc<AtomicU32>, argument: String) -> Result<(), AppError> {
    drop(argument);
    runs.fetch_add(1, Ordering::SeqCst);
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn a_call_in_its_pause_heeds_fewer_retries_at_once_and_more_with_the_next_call() {
    let _world = World::open();
    let runs = Arc::new(AtomicU32::new(0));
    let go = || tokio::spawn(place_retries(Arc::clone(&runs), "given to each attempt".to_owned()));
    let call = go();
    sleep(ms(1_500)).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    Override::of("site.place_retries.retry.enabled", "false").apply().unwrap();
    assert_eq!(call.await.unwrap().unwrap_err().broken(), Some("down"), "the last real error");
    assert_eq!(runs.swap(0, Ordering::SeqCst), 3, "the pause that had begun ends in its attempt");
    watertight::settings::revert_all("test");

    // On its last attempt, which has been given the argument itself, when more are allowed.
    let call = go();
    sleep(ms(2_500)).await;
    Override::of("site.place_retries.retry.max", "9").apply().unwrap();
    call.await.unwrap().unwrap_err();
    assert_eq!(runs.swap(0, Ordering::SeqCst), 4);
    go().await.unwrap().unwrap_err();
    assert_eq!(runs.load(Ordering::SeqCst), 10);
}

#[resilient(breaker(name = "place_open", window = 2, cooldown = "10s"))]
async fn place_open() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_is_open_stays_open_and_its_cooldown_runs_on() {
    let _world = World::open();
    for _ in 0..2 {
        place_open().await.unwrap_err();
    }
    for window in [50, 3, 700] {
        load("open", &format!("[breaker.place_open]\nwindow = {window}\ncooldown = \"20s\"\n")).unwrap();
        assert_eq!(place_open().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    }
    assert_eq!(breaker_figures("place_open").state, breaker::State::Open);
    sleep(ms(10_100)).await;
    assert!(place_open().await.unwrap_err().broken().is_some(), "the probe of the cooldown that it opened with");
}

/// B29: lowering a limit is no use if it takes free permits alone; here there are none free.
#[resilient(bulkhead = "b29:8/queue:32/wait:60s")]
async fn b29(work: Arc<Semaphore>) -> Result<(), Error> {
    work.acquire().await.expect("open").forget();
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_saturated_bulkhead_goes_by_its_new_size_down_and_up_and_loses_nobody() {
    let _world = World::open();
    let work = Arc::new(Semaphore::new(0));
    let calls: Vec<_> = (0..28).map(|_| tokio::spawn(b29(Arc::clone(&work)))).collect();
    settle().await;
    assert_eq!(occupancy("b29"), (8, 20));
    load("b29", "[bulkhead]\nb29 = \"4/queue:32\"\n").unwrap();
    work.add_permits(6);
    settle().await;
    assert_eq!(occupancy("b29"), (4, 18), "down to four, where it stays");
    load("b29", "[bulkhead]\nb29 = \"12/queue:32\"\n").unwrap();
    settle().await;
    assert_eq!(occupancy("b29"), (12, 10));
    let mut rng = fastrand::Rng::with_seed(29);
    let mut last = 12;
    for _ in 0..10 {
        last = rng.u32(1..=16);
        load("b29", &format!("[bulkhead.b29]\nslots = {last}\n")).unwrap();
        work.add_permits(1);
        settle().await;
        let (running, queued) = occupancy("b29");
        assert!(queued == 0 || running >= last, "{running} run of {last} while {queued} wait");
    }
    work.add_permits(100);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    assert_eq!(occupancy("b29"), (0, 0));
    work.forget_permits(1_000);
    let _burst: Vec<_> = (0..=last).map(|_| tokio::spawn(b29(Arc::clone(&work)))).collect();
    settle().await;
    assert_eq!(occupancy("b29"), (last, 1), "a burst of the last size all run, and one more waits");
}

/// B69: two declarations that conflict, a third that agrees, and settings that override them all.
#[resilient(bulkhead = "b69_set:8/queue:16")]
async fn b69_a() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "b69_set:4/queue:0")]
async fn b69_b() -> Result<(), Error> {
    Ok(())
}

#[resilient(bulkhead = "b69_set:8/queue:16")]
async fn b69_c() -> Result<(), Error> {
    Ok(())
}

#[tokio::test]
async fn an_override_beats_declarations_that_conflict_and_the_conflict_is_still_told() {
    for order in [[0, 1, 2], [1, 2, 0]] {
        let _world = World::open();
        load("b69", "[bulkhead.b69_set]\nslots = 6\n").unwrap();
        for which in order {
            match which {
                0 => b69_a().await.unwrap(),
                1 => b69_b().await.unwrap(),
                _ => b69_c().await.unwrap(),
            }
        }
        let figures = bulkhead("b69_set");
        assert_eq!((figures.slots, figures.queue), (6, 0), "the queue is the strictest of what is declared");
        let report = watertight::check();
        let conflict = report.findings.iter().find(|it| it.name == "b69_set").expect("told");
        assert_eq!(conflict.sites.len(), 3, "{conflict}");
        let lines = report.in_force.iter().filter(|site| site.identity.name.starts_with("b69_"));
        assert!(
            lines.clone().count() == 3
                && lines.clone().all(|it| it.to_string().contains("bulkhead.b69_set.slots = 6 ("))
        );
        load("b69", "").unwrap();
        assert_eq!(bulkhead("b69_set").slots, 4, "taken away, the strictest declaration holds");
    }
}

static RUNNING: AtomicU32 = AtomicU32::new(0);
static MOST: AtomicU32 = AtomicU32::new(0);

/// What runs at once, counted from inside.
struct Inside;

impl Inside {
    fn enter() -> Self {
        MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        Self
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

#[resilient(
    timeout = "30s",
    deadline = "60s",
    retry(2, backoff = "1ms..2ms", on = any, budget = off),
    idempotent,
    breaker(name = "place_load", window = 1000, min_calls = 1000),
    bulkhead = "place_load:8/queue:256/wait:60s"
)]
async fn place_load(fails: bool) -> Result<(), AppError> {
    let _inside = Inside::enter();
    yield_now().await;
    yield_now().await;
    if fails && watertight::attempt() == 0 { Err(AppError::Broken("once")) } else { Ok(()) }
}

#[resilient(breaker = "place_held")]
async fn place_held() -> Result<(), AppError> {
    Ok(())
}

#[resilient(breaker(name = "place_held", window = 10))]
async fn place_held_declared() -> Result<(), AppError> {
    Ok(())
}

/// Slots between 3 and 16, so 16 is the most that ever may run at once. Retries stay on, so that a failed first attempt is never
/// a call's end; everything else changes under the calls.
fn some_settings(rng: &mut fastrand::Rng) -> String {
    let on = |rng: &mut fastrand::Rng| rng.u32(..4) > 0;
    format!(
        "[bulkhead.place_load]\nslots = {}\nqueue = {}\n\
         [site.place_load]\ntimeout = \"{}s\"\ndeadline = {{ value = \"{}s\", enabled = {} }}\n\
         retry = {{ max = {}, backoff = \"1ms..{}ms\" }}\n\
         [site.place_load.timeout]\n",
        rng.u32(3..=16),
        rng.u32(200..400),
        rng.u32(20..40),
        rng.u32(50..70),
        on(rng),
        rng.u32(1..5),
        rng.u32(1..4),
    )
    .replace("[site.place_load.timeout]\n", "")
        + &format!(
            "breaker = {{ enabled = {}, mode = \"{}\" }}\n[breaker.place_load]\nwindow = {}\ncooldown = \"{}s\"\n\
             [breaker.place_held]\nwindow = {}\n",
            on(rng),
            if on(rng) { "enforce" } else { "observe" },
            rng.u32(1_000..2_000),
            rng.u32(1..9),
            rng.u32(1..500),
        )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_reloads_under_load_lose_nothing() {
    let _world = World::open();
    place_held_declared().await.unwrap();
    breaker::isolate("place_held");
    let stop = Arc::new(AtomicBool::new(false));
    let made = Arc::new(AtomicU64::new(0));
    let callers: Vec<_> = (0..96_u64)
        .map(|caller| {
            let (stop, made) = (Arc::clone(&stop), Arc::clone(&made));
            tokio::spawn(async move {
                let mut calls = 0;
                while !stop.load(Ordering::Relaxed) {
                    place_load((calls + caller) % 7 == 0).await?;
                    calls += 1;
                    made.fetch_add(1, Ordering::Relaxed);
                }
                Ok::<u64, AppError>(calls)
            })
        })
        .collect();
    let mut rng = fastrand::Rng::with_seed(1_000);
    let began = Instant::now();
    for reload in 0..1_000 {
        let text = some_settings(&mut rng);
        load("thousand", &text).unwrap_or_else(|wrong| panic!("{reload}: {wrong}\n{text}"));
        if reload % 10 == 0 {
            let seen = made.load(Ordering::Relaxed);
            // Calls go on between reloads, whatever the last one said.
            watertight_tests::threads::until(|| made.load(Ordering::Relaxed) > seen);
            yield_now().await;
        }
    }
    let took = began.elapsed();
    load("thousand", "[bulkhead.place_load]\nslots = 5\n").unwrap();
    stop.store(true, Ordering::Relaxed);
    let mut calls = 0;
    for caller in callers {
        calls += tokio::time::timeout(Duration::from_secs(20), caller)
            .await
            .expect("nobody hangs")
            .unwrap()
            .expect("nobody is refused");
    }
    let figures = site("place_load");
    assert_eq!(
        (figures.ok, figures.calls, figures.in_flight, figures.queued),
        (calls, calls, 0, 0),
        "every call has one fate"
    );
    assert_eq!(occupancy("place_load"), (0, 0));
    assert!(MOST.load(Ordering::SeqCst) <= 16, "{MOST:?} ran at once");
    assert_eq!(place_held().await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen), "held open through all of it");
    // Every slot is there: so many run together, and no more.
    MOST.store(0, Ordering::SeqCst);
    let burst: Vec<_> = (0..40).map(|_| tokio::spawn(place_load(false))).collect();
    for call in burst {
        call.await.unwrap().unwrap();
    }
    assert_eq!(bulkhead("place_load").slots, 5);
    assert!(MOST.load(Ordering::SeqCst) <= 5);
    println!("{calls} calls and 1,000 reloads in {took:?}");
}
