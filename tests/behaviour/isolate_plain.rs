//! `isolate` on plain functions: the caller's thread waits, bounded, with or without a runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::time::Instant;
use watertight::{ErrorKind, Failure, WaitFate, deadline, resilient};
use watertight_tests::threads::{Jam, isolate, taken, until};
use watertight_tests::{AppError, ms, panic_quietly, site};

fn thread() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

/// A plain function, its arguments patterns and all.
#[resilient(isolate = "plain-where:2")]
fn report(id: u32, mut name: String, (left, _): (u8, u8)) -> Result<(String, String), AppError> {
    if id == 0 {
        return Err(AppError::Broken("no such report"));
    }
    name.push_str(&left.to_string());
    let parsed: u32 = "7".parse().map_err(|_| AppError::Broken("no number"))?;
    Ok((format!("{name}{id}{parsed}"), thread()))
}

#[test]
fn its_signature_is_unchanged_and_its_body_runs_on_a_thread_of_its_own_without_any_runtime() {
    let as_pointer: fn(_, _, _) -> Result<_, AppError> = report;
    let (text, on): (String, String) = as_pointer(3, "r".to_owned(), (1, 2)).expect("free");
    assert_eq!((text.as_str(), on.as_str()), ("r137", "plain-where-1"));
    assert_eq!(report(0, String::new(), (0, 0)).unwrap_err().broken(), Some("no such report"));
    let figures = site("report");
    assert_eq!((figures.ok, figures.error, figures.in_flight), (1, 1, 0));
}

#[resilient(isolate = "plain-blocks:1/queue:1/wait:600ms", timeout = "100ms")]
fn blocks_plainly(jam: Arc<Jam>) -> Result<(), AppError> {
    jam.block();
    Ok(())
}

#[test]
fn the_caller_gets_its_timeout_and_the_thread_stays_taken() {
    let jam = Arc::<Jam>::default();
    let begun = Instant::now();
    assert_eq!(blocks_plainly(Arc::clone(&jam)).unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert!(begun.elapsed() >= ms(100) && begun.elapsed() < ms(5_000));
    assert_eq!(taken("plain-blocks"), (1, 1, 0));
    let begun = Instant::now();
    assert_eq!(blocks_plainly(Arc::clone(&jam)).unwrap_err().kind(), Some(ErrorKind::IsolateWait));
    assert!(begun.elapsed() >= ms(600), "it waited in the queue");
    assert_eq!(blocks_plainly(Arc::clone(&jam)).unwrap_err().kind(), Some(ErrorKind::IsolateFull), "lost by now");
    jam.clear();
    until(|| taken("plain-blocks") == (0, 0, 0));
    assert_eq!(isolate("plain-blocks").overran.count(), 1);
    blocks_plainly(jam).expect("back");
}

#[test]
fn whoever_waits_for_a_thread_gets_it_in_turn() {
    #[resilient(isolate = "plain-turns:1/queue:1/wait:10s", timeout = "10s")]
    fn takes_turns(jam: Arc<Jam>) -> Result<(), AppError> {
        jam.block();
        Ok(())
    }
    let jam = Arc::<Jam>::default();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| takes_turns(Arc::clone(&jam)));
        jam.holds(1);
        let second = scope.spawn(|| takes_turns(Arc::clone(&jam)));
        until(|| taken("plain-turns") == (1, 0, 1));
        jam.clear();
        first.join().expect("no panic").and(second.join().expect("no panic")).expect("both");
    });
    assert_eq!(site("takes_turns").waits(WaitFate::Ran).count(), 1);
}

#[test]
fn retries_pause_the_thread_and_give_each_attempt_its_own() {
    #[resilient(isolate = "plain-retry:1", retry(2, backoff = "5ms..5ms"))]
    fn third_time_lucky(mut seen: Vec<u32>, tries: Arc<AtomicU32>) -> Result<Vec<u32>, AppError> {
        tries.fetch_add(1, Ordering::SeqCst);
        seen.push(watertight::attempt());
        if watertight::attempt() < 2 { Err(AppError::Broken("not yet")) } else { Ok(seen) }
    }
    let tries = Arc::<AtomicU32>::default();
    assert_eq!(third_time_lucky(vec![9], Arc::clone(&tries)).expect("the third"), [9, 2]);
    assert_eq!((tries.load(Ordering::SeqCst), site("third_time_lucky").retries), (3, 2));
}

#[allow(clippy::needless_pass_by_value)] // a fallback is given the failure
fn stale(why: Failure<AppError>) -> u32 {
    if why.refusal().is_some() { 1 } else { 2 }
}

#[test]
fn a_fallback_answers_with_or_without_the_arguments() {
    #[resilient(isolate = "plain-fallback:1", timeout = "5ms", fallback = stale)]
    fn late(jam: Arc<Jam>) -> Result<u32, AppError> {
        jam.block();
        Ok(0)
    }
    #[resilient(isolate = "plain-fallback-named:1", timeout = "5ms", fallback = || format!("stale {user}"))]
    fn late_for(user: String, jam: Arc<Jam>) -> String {
        jam.block();
        user
    }
    let jam = Arc::<Jam>::default();
    assert_eq!(late(Arc::clone(&jam)).expect("stale"), 1);
    assert_eq!(late_for("ada".to_owned(), Arc::clone(&jam)), "stale ada");
    jam.clear();
}

#[test]
fn a_deadline_bounds_it_without_a_runtime() {
    #[resilient(isolate = "plain-deadline:1", deadline = "50ms")]
    fn bounded(jam: Arc<Jam>) -> Result<(), AppError> {
        assert!(deadline::remaining().is_some());
        jam.block();
        Ok(())
    }
    let (jam, begun) = (Arc::<Jam>::default(), Instant::now());
    assert_eq!(bounded(Arc::clone(&jam)).unwrap_err().kind(), Some(ErrorKind::Deadline));
    assert!(begun.elapsed() >= ms(50) && begun.elapsed() < ms(5_000));
    jam.clear();
}

#[test]
fn no_pause_is_begun_that_could_not_end_before_the_deadline() {
    #[resilient(isolate = "plain-pause:1", deadline = "1h", retry(1, backoff(constant, first = "2h", jitter = none)))]
    fn pauses_too_long() -> Result<(), AppError> {
        Err(AppError::Broken("always"))
    }
    assert_eq!(pauses_too_long().unwrap_err().broken(), Some("always"));
    assert_eq!(site("pauses_too_long").retries, 0);
}

#[test]
fn a_breaker_stops_asking() {
    #[resilient(isolate = "plain-breaker:1", breaker(window = 2, failures = "100%", cooldown = "1h"))]
    fn broken() -> Result<(), AppError> {
        Err(AppError::Broken("down"))
    }
    let kinds: Vec<_> = (0..3).map(|_| broken().unwrap_err().kind()).collect();
    assert_eq!(kinds, [None, None, Some(ErrorKind::BreakerOpen)]);
}

#[test]
fn a_panic_surfaces_on_the_callers_thread() {
    #[resilient(isolate = "plain-panics:1", timeout = "5s")]
    fn panics_plainly() -> Result<(), AppError> {
        panic_quietly()
    }
    let caught = std::panic::catch_unwind(panics_plainly);
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"the body's own panic"));
    assert_eq!((site("panics_plainly").panicked, taken("plain-panics")), (1, (0, 0, 0)));
}

#[test]
fn a_call_back_into_the_same_compartment_runs_in_place() {
    #[resilient(isolate = "plain-nested:1", timeout = "5s")]
    fn outer_plain(depth: u32) -> Result<Vec<String>, AppError> {
        let mut threads = vec![thread()];
        if depth > 0 {
            threads.extend(outer_plain(depth - 1)?);
        }
        Ok(threads)
    }
    assert_eq!(outer_plain(3).expect("no waiting for itself"), vec!["plain-nested-1"; 4]);
    assert_eq!((site("outer_plain").lent, taken("plain-nested")), (3, (0, 0, 0)));
}

#[test]
fn from_a_blocking_task_its_body_has_the_runtime_and_may_block_on_it() {
    #[resilient(isolate = "plain-runtime:1", timeout = "5s")]
    fn blocks_on_its_runtime() -> Result<u32, AppError> {
        Ok(tokio::runtime::Handle::current().block_on(async {
            tokio::time::sleep(ms(1)).await;
            4
        }))
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let answer = runtime.block_on(async { tokio::task::spawn_blocking(blocks_on_its_runtime).await });
    assert_eq!(answer.expect("no panic").expect("free"), 4);
}

#[tokio::test]
async fn called_on_a_thread_that_drives_tasks_it_blocks_that_thread_but_never_beyond_its_timeout() {
    #[resilient(isolate = "plain-driver:1", timeout = "100ms")]
    fn misplaced(jam: Option<Arc<Jam>>) -> Result<u32, AppError> {
        if let Some(jam) = jam {
            jam.block();
        }
        Ok(6)
    }
    assert_eq!(misplaced(None).expect("free"), 6);
    let jam = Arc::<Jam>::default();
    let begun = Instant::now();
    assert_eq!(misplaced(Some(Arc::clone(&jam))).unwrap_err().kind(), Some(ErrorKind::TimedOut));
    assert!(begun.elapsed() < ms(5_000));
    jam.clear();
}

#[tokio::test(start_paused = true)]
async fn a_paused_clock_does_not_keep_a_thread_waiting() {
    #[resilient(isolate = "plain-paused:1", timeout = "10ms")]
    fn paused(jam: Arc<Jam>) -> Result<(), AppError> {
        jam.block();
        Ok(())
    }
    let jam = Arc::<Jam>::default();
    assert_eq!(paused(Arc::clone(&jam)).unwrap_err().kind(), Some(ErrorKind::TimedOut), "by the machine's time");
    jam.clear();
}

struct Printer(&'static str);

impl Printer {
    #[resilient(isolate = "plain-methods:1", timeout = "5s")]
    fn print(self: Arc<Self>, copies: usize) -> Result<String, AppError> {
        Ok(self.0.repeat(copies))
    }
}

trait Prints {
    fn print_once(self) -> Result<String, AppError>;
}

impl Prints for Printer {
    #[resilient(isolate = "plain-methods", timeout = "5s")]
    fn print_once(self) -> Result<String, AppError> {
        Ok(self.0.to_owned())
    }
}

#[resilient(isolate = "plain-methods")]
fn generic<T: ToString + Send + 'static>(value: T) -> Result<impl AsRef<str>, AppError> {
    Ok(value.to_string())
}

#[test]
fn methods_traits_and_generics() {
    assert_eq!(Arc::new(Printer("ab")).print(2).expect("free"), "abab");
    assert_eq!(Printer("ab").print_once().expect("free"), "ab");
    assert_eq!(generic(5).expect("free").as_ref(), "5");
}
