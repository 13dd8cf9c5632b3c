//! Hops, what they count, and how late this machine is.

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};
use watertight::deadline;
use watertight_tests::{PATIENCE, Stopwatch, ms};

/// How long one hop may work on after another's deadline.
pub(crate) const SLACK: Duration = ms(50);

/// Serves a router on a port of its own; gives its address.
pub(crate) async fn serve(app: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

/// How late this machine's timers are: a short sleep over and over, and how much longer than asked it took.
pub(crate) struct Pace {
    worst: Arc<AtomicU64>,
    task: AbortHandle,
}

impl Pace {
    pub(crate) fn watch() -> Self {
        let worst = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&worst);
        let task = tokio::spawn(async move {
            loop {
                let clock = Stopwatch::start();
                sleep(ms(5)).await;
                let late = clock.read().saturating_sub(ms(5)).as_micros();
                seen.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::SeqCst);
            }
        });
        Self { worst, task: task.abort_handle() }
    }

    /// Asserts that something took so long, or a hop's slack longer, on a machine as late as this one is.
    #[track_caller]
    pub(crate) fn assert_about(&self, what: &str, took: Duration, expected: Duration) {
        let late = Duration::from_micros(self.worst.load(Ordering::SeqCst));
        println!("{what}: {took:?} for {expected:?}, on a machine that is up to {late:?} late");
        // A millisecond less is the rounding of what goes over the wire, twice.
        assert!(took + ms(4) >= expected, "{what}: {took:?} is before {expected:?}");
        assert!(took <= expected + SLACK + late * 4, "{what}: {took:?} instead of {expected:?}, and {late:?} late");
    }
}

impl Drop for Pace {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the far side of a call sees.
#[derive(Clone, Default)]
pub(crate) struct Far(Arc<Books>);

#[derive(Default)]
struct Books {
    begun: AtomicUsize,
    running: AtomicUsize,
    steps: AtomicUsize,
    stopped: Mutex<Option<Instant>>,
}

impl Far {
    /// Works until it is dropped, step by step.
    pub(crate) async fn work(&self) -> Infallible {
        self.0.begun.fetch_add(1, Ordering::SeqCst);
        self.0.running.fetch_add(1, Ordering::SeqCst);
        let _working = Working(self.clone());
        loop {
            self.0.steps.fetch_add(1, Ordering::SeqCst);
            sleep(ms(1)).await;
        }
    }

    /// How many have begun to work.
    pub(crate) fn begun(&self) -> usize {
        self.0.begun.load(Ordering::SeqCst)
    }

    /// Waits until so many work.
    pub(crate) async fn until_running(&self, number: usize) {
        let clock = Stopwatch::start();
        while self.0.running.load(Ordering::SeqCst) != number {
            assert!(clock.read() < PATIENCE, "never {number} at work");
            sleep(ms(1)).await;
        }
    }

    /// Asserts that nothing more is done, and says when the last one stopped.
    pub(crate) async fn stopped(&self) -> Instant {
        self.until_running(0).await;
        let steps = self.0.steps.load(Ordering::SeqCst);
        sleep(ms(30)).await;
        assert_eq!(self.0.steps.load(Ordering::SeqCst), steps, "steps after the last one stopped");
        self.0.stopped.lock().expect("no panic").expect("somebody has stopped")
    }
}

struct Working(Far);

impl Drop for Working {
    fn drop(&mut self) {
        *self.0.0.stopped.lock().expect("no panic") = Some(Instant::now());
        self.0.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Runs something in a task that inherits a deadline, and that nobody drops when it passes.
pub(crate) async fn inheriting<F>(length: Duration, work: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut task = None;
    let spawned = deadline::within(length, async { task = Some(watertight::spawn(work)) });
    spawned.await.expect("spawning takes no time");
    task.expect("spawned").await.expect("no panic")
}

/// One test at a time: they measure.
pub(crate) async fn alone() -> tokio::sync::MutexGuard<'static, ()> {
    static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
    ALONE.lock().await
}
