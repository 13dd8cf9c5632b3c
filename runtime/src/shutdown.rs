//! Stopping without losing what is half done.
//!
//! A process that is told to stop and just goes leaves half an order behind: a charge without its receipt, a queue of callers
//! whose connections break. One that waits for everything never goes, because one of its dependencies hangs, which is the day on
//! which somebody restarts it. So there is an order to it, and an end.
//!
//! ```text
//!   told to stop ──▶ draining ──────────────▶ closed ──▶ the report
//!                    │ calls from outside:     │ nothing begins any more, no retry, no nested call
//!                    │ refused                 │ whoever waits in a line: refused at once
//!                    │ what was begun, and     │ what runs: left to whoever owns its task
//!                    │ what it calls: goes on  │
//!                    └ until nothing is left, ─┘
//!                      or the grace is over
//! ```
//!
//! **Whose call is from outside.** One that is made inside another call, inside a request that a server's layer has let in (features
//! `http`, `tonic`), or in a task that inherits from one of these ([`spawn`](crate::spawn())), belongs to what was begun. Every
//! other is from outside, also when it is made in the middle of work that we know nothing of: a loop that reads a queue is guarded
//! as a whole, or goes through a refusal as through any other.
//!
//! **Nothing is killed.** A body belongs to the task that polls it. What is left when the grace is over is reported by function, and
//! ends when its task does, at the latest when its runtime is dropped: slots, probes and places in line are given back by
//! drops that neither spawn nor wait.
//!
//! (Attempts that run on beyond their limit under the key `observe` are nobody's work: they are dropped when stopping begins.)
//!
//! Invariants: nobody is refused for this reason before [`begin`] or [`drain`]; it does not go back; a drain ends soon after its grace.

use std::fmt;
use std::time::Duration;

use tokio::time::sleep;

use crate::base::clock::{Moment, nanos};
use crate::call::intake::{Intake, Stage};
use crate::{catalogue, registry};

/// How often it is looked whether all is over.
const LOOK: Duration = Duration::from_millis(5);
/// How long those who were sent away are waited for.
const LEAVE: u64 = 100_000_000;

/// What a drain has left.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Drained {
    /// How long it took.
    pub took: Duration,
    /// Functions with calls still under way, by module, file and line.
    pub left: Vec<Left>,
    /// Requests that a server's layer has let in and that are not answered.
    pub requests: u64,
}

/// Calls of one function that were still under way at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// The function's name.
    pub name: &'static str,
    /// Its module.
    pub module: &'static str,
    /// Its source file.
    pub file: &'static str,
    /// The line of its attribute.
    pub line: u32,
    /// How many calls.
    pub calls: u64,
}

impl Drained {
    /// Whether all calls and requests had ended.
    pub fn is_clean(&self) -> bool {
        self.left.is_empty() && self.requests == 0
    }
}

/// One sentence, for a log.
impl fmt::Display for Drained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() {
            return write!(f, "everything had ended after {:?}", self.took);
        }
        let calls: u64 = self.left.iter().map(|left| left.calls).sum();
        write!(f, "after {:?} {calls} calls and {} requests were left", self.took, self.requests)?;
        for (place, left) in self.left.iter().enumerate() {
            write!(f, "{}{}: {}", if place == 0 { " (" } else { ", " }, left.name, left.calls)?;
        }
        if self.left.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

/// Refuses calls from outside from now on, as [`ShuttingDown`](crate::ErrorKind::ShuttingDown); what was begun goes on.
///
/// For readiness probes and load balancers that want some time between the news and the end; [`drain`] begins by itself. It does
/// not go back.
pub fn begin() {
    advance(Stage::Draining);
}

/// Whether calls from outside are refused: what a readiness probe answers with.
///
/// ```
/// assert!(!watertight::shutdown::has_begun());
/// watertight::shutdown::begin();
/// assert!(watertight::shutdown::has_begun());
/// ```
pub fn has_begun() -> bool {
    !Intake::here().stage.is_open()
}

/// Refuses calls from outside, waits until all that was begun has ended or the grace is over, then lets nothing begin any more,
/// sends away whoever waits in a line, and says what was left.
///
/// It takes as long as the last call, at most the grace and a tenth of a second. Called inside a guarded function it waits for that one
/// too. Attempts that pause before a retry are not woken: they end when their pause does, without the retry.
///
/// # Cancel safety
///
/// Dropped half way, calls from outside stay refused, and what was begun goes on.
///
/// # Panics
///
/// Outside a tokio runtime with its timer enabled, when there is something to wait for.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::{ErrorKind, resilient, shutdown};
///
/// #[resilient(bulkhead = "doc-drain:1/queue:8", timeout = "1m")]
/// async fn work(seconds: u64) -> Result<(), watertight::Error> {
///     tokio::time::sleep(Duration::from_secs(seconds)).await;
///     Ok(())
/// }
///
/// let tasks = [2, 2, 30, 2].map(|seconds| tokio::spawn(work(seconds)));
/// tokio::task::yield_now().await;
/// let drained = shutdown::drain(Duration::from_secs(10)).await;
/// assert_eq!(drained.left[0].calls, 1); // two have ended, the last was sent away, one hangs
/// assert_eq!(work(0).await.unwrap_err().kind(), ErrorKind::ShuttingDown);
/// # let _ = tasks;
/// # }
/// ```
pub async fn drain(grace: Duration) -> Drained {
    let began = Moment::now();
    let end = began.plus(nanos(grace));
    begin();
    until(end, |left| left == 0).await;
    advance(Stage::Closed);
    send_away();
    until(Moment::now().plus(LEAVE), |left| left == 0 || nobody_waits()).await;
    let left = catalogue::entries().into_iter().filter_map(|entry| {
        let identity = &entry.declaration.identity;
        let calls = entry.tally.in_flight();
        let (name, module, file, line) = (identity.name, identity.module, identity.file, identity.line);
        (calls > 0).then_some(Left { name, module, file, line, calls })
    });
    let left = left.collect();
    let took = Duration::from_nanos(Moment::now().since(began));
    Drained { took, left, requests: Intake::here().inside() }
}

/// Goes on to a stage, here and at every site. Sites that are listed later are told when they are.
fn advance(to: Stage) {
    Intake::here().stage.advance(to);
    for entry in catalogue::entries() {
        entry.tally.intake.advance(to);
        // What runs on without a caller only learns.
        entry.tally.beyond.stop();
    }
}

/// Waits until something holds of how much is under way, or until the end.
async fn until(end: Moment, holds: impl Fn(u64) -> bool) {
    let entries = catalogue::entries();
    while !holds(entries.iter().map(|entry| entry.tally.in_flight()).sum::<u64>() + Intake::here().inside()) {
        let left = end.since(Moment::now());
        if left == 0 {
            return;
        }
        sleep(LOOK.min(Duration::from_nanos(left))).await;
    }
}

/// Has everybody who waits in a line look around.
fn send_away() {
    let doors = registry::isolates().into_iter().map(|threads| threads.door);
    for bulkhead in registry::bulkheads().into_iter().chain(doors) {
        bulkhead.wake_all();
    }
    for rate in registry::rates() {
        rate.wake_all();
    }
}

fn nobody_waits() -> bool {
    catalogue::entries().into_iter().all(|entry| !entry.tally.has_waiters())
}
