//! `fallback`: what to answer when all of this failed.

// The forms are what is tested: by value, wrapped, and with nothing to it.
#![allow(clippy::needless_pass_by_value, clippy::unnecessary_wraps)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::poll;
use tokio::time::sleep;
use watertight::{Error, ErrorKind, Failure, FallbackUse, Fate, Refusal, resilient};
use watertight_tests::{AppError, Gate, assert_free, caught, ms, occupancy, panic_quietly, site};

const DOWN: AppError = AppError::Broken("down");

/// What a fallback saw, as a number that its answer can carry.
fn sight(why: &Failure<AppError>) -> u32 {
    match (why.refusal(), why.error()) {
        (Some(refusal), None) if refusal.kind() == ErrorKind::TimedOut => 100,
        (None, Some(AppError::Broken("down"))) => 200,
        _ => 300,
    }
}

/// The same for one that takes the function's own error type.
fn sight_of_error(why: &AppError) -> u32 {
    match why {
        AppError::Refused(error) if error.kind() == ErrorKind::TimedOut => 100,
        AppError::Broken("down") => 200,
        _ => 300,
    }
}

/// One guarded function per form of fallback; each either times out or errs, and answers what it was told.
macro_rules! forms {
    ($($test:ident: $function:ident, $fallback:expr, timed_out: $timed_out:expr, failed: $failed:expr;)*) => {
        $(#[resilient(timeout = "50ms", fallback = $fallback)]
        async fn $function(hangs: bool) -> Result<u32, AppError> {
            if hangs {
                std::future::pending::<()>().await;
            }
            Err(DOWN)
        }

        #[tokio::test(start_paused = true)]
        async fn $test() {
            let (timed_out, failed): (Result<u32, &str>, Result<u32, &str>) = ($timed_out, $failed);
            let said = |answer: Result<u32, AppError>| answer.map_err(|error| error.broken().expect("its own"));
            assert_eq!(said($function(true).await), timed_out);
            assert_eq!(said($function(false).await), failed);
            let figures = site(stringify!($function));
            assert_eq!((figures.timed_out, figures.error), (1, 1), "the fate is what it was");
            let used = u64::from(timed_out.is_ok()) + u64::from(failed.is_ok());
            assert_eq!((figures.fallback_used, figures.fallback_failed), (used, 2 - used));
        })*
    };
}

fn value() -> u32 {
    1
}
fn whole() -> Result<u32, AppError> {
    Ok(2)
}
fn whole_error() -> Result<u32, AppError> {
    Err(AppError::Broken("nor I"))
}
fn value_of_failure(why: Failure<AppError>) -> u32 {
    sight(&why) + 3
}
fn whole_of_failure(why: Failure<AppError>) -> Result<u32, AppError> {
    Ok(sight(&why) + 4)
}
fn value_of_error(why: AppError) -> u32 {
    sight_of_error(&why) + 5
}
fn whole_of_error(why: AppError) -> Result<u32, AppError> {
    Ok(sight_of_error(&why) + 6)
}
async fn later_value() -> u32 {
    sleep(ms(10)).await;
    7
}
async fn later_whole() -> Result<u32, AppError> {
    sleep(ms(10)).await;
    Ok(8)
}
async fn later_value_of_failure(why: Failure<AppError>) -> u32 {
    sleep(ms(10)).await;
    sight(&why) + 9
}
async fn later_whole_of_failure(why: Failure<AppError>) -> Result<u32, AppError> {
    sleep(ms(10)).await;
    Ok(sight(&why) + 10)
}
async fn later_value_of_error(why: AppError) -> u32 {
    sleep(ms(10)).await;
    sight_of_error(&why) + 11
}
async fn later_whole_of_error(why: AppError) -> Result<u32, AppError> {
    sleep(ms(10)).await;
    Err(why.broken().map_or(AppError::Broken("hung"), AppError::Broken))
}

forms! {
    it_may_give_the_value: form_value, value, timed_out: Ok(1), failed: Ok(1);
    it_may_give_the_whole_result: form_whole, whole, timed_out: Ok(2), failed: Ok(2);
    it_may_fail_itself: form_whole_error, whole_error, timed_out: Err("nor I"), failed: Err("nor I");
    it_may_take_the_failure: form_value_of_failure, value_of_failure, timed_out: Ok(103), failed: Ok(203);
    it_may_take_the_failure_and_give_the_whole:
        form_whole_of_failure, whole_of_failure, timed_out: Ok(104), failed: Ok(204);
    it_may_take_the_error: form_value_of_error, value_of_error, timed_out: Ok(105), failed: Ok(205);
    it_may_take_the_error_and_give_the_whole:
        form_whole_of_error, whole_of_error, timed_out: Ok(106), failed: Ok(206);
    it_may_be_async: form_later_value, later_value, timed_out: Ok(7), failed: Ok(7);
    it_may_be_async_and_give_the_whole: form_later_whole, later_whole, timed_out: Ok(8), failed: Ok(8);
    it_may_be_async_and_take_the_failure:
        form_later_value_of_failure, later_value_of_failure, timed_out: Ok(109), failed: Ok(209);
    it_may_be_async_take_the_failure_and_give_the_whole:
        form_later_whole_of_failure, later_whole_of_failure, timed_out: Ok(110), failed: Ok(210);
    it_may_be_async_and_take_the_error:
        form_later_value_of_error, later_value_of_error, timed_out: Ok(111), failed: Ok(211);
    it_may_be_async_take_the_error_and_give_the_whole:
        form_later_whole_of_error, later_whole_of_error, timed_out: Err("hung"), failed: Err("down");
    it_may_be_a_closure: form_closure, || 12, timed_out: Ok(12), failed: Ok(12);
    it_may_be_a_closure_that_takes_the_failure:
        form_closure_of_failure, |why| sight(&why) + 13, timed_out: Ok(113), failed: Ok(213);
    it_may_be_a_closure_that_ignores_the_failure: form_closure_ignoring, |_| 14, timed_out: Ok(14), failed: Ok(14);
    it_may_be_a_closure_that_gives_the_whole:
        form_closure_whole, |why| Ok::<u32, AppError>(sight(&why) + 15), timed_out: Ok(115), failed: Ok(215);
    it_may_be_a_closure_that_gives_a_future:
        form_closure_later, || async { 16 }, timed_out: Ok(16), failed: Ok(16);
    it_may_be_an_async_closure_that_takes_the_failure:
        form_async_closure, async |why| sight(&why) + 17, timed_out: Ok(117), failed: Ok(217);
    it_may_be_a_path_into_another_module: form_path, elsewhere::value, timed_out: Ok(18), failed: Ok(18);
    it_may_be_an_associated_function: form_associated, u32::default, timed_out: Ok(0), failed: Ok(0);
}

mod elsewhere {
    pub(super) fn value() -> u32 {
        18
    }
}

// Functions that cannot carry an error.

fn zero() -> u32 {
    0
}
fn why_as_number(why: Error) -> u32 {
    u32::from(why.kind() == ErrorKind::TimedOut)
}
fn failure_as_number(why: Failure<Error>) -> u32 {
    2 * u32::from(why.refusal().is_some_and(|error| error.kind() == ErrorKind::TimedOut))
}
async fn later_three(_: Failure<Error>) -> u32 {
    sleep(ms(10)).await;
    3
}

macro_rules! plain {
    ($($function:ident $fallback:expr => $expected:expr;)*) => {
        $(#[resilient(timeout = "50ms", fallback = $fallback)]
        async fn $function(hangs: bool) -> u32 {
            if hangs {
                std::future::pending::<()>().await;
            }
            99
        })*

        #[tokio::test(start_paused = true)]
        async fn a_function_that_returns_a_plain_value_answers_with_one() {
            $({
                assert_eq!($function(false).await, 99);
                assert_eq!($function(true).await, $expected, stringify!($function));
                let figures = site(stringify!($function));
                assert_eq!((figures.ok, figures.fate_with(Fate::TimedOut, FallbackUse::Used)), (1, 1));
            })*
        }
    };
}

plain! {
    plain_path zero => 0;
    plain_error why_as_number => 1;
    plain_failure failure_as_number => 2;
    plain_later later_three => 3;
    plain_closure || 4 => 4;
    plain_closure_of_failure |why| if why.refusal().is_some() { 5 } else { 6 } => 5;
}

static UNITS: AtomicU32 = AtomicU32::new(0);

fn note_it() {
    UNITS.fetch_add(1, Ordering::SeqCst);
}

#[resilient(timeout = "50ms", fallback = note_it)]
async fn fallback_unit() {
    std::future::pending().await
}

#[resilient(timeout = "50ms", fallback = || ())]
async fn fallback_unit_closure() {
    std::future::pending().await
}

#[resilient(timeout = "50ms", fallback = Vec::new)]
async fn fallback_vec() -> Result<Vec<String>, Error> {
    std::future::pending().await
}

type Answer<T> = Result<T, Error>;

#[resilient(timeout = "50ms", fallback = Vec::new)]
async fn fallback_alias() -> Answer<Vec<u8>> {
    std::future::pending().await
}

#[resilient(timeout = "50ms", fallback = || None)]
async fn fallback_option() -> Option<u8> {
    std::future::pending().await
}

#[tokio::test(start_paused = true)]
async fn functions_that_return_nothing_a_vec_an_alias_or_an_option_can_have_one() {
    fallback_unit().await;
    assert_eq!(UNITS.load(Ordering::SeqCst), 1);
    fallback_unit_closure().await;
    assert_eq!(fallback_vec().await.unwrap(), Vec::<String>::new());
    assert_eq!(fallback_alias().await.unwrap(), Vec::<u8>::new());
    assert_eq!(fallback_option().await, None);
}

struct Shop {
    closed: u32,
}

impl Shop {
    fn nothing() -> u32 {
        21
    }

    #[resilient(timeout = "50ms", fallback = Self::nothing)]
    async fn fallback_in_impl(&self) -> Result<u32, Error> {
        std::future::pending::<()>().await;
        Ok(self.closed)
    }
}

#[tokio::test(start_paused = true)]
async fn an_associated_function_can_be_one() {
    assert_eq!(Shop { closed: 0 }.fallback_in_impl().await.unwrap(), 21);
}

// When and how often it runs.

#[resilient(bulkhead = "fallback_order:1", retry(2, backoff = "1ms..1ms", budget = off), fallback = look_around)]
async fn fallback_order(log: &Mutex<Vec<&'static str>>) -> Result<u32, AppError> {
    log.lock().unwrap().push("attempt");
    Err(DOWN)
}

/// Running and queued, the attempt, and whether there is a call around.
type Sight = ((u32, u32), u32, bool);

static SEEN: Mutex<Vec<Sight>> = Mutex::new(Vec::new());

fn look_around() -> u32 {
    SEEN.lock().unwrap().push((occupancy("fallback_order"), watertight::attempt(), watertight::call_id().is_some()));
    7
}

#[tokio::test(start_paused = true)]
async fn it_runs_once_after_everything_with_no_slot_held() {
    let log = Mutex::default();
    assert_eq!(fallback_order(&log).await.unwrap(), 7);
    assert_eq!(log.lock().unwrap().len(), 3);
    assert_eq!(*SEEN.lock().unwrap(), [((0, 0), 0, false)], "once, nothing held, outside of the call");
    assert_free!("fallback_order", 1);
}

#[resilient(bulkhead = "fallback_refused:1", fallback = |why| why.refusal().map(Error::kind))]
async fn fallback_refused(gate: &Gate) -> Option<ErrorKind> {
    gate.opened().await;
    None
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_answered_for_without_running_the_body() {
    let gate = Gate::shut();
    let mut holder = Box::pin(fallback_refused(&gate));
    assert!(poll!(&mut holder).is_pending());
    assert_eq!(fallback_refused(&gate).await, Some(ErrorKind::BulkheadFull));
    gate.open();
    assert_eq!(holder.await, None);
    let figures = site("fallback_refused");
    assert_eq!(figures.fate_with(Fate::Refused(Refusal::Full), FallbackUse::Used), 1);
    assert_eq!((figures.ok, figures.attempts()), (1, 1));
    assert_free!("fallback_refused", 1);
}

#[resilient(timeout = "1s", fallback = || 1)]
async fn fallback_no_panics() -> u32 {
    panic_quietly()
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_bug_and_surfaces() {
    caught(fallback_no_panics()).await.expect_err("not answered for");
    let figures = site("fallback_no_panics");
    assert_eq!((figures.panicked, figures.fallback_used), (1, 0));
}

static ASYNC_DROPPED: AtomicU32 = AtomicU32::new(0);

async fn slow_answer() -> u32 {
    struct Dropped;
    impl Drop for Dropped {
        fn drop(&mut self) {
            ASYNC_DROPPED.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _dropped = Dropped;
    std::future::pending().await
}

#[resilient(bulkhead = "fallback_dropped:1", fallback = slow_answer)]
async fn fallback_dropped() -> Result<u32, AppError> {
    Err(DOWN)
}

#[tokio::test(start_paused = true)]
async fn a_caller_who_leaves_while_the_fallback_runs_has_cancelled() {
    let mut call = Box::pin(fallback_dropped());
    assert!(poll!(&mut call).is_pending());
    assert_eq!(occupancy("fallback_dropped"), (0, 0), "an async fallback holds no slot either");
    drop(call);
    assert_eq!(ASYNC_DROPPED.load(Ordering::SeqCst), 1);
    let figures = site("fallback_dropped");
    assert_eq!((figures.calls, figures.cancelled, figures.in_flight), (1, 1, 0));
    assert_free!("fallback_dropped", 1);
}
