//! Threads for a guard, in types: `isolate = "NAME:THREADS/queue:N/wait:DURATION"` of the attribute.
//!
//! What runs on a thread of its own has to own what it works with, and a guard that has threads and runs in place would block
//! the very thread it was meant to spare. So it is a type of its own, [`Isolated`], whose one way to run asks for what a
//! thread needs; a [`Guard`] never has threads.
//!
//! Invariant: what is checked here is what `macros/src/parse/isolate.rs` checks.

use std::borrow::Cow;
use std::fmt;
use std::pin::pin;
use std::time::Duration;

use super::end::finished;
use super::judge::{self, ByClass, EveryError, Judge};
use super::mistakes::Mistakes;
use super::sites::interned;
use crate::call::{Failure, Identity};
use crate::declaration::limits::{MOST_SLOTS, MOST_THREADS};
use crate::pipeline::{Call, End, Entered, attempt, enter, isolated};
use crate::site::Site;
use crate::strategies::isolate::Config;

/// How many threads there may be, how many calls may wait for one, and for how long. The threads belong to the name,
/// annotated functions included.
///
/// ```
/// use std::time::Duration;
/// use watertight::guard::Isolate;
///
/// let declared = Isolate::new("reports", 4).queue(16).wait(Duration::from_millis(100));
/// let joined = Isolate::join("reports");
/// # let _ = (declared, joined);
/// ```
#[derive(Clone, Debug)]
#[must_use = "does nothing until a guard is given it"]
pub struct Isolate {
    name: Cow<'static, str>,
    /// `None` joins.
    threads: Option<u32>,
    queue: Option<u32>,
    wait: Option<Duration>,
}

impl Isolate {
    /// Declares threads: at most so many, 1 to 1024, and nobody waits.
    pub fn new(name: impl Into<Cow<'static, str>>, threads: u32) -> Self {
        Self { name: name.into(), threads: Some(threads), queue: None, wait: None }
    }

    /// Joins threads that are declared elsewhere, by an attribute or by another guard.
    pub fn join(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), threads: None, queue: None, wait: None }
    }

    /// Lets so many callers wait, up to 998 976.
    pub fn queue(self, queue: u32) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// The longest wait for a thread. Default: the guard's timeout, else a second.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait: Some(wait), ..self }
    }

    pub(super) fn check(self, mistakes: &mut Mistakes) -> impl FnOnce() -> Config + use<> {
        let Self { name, threads, queue, wait } = self;
        mistakes.name("threads", &name);
        match threads {
            None if queue.is_some() || wait.is_some() => mistakes.add(
                format!("the threads `{name}` are joined, queue and all, and given figures of their own"),
                "leave them out, or declare the threads: `Isolate::new(name, threads)`",
            ),
            None => {}
            Some(threads) => {
                if !(1..=MOST_THREADS).contains(&u64::from(threads)) {
                    mistakes.count("threads", threads, &(1..=MOST_THREADS), "write how many threads there may be");
                }
                if wait.is_some() && queue.unwrap_or(0) == 0 {
                    mistakes.add(
                        format!("nobody waits for the threads `{name}`, which have no queue"),
                        "add `queue`, the number of callers that may wait, or leave `wait` out",
                    );
                }
            }
        }
        if let Some(queue) = queue {
            mistakes.count("queue", queue, &(0..=MOST_SLOTS - MOST_THREADS), "write how many callers may wait");
        }
        let wait = wait.map(|wait| mistakes.length("wait", wait, "a wait of nothing is no queue"));
        move || {
            let name = interned(name);
            let config = threads.map_or_else(|| Config::join(name), |threads| Config::new(name, threads));
            let config = queue.map_or(config, |queue| config.queue(queue));
            wait.map_or(config, |wait| config.wait(wait))
        }
    }
}

/// A guard whose bodies run on threads of their own, see [`Builder::build_isolated`](super::Builder::build_isolated).
///
/// It is a handle: copying it costs nothing and shares everything.
#[derive(Clone, Copy)]
pub struct Isolated<J = EveryError> {
    site: &'static Site,
    judge: J,
}

impl Isolated {
    pub(super) fn of(site: &'static Site) -> Self {
        Self { site, judge: EveryError }
    }
}

// A block and no `async fn`, which would store the closure twice.
#[allow(clippy::manual_async_fn)]
impl<J> Isolated<J> {
    /// Lets the error type say what its values mean, as [`Guard::classified`](super::Guard::classified).
    #[must_use]
    pub fn classified(self) -> Isolated<ByClass> {
        Isolated { site: self.site, judge: ByClass }
    }

    /// Judges by a function of the whole answer, as [`Guard::judge`](super::Guard::judge).
    #[must_use]
    pub fn judge<K>(self, judge: K) -> Isolated<K> {
        Isolated { site: self.site, judge }
    }

    /// What it is called and where it was built.
    pub fn identity(&self) -> &'static Identity {
        self.site.identity()
    }

    /// Runs a closure's future on a thread, once per attempt. The closure is called when a thread has been granted, in the
    /// caller's task; what it returns is polled on the thread, where it may block.
    ///
    /// The slot is taken until the thread has really ended with the body, also when the call was cut off or dropped long before.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use watertight::Guard;
    /// use watertight::guard::Isolate;
    ///
    /// let reports = Guard::named("doc-reports")
    ///     .timeout(Duration::from_secs(2))
    ///     .build_isolated(Isolate::new("doc-reports", 4).queue(8))?;
    /// let caller = std::thread::current().id();
    /// let ran_on = reports.run(|| async { Ok::<_, std::io::Error>(std::thread::current().id()) }).await?;
    /// assert_ne!(ran_on, caller);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Guard::run`](super::Guard::run).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives up waiting. A body under way is dropped at its next await, and until then keeps its thread.
    pub fn run<T, E, F, Fut>(&self, mut body: F) -> impl Future<Output = Result<T, Failure<E>>>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: Send + 'static,
        E: Send + 'static,
        J: Judge<Result<T, E>>,
    {
        async move {
            let mut call = pin!(Call::begin(self.site));
            let end = loop {
                let seat = match enter(&mut call).await {
                    Entered::Seat(seat) => seat,
                    Entered::Refused => break End::Refused,
                    Entered::Again => continue,
                };
                let run = pin!(Some(isolated(seat, body())));
                if let Some(end) = attempt(&mut call, run, judge::Of::new(&self.judge)).await {
                    break end;
                }
            };
            finished(call, end)
        }
    }
}

impl<J> fmt::Debug for Isolated<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Isolated").field(&self.identity().to_string()).finish()
    }
}
