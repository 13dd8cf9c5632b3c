//! Threads of their own for code that blocks or spins: so many, by name, and never more.
//!
//! Every other bound of this crate ends a body by dropping its future, which takes a future that gives way. Code that
//! blocks its thread, or computes for a minute, gives way to nobody: its timeout fires on a thread that is not free to
//! see it, and while it runs it holds up every other task of the runtime. No thread can be ended from outside in any
//! safe language. What can be done is to let it have a thread on which it disturbs nobody, to let its caller go in time,
//! and to see to it that the next hundred such bodies do not find a hundred more threads to hang.
//!
//! ```text
//!   caller                                        thread "reports-1" of the compartment `reports`
//!     │  a slot, or a place in the queue, or refused
//!     │──────────── body, context, slot ─────────────▶ polls the body
//!     │  awaits its ticket                             │
//!     │◀────────────────── answer ─────────────────────┤ body dropped, slot given back, then the answer
//!     │                                                │
//!     │  times out, or is dropped: "stop"              │
//!     ├───────────────────────────────────────────────▶│ at an await: body dropped at once, slot given back
//!     ▼  goes at once                                  │ in the middle of code: ABANDONED
//!                                                      ▼ thread and slot stay taken until the code comes back
//! ```
//!
//! **The slot is the thread.** The slots are those of a bulkhead that the pipeline puts in front, with as many slots as
//! there are threads, so admission, queue and lending are the ones every other call goes through. The slot travels with
//! the body and is given back on the thread, when the body has been dropped. Where it is all taken by bodies that hang,
//! newcomers are turned away at once, and that is the purpose: a pool that grows instead (tokio's own for blocking tasks
//! grows to 512) lends every one of its threads to whatever hangs.
//!
//! **No waiting for those who do not come back.** When every thread is abandoned and none has come back for as long as a
//! caller would wait, nobody is put in the queue any more ([`Workers::is_lost`]).
//!
//! **Threads start one by one,** when one more slot is taken than there are threads. They end with the process: an idle
//! thread costs its stack's first pages, and one that has been abandoned cannot be ended anyway. A thread that the
//! system refuses to start is a refusal, not a panic.
//!
//! **Where the body's timers live.** A body is polled on our thread but inside the caller's runtime ([`job::Task::run`]),
//! so its sockets, sleeps and spawns work as if the caller had polled it. A runtime per thread was the other way; a
//! connection pool belongs to the runtime that opened its sockets and would stall in any other.
//!
//! **Calls back into the same compartment** run in place: the nested call finds that it stands on a thread of the
//! compartment, borrows the slot, and its body is polled right there ([`Here`]). Sent to another thread it would wait
//! for one, and four such calls would hang four threads. Run in place its own timeout cannot cut off code that blocks;
//! that of the call around it can.
//!
//! Invariants: no more threads are started than the compartment has; a body is polled and dropped on one thread, inside
//! its own context; its slot is free after that and not before; a panic in it ends neither the thread nor the count;
//! abandoned work is counted when it is left, and its overrun when it comes back.

mod books;
mod config;
mod decide;
mod job;
mod still;

#[cfg(all(test, watertight_loom))]
mod loom_tests;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use books::Books;
pub use config::Config;
pub(crate) use config::Limits;
pub(crate) use job::{Seat, Ticket};
use job::{Task, inside, split};

use crate::base::clock::Moment;
use crate::base::histogram::Bands;
use crate::base::sync::{AtomicU32, Ordering};
use crate::call::context::Ambient;

/// The threads of one compartment.
pub(crate) struct Workers {
    name: &'static str,
    started: AtomicU32,
    tasks: Mutex<VecDeque<Task>>,
    bell: Condvar,
    books: Books,
}

/// What is known of a compartment's threads at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// Threads that have been started.
    pub(crate) started: u32,
    /// How many of them run what nobody waits for any more.
    pub(crate) at_large: u64,
    /// How often work was abandoned.
    pub(crate) abandoned: u64,
    /// For how long abandoned work that came back had gone on.
    pub(crate) overran: Bands,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("name", &self.name).field("started", &self.started).finish_non_exhaustive()
    }
}

impl Workers {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            started: AtomicU32::new(0),
            tasks: Mutex::new(VecDeque::new()),
            bell: Condvar::new(),
            books: Books::new(),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, VecDeque<Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that there are as many threads as slots are taken; to be asked by whoever has just taken one. False
    /// when the system refuses to start a thread that is needed.
    ///
    /// Of those who hold a slot, the one that took its own last has asked with a number no smaller than there are now.
    /// So every body finds a thread that is idle or about to be.
    pub(crate) fn keep_up(&'static self, taken: u32) -> bool {
        if self.started.load(Ordering::Acquire) >= taken {
            return true;
        }
        // The lock of the tasks, so that nobody counts on a thread that could not be started.
        let tasks = self.tasks();
        let mut started = self.started.load(Ordering::Acquire);
        while started < taken {
            let thread = std::thread::Builder::new().name(format!("{}-{}", self.name, started + 1));
            if thread.spawn(|| self.serve()).is_err() {
                return false;
            }
            started += 1;
            self.started.store(started, Ordering::Release);
        }
        drop(tasks);
        true
    }

    /// One thread's life.
    fn serve(&self) {
        loop {
            let mut tasks = self.tasks();
            let task = loop {
                match tasks.pop_front() {
                    Some(task) => break task,
                    None => tasks = self.bell.wait(tasks).unwrap_or_else(PoisonError::into_inner),
                }
            };
            drop(tasks);
            task.run();
        }
    }

    /// Gives a body to a thread. The caller holds a slot and has asked [`keep_up`](Self::keep_up) to keep up with it.
    pub(crate) fn submit<F, S>(&'static self, context: Ambient, seat: S, body: F) -> Ticket<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
        S: Seat,
    {
        let (task, ticket) = split(&self.books, context, seat, body);
        self.tasks().push_back(task);
        self.bell.notify_one();
        ticket
    }

    /// Whether all of so many threads are abandoned, and have been for so long that waiting for one makes no sense.
    pub(crate) fn is_lost(&self, threads: u32, wait: u64, now: impl FnOnce() -> Moment) -> bool {
        self.books.at_large() >= u64::from(threads) && now().since(self.books.moved_at()) >= wait
    }

    /// How many threads run what nobody waits for any more.
    pub(crate) fn at_large(&self) -> u32 {
        u32::try_from(self.books.at_large()).unwrap_or(u32::MAX)
    }

    pub(crate) fn standing(&self) -> Standing {
        Standing {
            started: self.started.load(Ordering::Acquire),
            at_large: self.books.at_large(),
            abandoned: self.books.all_left(),
            overran: self.books.overran(),
        }
    }
}

/// A body that runs where it is polled, in a slot that is the caller's already.
pub(crate) struct Here<F, S: Seat> {
    body: Option<Pin<Box<F>>>,
    seat: S,
    context: Ambient,
}

impl<F: Future, S: Seat> Here<F, S> {
    pub(crate) fn new(context: Ambient, seat: S, body: F) -> Self {
        Self { body: Some(Box::pin(body)), seat, context }
    }
}

impl<F, S: Seat> Unpin for Here<F, S> {}

impl<F: Future, S: Seat> Future for Here<F, S> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { body, seat, context } = self.get_mut();
        inside(*context, seat, || body.as_mut().map_or(Poll::Pending, |body| body.as_mut().poll(cx)))
    }
}

impl<F, S: Seat> Drop for Here<F, S> {
    fn drop(&mut self) {
        let Self { body, seat, context } = self;
        inside(*context, seat, || *body = None);
    }
}
