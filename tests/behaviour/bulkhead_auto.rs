//! `bulkhead = "NAME:auto"`: slots that follow what is measured.
//!
//! The dependency is a model: so many workers, each call served by one of them for a time that varies by a quarter
//! either way, in order of arrival. Who sends it more than it has workers waits inside it, where no caller can see,
//! as in a real one. Everything runs on the paused clock, so minutes of load take a moment, and the draws are seeded.
//! `cargo test -p watertight-tests --test behaviour auto -- --nocapture` shows the figures.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use watertight::{Error, Guard, guard, resilient};
use watertight_tests::{assert_idle, bulkhead, ms, site};

/// A dependency behind a wire.
struct Dependency {
    workers: Semaphore,
    /// Microseconds of work per call.
    length: AtomicU64,
    hangs: AtomicUsize,
    draws: AtomicU64,
}

impl Dependency {
    const fn new(workers: usize, length: u64) -> Self {
        Self {
            workers: Semaphore::const_new(workers),
            length: AtomicU64::new(length * 1_000),
            hangs: AtomicUsize::new(0),
            draws: AtomicU64::new(0),
        }
    }

    async fn answer(&self) {
        let turn = self.draws.fetch_add(1, Ordering::SeqCst);
        if self.hangs.load(Ordering::SeqCst) > 0 {
            return std::future::pending().await;
        }
        let _worker = self.workers.acquire().await.expect("never closed");
        let length = self.length.load(Ordering::SeqCst);
        let part = turn.wrapping_mul(2_654_435_761) % 1_000;
        sleep(Duration::from_micros(length * 3 / 4 + length * part / 2_000)).await;
    }
}

/// What came of a load.
struct Load {
    /// Which share of the calls ended well.
    well: f64,
    /// How many ended well in a second.
    answered: f64,
    /// The slots that were there for most of the time; at one moment an experiment may be under way.
    slots: u32,
}

/// So many calls a second for so long, evenly spaced.
async fn load<F>(name: &'static str, a_second: impl Into<f64>, length: Duration, call: impl Fn() -> F) -> Load
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let start = Instant::now();
    let gap = Duration::from_secs(1).div_f64(a_second.into());
    let mut calls = JoinSet::new();
    let mut at = start;
    let watch = tokio::spawn(async move {
        let mut seen = Vec::new();
        while Instant::now() < start + length {
            sleep(ms(100)).await;
            seen.push(bulkhead(name).slots);
        }
        // The second half: it has settled by then.
        let half = seen.len() / 2;
        seen[half..].sort_unstable();
        seen[half + half / 2]
    });
    while at < start + length {
        sleep_until(at).await;
        let call = call();
        calls.spawn(async move { call.await.is_ok() });
        at += gap;
    }
    let asked = calls.len() as f64;
    let well = calls.join_all().await.into_iter().filter(|well| *well).count() as f64;
    let slots = watch.await.expect("no panic");
    let (well, answered) = (well / asked, well / length.as_secs_f64());
    println!("  {name}: {slots} slots, {answered:.1} answers a second, {:.2} % ended well", well * 100.0);
    Load { well, answered, slots }
}

static STEADY: Dependency = Dependency::new(8, 50);

#[resilient(timeout = "1s", bulkhead = "auto_steady:auto/queue:16")]
async fn auto_steady() -> Result<(), Error> {
    STEADY.answer().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn slots_settle_where_the_dependency_is_busy_and_hardly_queues() {
    // Eight workers of 50 ms answer 160 a second; twice that is asked.
    load("auto_steady", 320, ms(10_000), auto_steady).await;
    let Load { answered, slots, .. } = load("auto_steady", 320, ms(20_000), auto_steady).await;
    let took = site("auto_steady").latency.percentile(50.0).expect("answered");
    println!("  median {took:?}");
    assert!((8..=13).contains(&slots), "{slots}");
    assert!(answered > 0.95 * 160.0, "{answered}");
    assert!(took < ms(85), "{took:?}");
    assert_idle("auto_steady");
}

static AMPLE: Dependency = Dependency::new(1_000, 50);

#[resilient(timeout = "1s", bulkhead = "auto_ample:auto/queue:16")]
async fn auto_ample() -> Result<(), Error> {
    AMPLE.answer().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn slots_grow_as_far_as_they_are_used() {
    // A thousand a second of 50 ms each keep fifty busy.
    load("auto_ample", 1_000, ms(8_000), auto_ample).await;
    let Load { well, slots, .. } = load("auto_ample", 1_000, ms(8_000), auto_ample).await;
    assert!(well > 0.99, "{well}");
    assert!((50..=80).contains(&slots), "{slots}");
    assert_idle("auto_ample");
}

static SLOWED: Dependency = Dependency::new(1_000, 40);

#[resilient(timeout = "1s", bulkhead = "auto_slowed:auto/queue:64")]
async fn auto_slowed() -> Result<(), Error> {
    SLOWED.answer().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_is_slower_by_itself_gets_the_slots_that_takes() {
    let before = load("auto_slowed", 500, ms(10_000), auto_slowed).await.slots;
    SLOWED.length.store(120_000, Ordering::SeqCst);
    // Three times as slow and as parallel as ever: the same load needs three times the slots, sixty.
    load("auto_slowed", 500, ms(10_000), auto_slowed).await;
    let Load { well, slots: after, .. } = load("auto_slowed", 500, ms(20_000), auto_slowed).await;
    assert!((20..=40).contains(&before), "{before}");
    assert!(after >= 60, "{after}");
    assert!(well > 0.97, "{well}");
}

static HALVED: Dependency = Dependency::new(24, 50);

#[resilient(timeout = "1s", bulkhead = "auto_halved:auto/queue:16")]
async fn auto_halved() -> Result<(), Error> {
    HALVED.answer().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_loses_workers_loses_slots() {
    let before = load("auto_halved", 600, ms(10_000), auto_halved).await.slots;
    // Others use three quarters of it from now on.
    let taken = HALVED.workers.acquire_many(18).await.expect("never closed");
    let after = load("auto_halved", 600, ms(10_000), auto_halved).await.slots;
    drop(taken);
    let Load { answered, slots: again, .. } = load("auto_halved", 600, ms(10_000), auto_halved).await;
    assert!((20..=36).contains(&before), "{before}");
    assert!((4..=11).contains(&after), "{after}");
    assert!((20..=36).contains(&again), "{again}");
    assert!(answered > 0.8 * 480.0, "{answered}");
}

static HUNG: Dependency = Dependency::new(32, 50);

#[resilient(timeout = "300ms", bulkhead = "auto_hung:auto/floor:2/ceiling:64/queue:16")]
async fn auto_hung() -> Result<(), Error> {
    HUNG.answer().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_dependency_that_hangs_is_asked_by_as_few_as_the_floor_allows() {
    let before = load("auto_hung", 500, ms(10_000), auto_hung).await.slots;
    HUNG.hangs.store(1, Ordering::SeqCst);
    let hung = load("auto_hung", 500, ms(30_000), auto_hung).await.slots;
    HUNG.hangs.store(0, Ordering::SeqCst);
    load("auto_hung", 500, ms(20_000), auto_hung).await;
    let Load { well, slots: after, .. } = load("auto_hung", 500, ms(10_000), auto_hung).await;
    assert!(before >= 25, "{before}");
    assert_eq!(hung, 2, "the floor");
    assert!(after >= 25, "{after}");
    assert!(well > 0.97, "{well}");
}

macro_rules! collapse {
    ($($test:ident, $function:ident, $dependency:ident, $name:tt, $declared:tt, $key:ident, $body:tt);* $(;)?) => {
        $(static $dependency: Dependency = Dependency::new(8, $body);

        #[resilient($key = "300ms", bulkhead = $declared)]
        async fn $function() -> Result<(), Error> {
            $dependency.answer().await;
            Ok(())
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let capacity = 8_000.0 / f64::from($body);
            let offered = capacity * 1.5;
            load($name, offered, ms(5_000), $function).await;
            let Load { answered, .. } = load($name, offered, ms(20_000), $function).await;
            let share = answered / capacity;
            println!("  {} ms: {:.1} % of the capacity", $body, share * 100.0);
            // 0.89 to 0.99 as measured; less, since the doomed that are let in as probes are drawn by lot.
            assert!(share > 0.84, "{share}");
            assert_idle(stringify!($function));
        })*
    };
}

// What the bulkhead of fixed slots is held to in case B20, for slots that nobody has written down.
collapse! {
    eight_workers_of_60_ms_are_found_and_used_under_a_timeout, auto_t60, T60, "auto_t60", "auto_t60:auto/queue:16", timeout, 60;
    eight_workers_of_150_ms_are_found_and_used_under_a_timeout, auto_t150, T150, "auto_t150", "auto_t150:auto/queue:16", timeout, 150;
    eight_workers_of_60_ms_are_found_and_used_under_a_deadline, auto_d60, D60, "auto_d60", "auto_d60:auto/queue:16", deadline, 60;
    eight_workers_of_100_ms_are_found_and_used_under_a_deadline, auto_d100, D100, "auto_d100", "auto_d100:auto/queue:16", deadline, 100;
    eight_workers_of_150_ms_are_found_and_used_under_a_deadline, auto_d150, D150, "auto_d150", "auto_d150:auto/queue:16", deadline, 150;
    eight_workers_of_200_ms_are_found_and_used_under_a_timeout, auto_t200, T200, "auto_t200", "auto_t200:auto/queue:16", timeout, 200;
}

#[tokio::test(start_paused = true)]
async fn a_bulkhead_that_was_joined_first_follows_what_is_measured_once_that_is_declared() {
    let early =
        Guard::named("auto-early").bulkhead(guard::Bulkhead::join("auto_late")).timeout(ms(50)).build().unwrap();
    let stand_in = bulkhead("auto_late").slots;
    let declared = guard::Bulkhead::auto("auto_late").floor(2).ceiling(16);
    Guard::named("auto-late").bulkhead(declared).timeout(ms(50)).build().unwrap();
    let first = bulkhead("auto_late").slots;
    assert!((2..=16).contains(&first), "{first}, which was {stand_in}");
    // Those who joined first teach it, too.
    for _ in 0..200 {
        let calls = (0..bulkhead("auto_late").slots).map(|_| early.run(std::future::pending::<Result<(), Error>>));
        join_all(calls).await;
    }
    assert_eq!(bulkhead("auto_late").slots, 2, "a dependency that hangs is asked by as few as the floor allows");
    assert_idle("auto-early");
}
