//! # One room for all, or one each
//!
//! Six workers and eighteen places to wait, for three dependencies. As a common room, which is what a service has whose only
//! bound is its worker limit or its pool: whoever comes first gets the next free worker, whatever he needs it for. Or divided
//! by three attribute lines: two workers and six places for each.
//!
//! The common room is by hand, a semaphore with a bounded line, since nothing of ours stands in a service that has no
//! bulkheads. Both wait equally long, and the body is the same.
//!
//! Invariants:
//! * workers and places are the same in both, in sum;
//! * what is counted is counted in one place, whichever way a call goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;
use watertight::resilient;

use crate::get::client;
use crate::lab::service::Done;
use crate::meter::Meter;
use crate::shop::AppError;

/// Workers of the common room.
pub const WORKERS: usize = 6;
/// Places to wait in front of the common room.
pub const PLACES: usize = 18;
/// Workers of each room where there is one each.
pub const OWN_WORKERS: usize = 2;
/// Places to wait in front of each.
pub const OWN_PLACES: usize = 6;
/// How long somebody waits in either.
const WAIT: Duration = Duration::from_secs(10);

/// How calls to one dependency ended, in one of the two ways.
#[derive(Debug, Default)]
pub struct Ends {
    came: AtomicU64,
    served: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// The same, read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Calls that came.
    pub came: u64,
    /// Answered.
    pub served: u64,
    /// Turned away, at once or after waiting.
    pub refused: u64,
    /// Ended otherwise.
    pub failed: u64,
}

impl Ends {
    /// The counts now.
    pub fn read(&self) -> Ended {
        // Ends first: a reader in between sees a call too many under way, never one that ended before it came.
        let (served, refused, failed) =
            (self.served.load(Relaxed), self.refused.load(Relaxed), self.failed.load(Relaxed));
        Ended { came: self.came.load(Relaxed), served, refused, failed }
    }
}

/// One of the two ways to one dependency.
#[derive(Debug, Default)]
struct Way {
    /// Inside of the service, at work or waiting.
    inside: Arc<Meter>,
    running: Arc<Meter>,
    ends: Ends,
}

/// What a call to one dependency uses.
#[derive(Debug)]
pub struct Line {
    url: String,
    http: reqwest::Client,
    common: Way,
    own: Way,
}

impl Line {
    /// To a dependency at a URL.
    pub fn to(url: String) -> Self {
        Self { url, http: client(), common: Way::default(), own: Way::default() }
    }

    /// The counts of the calls that went one of the two ways.
    pub fn ended(&self, own_room: bool) -> Ended {
        self.way(own_room).ends.read()
    }

    /// Calls at work and calls waiting, of those that went one of the two ways.
    pub fn now(&self, own_room: bool) -> (u64, u64) {
        let way = self.way(own_room);
        let running = way.running.counts().inside;
        (running, way.inside.counts().inside.saturating_sub(running))
    }

    fn way(&self, own_room: bool) -> &Way {
        if own_room { &self.own } else { &self.common }
    }

    /// The body: asks the dependency, and waits for as long as it takes.
    async fn ask(&self, own_room: bool) -> Done {
        let visit = self.way(own_room).running.enter();
        self.http.get(&self.url).send().await?.error_for_status()?.bytes().await?;
        visit.answered();
        Ok(())
    }
}

#[resilient(bulkhead = "flood-recs:2/queue:6/wait:10s")]
async fn flood_recs(line: &Line) -> Done {
    line.ask(true).await
}

#[resilient(bulkhead = "flood-search:2/queue:6/wait:10s")]
async fn flood_search(line: &Line) -> Done {
    line.ask(true).await
}

#[resilient(bulkhead = "flood-payments:2/queue:6/wait:10s")]
async fn flood_payments(line: &Line) -> Done {
    line.ask(true).await
}

/// The guarded functions, in the order of the dependencies.
pub const SITES: [&str; 3] = ["flood_recs", "flood_search", "flood_payments"];
/// The text of this file, with the attribute lines.
pub const SOURCE: &str = include_str!("room.rs");

/// The common room.
#[derive(Debug)]
pub struct Room {
    workers: Semaphore,
    places: Semaphore,
}

impl Default for Room {
    fn default() -> Self {
        Self { workers: Semaphore::new(WORKERS), places: Semaphore::new(WORKERS + PLACES) }
    }
}

impl Room {
    async fn call(&self, line: &Line) -> Done {
        let turned_away = || AppError::Database(sqlx::Error::PoolTimedOut);
        let _place = self.places.try_acquire().map_err(|_| turned_away())?;
        // It is never closed, so this is a worker or the end of patience.
        let Ok(Ok(_worker)) = timeout(WAIT, self.workers.acquire()).await else { return Err(turned_away()) };
        line.ask(false).await
    }

    /// One call to the dependency of a number, through the common room or its own.
    ///
    /// # Errors
    /// When it was turned away, or the dependency's.
    pub async fn pass(&self, dependency: usize, line: &Line, own_room: bool) -> Done {
        let way = line.way(own_room);
        let (ends, _inside) = (&way.ends, way.inside.enter());
        ends.came.fetch_add(1, Relaxed);
        let mut ended = Ending(&ends.failed);
        let done = match (own_room, dependency) {
            (false, _) => self.call(line).await,
            (true, 0) => flood_recs(line).await,
            (true, 1) => flood_search(line).await,
            (true, _) => flood_payments(line).await,
        };
        ended.0 = match &done {
            Ok(()) => &ends.served,
            Err(AppError::Guard(_) | AppError::Database(_)) => &ends.refused,
            Err(AppError::Vendor(_)) => &ends.failed,
        };
        done
    }
}

/// Counts an end once, also when the call is dropped.
struct Ending<'ends>(&'ends AtomicU64);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}
