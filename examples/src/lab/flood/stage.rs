//! # Three dependencies, one service, and a crowd
//!
//! ```text
//!   crowd ──► /recs /search /payments ──► the common room, or one room each ──► recs, search, payments
//! ```
//!
//! Everything is real but the size: three dependencies on ports of their own, a service, and callers over HTTP, twenty a
//! second in an even beat, of whom 45 % want recommendations, 28 % a search and 27 % to pay. Two switches can be turned while
//! it runs: which rooms there are, and how long the recommendations take. A call keeps what it met when it came.
//!
//! Invariants:
//! * every count is the service's own or a dependency's own; nothing is worked out from what should be;
//! * no more callers are under way than the rooms have workers and places, but for those just being turned away;
//! * dropping the stage ends all of it.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::recent::Recent;
use super::room::{Ended, Line, Room};
use crate::get::{client, get as ask};
use crate::server::Server;
use crate::stop::{Stop, Stopper, pair};
use crate::tally::{Figures, Tally};
use crate::vendor::{Behaviour, Vendor, VendorFigures};

/// What the three are called.
pub const NAMES: [&str; 3] = ["recs", "search", "payments"];
/// How many of a hundred calls go to each.
pub const SHARES: [u64; 3] = [45, 28, 27];
/// Between two arrivals.
pub const EVERY: Duration = Duration::from_millis(50);
/// An answer of a dependency that is well.
pub const FAST: Duration = Duration::from_millis(100);
/// An answer of one that is not.
pub const SLOW: Duration = Duration::from_secs(8);
/// How long a caller waits.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often the counts are read.
pub const SAMPLE: Duration = Duration::from_millis(250);

/// How the switches stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// One room each, by attribute; else the common room.
    pub bulkheads: bool,
    /// Recommendations take their time.
    pub recs_slow: bool,
}

/// All of it, running.
#[derive(Debug)]
pub struct Stage {
    floor: Arc<Floor>,
    service: Server,
    beats: [JoinHandle<()>; 2],
    stopper: Stopper,
}

/// What service, crowd and onlookers share.
#[derive(Debug)]
struct Floor {
    lines: [Line; 3],
    vendors: [Vendor; 3],
    room: Room,
    bulkheads: AtomicBool,
    recs_slow: AtomicBool,
    arriving: AtomicBool,
    /// What the callers of each saw.
    seen: [Arc<Tally>; 3],
    recent: [Mutex<Recent>; 3],
}

/// One dependency, at one moment.
#[derive(Clone, Debug)]
pub struct Now {
    /// Calls at work and calls waiting, of those in the common room.
    pub in_common: (u64, u64),
    /// The same, of those in a room of their own.
    pub in_own: (u64, u64),
    /// How the calls through the common room ended.
    pub common: Ended,
    /// How those through their own room did.
    pub own: Ended,
    /// Came, served and turned away in the last seconds.
    pub window: Ended,
    /// Served a second, over the last minute, a figure every quarter of a second.
    pub history: Vec<f64>,
    /// Whether hardly anybody is served who comes.
    pub stalled: bool,
    /// Its own count.
    pub vendor: VendorFigures,
}

impl Stage {
    /// Opens everything, with the switches as given.
    ///
    /// # Errors
    /// When loopback has no port to give.
    pub async fn open(switches: Switches) -> std::io::Result<Self> {
        let started = || Vendor::start(Behaviour::After(FAST));
        let vendors = [started().await?, started().await?, started().await?];
        let floor = Arc::new(Floor {
            lines: [0, 1, 2].map(|at: usize| Line::to(vendors[at].url())),
            vendors,
            room: Room::default(),
            bulkheads: AtomicBool::new(switches.bulkheads),
            recs_slow: AtomicBool::new(false),
            arriving: AtomicBool::new(true),
            seen: Default::default(),
            recent: Default::default(),
        });
        floor.recs_slow(switches.recs_slow);
        let app = Router::new().route("/{name}", get(serve)).with_state(Arc::clone(&floor));
        let service = Server::start(app).await?;
        let (stopper, stop) = pair();
        let beats = [
            tokio::spawn(crowd(Arc::clone(&floor), service.url(), stop.clone())),
            tokio::spawn(read(Arc::clone(&floor), stop)),
        ];
        Ok(Self { floor, service, beats, stopper })
    }

    /// How the switches stand.
    pub fn switches(&self) -> Switches {
        Switches { bulkheads: self.floor.bulkheads.load(Relaxed), recs_slow: self.floor.recs_slow.load(Relaxed) }
    }

    /// Turns the switches, for calls that come from now on.
    pub fn turn(&self, switches: Switches) {
        self.floor.bulkheads.store(switches.bulkheads, Relaxed);
        self.floor.recs_slow(switches.recs_slow);
    }

    /// Whether callers come; those under way stay.
    pub fn arriving(&self, arriving: bool) {
        self.floor.arriving.store(arriving, Relaxed);
    }

    /// One dependency of [`NAMES`], now.
    pub fn now(&self, at: usize) -> Now {
        let floor = &self.floor;
        let (line, recent) = (&floor.lines[at], floor.recent[at].lock().unwrap_or_else(PoisonError::into_inner));
        Now {
            in_common: line.now(false),
            in_own: line.now(true),
            common: line.ended(false),
            own: line.ended(true),
            window: recent.window(),
            history: recent.rates(),
            stalled: recent.is_stalled(),
            vendor: floor.vendors[at].figures(),
        }
    }

    /// What the callers of one saw, since the beginning.
    pub fn seen(&self, at: usize) -> Figures {
        self.floor.seen[at].figures()
    }

    /// Ends all of it, and waits for that.
    pub async fn stop(self) {
        let Self { floor, service, beats, stopper } = self;
        stopper.stop();
        for beat in beats {
            let _ = beat.await;
        }
        service.stop().await;
        drop(floor);
    }
}

impl Floor {
    fn recs_slow(&self, slow: bool) {
        self.recs_slow.store(slow, Relaxed);
        self.vendors[0].behave(Behaviour::After(if slow { SLOW } else { FAST }));
    }
}

async fn serve(State(floor): State<Arc<Floor>>, Path(name): Path<String>) -> Response {
    let Some(at) = NAMES.iter().position(|known| *known == name) else { return StatusCode::NOT_FOUND.into_response() };
    floor.room.pass(at, &floor.lines[at], floor.bulkheads.load(Relaxed)).await.into_response()
}

/// Whom the caller of a number wants: of every hundred, exactly as many as [`SHARES`] says, strewn.
fn wanted(number: u64) -> usize {
    // 37 has no factor in common with 100.
    match number.wrapping_mul(37) % 100 {
        0..45 => 0,
        45..73 => 1,
        _ => 2,
    }
}

async fn crowd(floor: Arc<Floor>, service: String, stop: Stop) {
    let http = client();
    // Dropping the set ends the calls in it.
    let mut open = JoinSet::new();
    let come = async {
        let mut beat = interval(EVERY);
        for number in 0.. {
            beat.tick().await;
            while open.try_join_next().is_some() {}
            if !floor.arriving.load(Relaxed) {
                continue;
            }
            let at = wanted(number);
            let (http, url, seen) = (http.clone(), format!("{service}/{}", NAMES[at]), Arc::clone(&floor.seen[at]));
            open.spawn(async move {
                let answer = ask(&http, &url, PATIENCE).await;
                seen.record(answer.ok, answer.took);
            });
        }
    };
    tokio::select! {
        () = come => {}
        () = stop.stopped() => {}
    }
}

/// Reads the counts, again and again.
async fn read(floor: Arc<Floor>, stop: Stop) {
    let reading = async {
        let begun = Instant::now();
        let mut beat = interval(SAMPLE);
        // Readings that are bunched would make rates of nothing.
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beat.tick().await;
            for (line, recent) in floor.lines.iter().zip(&floor.recent) {
                let (common, own) = (line.ended(false), line.ended(true));
                recent.lock().unwrap_or_else(PoisonError::into_inner).take(begun.elapsed(), common.and(own));
            }
        }
    };
    tokio::select! {
        () = reading => {}
        () = stop.stopped() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{SHARES, wanted};

    #[test]
    fn of_every_hundred_callers_exactly_the_shares_want_each() {
        let hundred: Vec<usize> = (0..100).map(wanted).collect();
        let counts = [0, 1, 2].map(|at| hundred.iter().filter(|&&it| it == at).count() as u64);
        assert_eq!(counts, SHARES);
        let longest = hundred.chunk_by(|a, b| a == b).map(<[usize]>::len).max();
        assert!(longest <= Some(3), "strewn: {longest:?} in a row");
    }
}
