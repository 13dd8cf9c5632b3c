//! What the bodies of the shapes do, and the three questions put to each.

use std::cell::Cell;
use std::fmt::Debug;
use std::future::{Future, pending};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use watertight::{Error, ErrorKind};

/// The error of the shapes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Refused(ErrorKind),
    Own,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Refused(error.kind())
    }
}

pub(crate) type Outcome<T> = Result<T, Trouble>;

thread_local! {
    static HANGS: Cell<bool> = const { Cell::new(false) };
    static FAILS: Cell<u32> = const { Cell::new(0) };
}

/// What every body waits for: an answer, an error, or nothing that ever comes.
pub(crate) async fn step() -> Outcome<()> {
    if HANGS.get() {
        return pending().await;
    }
    tokio::task::yield_now().await;
    if FAILS.get() > 0 {
        FAILS.set(FAILS.get() - 1);
        return Err(Trouble::Own);
    }
    Ok(())
}

/// Makes [`step`] hang while `work` runs.
pub(crate) async fn hanging<T>(work: impl Future<Output = T>) -> T {
    HANGS.set(true);
    let done = work.await;
    HANGS.set(false);
    done
}

/// Makes [`step`] fail the first so many times while `work` runs.
pub(crate) async fn failing<T>(times: u32, work: impl Future<Output = T>) -> T {
    FAILS.set(times);
    let done = work.await;
    assert_eq!(FAILS.replace(0), 0, "not all of the failures were met");
    done
}

/// The call is cut off at 20 ms sharp.
pub(crate) async fn cut_off<T: Debug>(call: impl Future<Output = T>) -> T {
    let begun = Instant::now();
    let ended = hanging(timeout(Duration::from_secs(9), call)).await.expect("cut off by its own timeout");
    let took = begun.elapsed();
    assert!(took >= Duration::from_millis(20) && took < Duration::from_millis(23), "{took:?}");
    ended
}

/// The call hangs for good, as the bare function must.
pub(crate) async fn goes_on<T: Debug>(call: impl Future<Output = T>) {
    let ended = hanging(timeout(Duration::from_secs(9), call)).await;
    assert!(ended.is_err(), "it ended: {ended:?}");
}

/// A future that a runtime with threads takes.
pub(crate) fn sendable<F: Future + Send>(call: F) -> F {
    call
}

/// Puts the three questions to a shape that three modules hold.
macro_rules! same {
    ($bare:ident, $once:ident, $again:ident: $($call:tt)+) => {{
        use crate::support::{Outcome, Trouble, cut_off, failing, goes_on, sendable};
        use watertight::ErrorKind;
        let answer: Outcome<_> = { use $bare as shape; sendable(shape::$($call)+).await };
        assert!(answer.is_ok(), "bare: {answer:?}");
        { use $once as shape; assert_eq!(sendable(shape::$($call)+).await, answer, "once"); }
        { use $again as shape; assert_eq!(sendable(shape::$($call)+).await, answer, "again"); }
        { use $bare as shape; goes_on(shape::$($call)+).await; }
        { use $once as shape; assert_eq!(cut_off(shape::$($call)+).await, Err(Trouble::Refused(ErrorKind::TimedOut)), "once"); }
        { use $again as shape; assert_eq!(cut_off(shape::$($call)+).await, Err(Trouble::Refused(ErrorKind::TimedOut)), "again"); }
        { use $bare as shape; assert_eq!(failing(1, shape::$($call)+).await, Err(Trouble::Own), "bare"); }
        { use $once as shape; assert_eq!(failing(1, shape::$($call)+).await, Err(Trouble::Own), "once"); }
        { use $again as shape; assert_eq!(failing(2, shape::$($call)+).await, answer, "again"); }
    }};
}

/// Makes a group of shapes three times: as they are, guarded, and guarded with two retries.
macro_rules! thrice {
    ($group:ident) => {
        $group!(bare, allow(clippy::unused_async));
        $group!(once, watertight::resilient(timeout = "20ms"));
        $group!(
            again,
            watertight::resilient(
                timeout = "20ms",
                retry(2, backoff = "1ms..2ms", budget = off),
                breaker,
                bulkhead = "shapes:64"
            )
        );
    };
}

pub(crate) use {same, thrice};
