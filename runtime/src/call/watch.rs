//! Who looks at the steps of calls while they happen: recordings, and tests that wait for something.
//!
//! A test that wants to act "once eight calls are running" cannot sleep for that: the length would be a guess, and under a
//! paused clock every sleep moves the clock past what it waits for. Nor can it ask again and again, since a task that is
//! never idle keeps a paused clock from moving at all. So it is woken by the steps themselves ([`until`]): the clock moves
//! exactly as far as the calls need it to, and stands where it stood when the condition became true.
//!
//! Invariants: watching changes nothing about a call; a condition that is true after a step is not missed.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use tokio::sync::Notify;

use super::event::Event;

/// How many wait for the next step, of whatever call.
static WAITING: AtomicUsize = AtomicUsize::new(0);
static STEP: Notify = Notify::const_new();

thread_local! {
    static TRACE: RefCell<Option<Vec<Event>>> = const { RefCell::new(None) };
}

/// A step was taken, and what it changed has been counted.
pub(super) fn see(event: Event) {
    TRACE.with_borrow_mut(|trace| {
        if let Some(trace) = trace {
            trace.push(event);
        }
    });
    // Figures are written without ordering. Either whoever waits sees what was counted before this fence, or this sees
    // that somebody waits.
    fence(Ordering::SeqCst);
    if WAITING.load(Ordering::Relaxed) > 0 {
        STEP.notify_waiters();
    }
}

/// Puts a list in place to be noted in, or takes it away, and returns the one that was there.
pub(crate) fn swap_trace(trace: Option<Vec<Event>>) -> Option<Vec<Event>> {
    TRACE.replace(trace)
}

/// Waits until `is_so`, asking again after each step of any call.
pub(crate) async fn until(mut is_so: impl FnMut() -> bool) {
    struct Waits;

    impl Drop for Waits {
        fn drop(&mut self) {
            WAITING.fetch_sub(1, Ordering::Relaxed);
        }
    }

    WAITING.fetch_add(1, Ordering::Relaxed);
    let _waits = Waits;
    loop {
        let mut step = pin!(STEP.notified());
        step.as_mut().enable();
        fence(Ordering::SeqCst);
        if is_so() {
            return;
        }
        step.await;
    }
}
