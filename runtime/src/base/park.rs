//! Threads that wait: for a wake-up, or for a moment.
//!
//! A thread that runs a future of its own needs a waker that wakes *it*. `std::thread::park` would do and must not be
//! used: its token belongs to the thread, so user code that parks as well (any channel may) would swallow the wake-up
//! of the future around it. A flag under a lock and a condition variable belong to one waiter each, and the condition
//! variable says whether it was called or the time was up, which `park_timeout` does not.
//!
//! **Alarms.** A call of a plain function waits on a thread that may know no runtime, so tokio's timer is out of reach
//! where it is needed most. [`wait`] brings a clock of its own: what is polled in it asks for an [`alarm`], and the
//! thread sleeps no longer than until the earliest. A runtime of our own for its timer alone was the other way. It costs
//! no less (`docs/performance.md`), and it would panic on every thread that drives tasks, where waiting is only unwise.
//! The alarm goes by the machine's time as well: a paused clock belongs to a runtime, and a thread that blocks is in
//! nobody's poll, so nobody would ever move the clock for it.
//!
//! Invariants: a wake-up given before the thread sleeps is not lost; no lock is held while anything is polled; an alarm
//! rings once the runtime's clock or the machine's has come to its moment, and not before.

use std::cell::Cell;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tokio::task::unconstrained;

use super::clock::Moment;

/// Where one thread sleeps until it is woken.
#[derive(Debug, Default)]
pub(crate) struct Parker {
    woken: Mutex<bool>,
    bell: Condvar,
}

impl Parker {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the thread that sleeps here, or spares the next one that would; `along` happens under the lock.
    pub(crate) fn ring(&self, along: impl FnOnce()) {
        let mut woken = self.lock();
        along();
        *woken = true;
        drop(woken);
        self.bell.notify_one();
    }

    /// Sleeps until woken, or for `most`. False when the time was up. `before` happens under the lock, and only if there
    /// is something to sleep for.
    pub(crate) fn sleep(&self, most: Option<Duration>, before: impl FnOnce()) -> bool {
        let mut woken = self.lock();
        if !*woken {
            before();
            woken = match most {
                None => self.bell.wait_while(woken, |woken| !*woken).unwrap_or_else(PoisonError::into_inner),
                Some(most) => {
                    let waited = self.bell.wait_timeout_while(woken, most, |woken| !*woken);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        std::mem::take(&mut *woken)
    }
}

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.ring(|| ());
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring(|| ());
    }
}

/// What the future that is polled in [`wait`] has asked for, and the latest alarm that has rung.
#[derive(Clone, Copy)]
struct Alarm {
    wanted: Moment,
    rang: Moment,
}

thread_local! {
    static ALARM: Cell<Alarm> = const { Cell::new(Alarm { wanted: Moment::NEVER, rang: Moment::LONG_AGO }) };
}

/// Ready at a moment, for what is polled in [`wait`] on this thread.
pub(crate) fn alarm(at: Moment) -> Poll<()> {
    let alarm = ALARM.get();
    if at <= alarm.rang || at <= Moment::now() {
        return Poll::Ready(());
    }
    ALARM.set(Alarm { wanted: alarm.wanted.min(at), ..alarm });
    Poll::Pending
}

/// Puts the alarm of a wait around this one back, whatever happens in the poll.
struct Restore(Alarm);

impl Drop for Restore {
    fn drop(&mut self) {
        ALARM.set(self.0);
    }
}

/// Runs a future on this thread, which sleeps while the future has nothing to do.
pub fn wait<F: Future>(future: F) -> F::Output {
    let parker = Arc::new(Parker::default());
    let waker = Waker::from(Arc::clone(&parker));
    // Unconstrained: where this thread drives a task, that task's budget is not ours, and once spent it stays spent.
    let mut future = pin!(unconstrained(future));
    let mut rang = Moment::LONG_AGO;
    loop {
        let wanted = {
            let _outer = Restore(ALARM.replace(Alarm { wanted: Moment::NEVER, rang }));
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            ALARM.get().wanted
        };
        let most = (wanted != Moment::NEVER).then(|| Duration::from_nanos(wanted.since(Moment::now())));
        if !parker.sleep(most, || ()) {
            rang = wanted;
        }
    }
}

#[cfg(all(test, not(watertight_loom)))]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[test]
    fn a_wake_up_before_the_sleep_is_not_lost() {
        let parker = Arc::new(Parker::default());
        Waker::from(Arc::clone(&parker)).wake();
        assert!(parker.sleep(None, || unreachable!("there is nothing to sleep for")));
        assert!(!parker.sleep(Some(Duration::from_millis(1)), || ()), "and it serves once");
    }

    #[test]
    fn an_alarm_rings_without_a_runtime_and_not_early() {
        let begun = Moment::now();
        let at = begun.plus(5_000_000);
        wait(poll_fn(|_| alarm(at)));
        assert!(Moment::now() >= at);
    }

    #[test]
    fn the_earlier_of_two_alarms_is_slept_for_and_the_other_stays() {
        let begun = Moment::now();
        let (soon, late) = (begun.plus(2_000_000), begun.plus(3_600_000_000_000));
        let polled = wait(poll_fn(|_| match (alarm(late), alarm(soon)) {
            (late, Poll::Ready(())) => Poll::Ready(late),
            _ => Poll::Pending,
        }));
        assert!(polled.is_pending());
    }

    #[test]
    fn waits_inside_of_waits_keep_their_alarms_apart() {
        let begun = Moment::now();
        let (inner, outer) = (begun.plus(2_000_000), begun.plus(6_000_000));
        let mut nested = false;
        wait(poll_fn(|_| {
            let polled = alarm(outer);
            if !std::mem::replace(&mut nested, true) {
                wait(poll_fn(|_| alarm(inner)));
            }
            polled
        }));
        assert!(Moment::now() >= outer);
    }

    #[test]
    fn a_paused_clock_holds_no_thread_for_ever() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.expect("a runtime");
        let _inside = runtime.enter();
        let at = Moment::now().plus(2_000_000);
        wait(poll_fn(|_| alarm(at)));
        assert!(Moment::now() < at, "the clock stood still, the machine's did not");
    }
}
