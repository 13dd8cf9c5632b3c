//! # One stage, played once
//!
//! Most experiments are the same play with other numbers: a vendor that behaves in some way, a service that calls it, a
//! crowd on `/work`, and probes on the two routes that have nothing to do with the vendor. What is measured is what became
//! of the other two.
//!
//! ```text
//!   crowd ──► /work ────► pool of 10 ──► held while waiting ──► vendor
//!   probe ──► /db ──────►     "
//!   probe ──► /healthy
//! ```
//!
//! Variants that leave the machine mostly idle are played side by side, each on a stage of its own: that saves minutes, and
//! they meet the same weather. Where a variant keeps the processor busy, the experiment plays one after the other.
//!
//! Invariants:
//! * every play has its own vendor, pool, service and clients, and all of them are gone when it ends;
//! * only the work function differs between two variants of one play.

use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use serde_json::json;
use tokio::time::{Instant, interval, timeout};

use super::frame::{Bench, Variant};
use super::outcome::Outcome;
use super::pool::Pool;
use super::service::{Desk, serve};
use crate::fates::{self, Fates};
use crate::load::Load;
use crate::pool::{ACQUIRE_LIMIT, SIZE};
use crate::probe::Probe;
use crate::report::words;
use crate::stop::Stop;
use crate::tally::{Figures, Tally};
use crate::vendor::{Behaviour, Vendor, VendorFigures};

const SAMPLE: Duration = Duration::from_millis(20);
/// How long clearing up may take.
const CLEAR_UP: Duration = Duration::from_secs(1);
/// The probes' beat.
pub const BEAT: Duration = Duration::from_millis(200);
/// How long a probe waits; the pool's own limit has to be able to come first.
pub const PROBE_LIMIT: Duration = Duration::from_millis(2_500);

/// Who calls `/work`.
#[derive(Clone, Debug)]
pub enum Crowd {
    /// So many, each asking again after its answer.
    Closed(Load),
    /// At a rate, whatever became of those before.
    Open(Probe),
}

/// The numbers of a play.
#[derive(Clone, Debug)]
pub struct Scene {
    /// What the vendor does.
    pub vendor: Behaviour,
    /// Who calls `/work`.
    pub crowd: Crowd,
    /// How long the other routes are probed.
    pub watched: Duration,
    /// Whether work runs on when its caller has left.
    pub detached: bool,
}

impl Scene {
    /// A closed loop of `clients` for `length`, who pause for 50 ms between two requests and wait half a minute for an
    /// answer.
    pub fn closed(vendor: Behaviour, clients: usize, length: Duration) -> Self {
        let crowd = Crowd::Closed(Load {
            clients,
            length,
            pause: Duration::from_millis(50),
            patience: Duration::from_secs(30),
            grace: ACQUIRE_LIMIT,
        });
        Self { vendor, crowd, watched: length, detached: false }
    }

    /// So many calls a second for `length`.
    pub fn open(vendor: Behaviour, per_second: u32, length: Duration) -> Self {
        let crowd =
            Crowd::Open(Probe { every: Duration::from_secs(1) / per_second, limit: Duration::from_secs(30), length });
        Self { vendor, crowd, watched: length, detached: false }
    }

    fn length(&self) -> Duration {
        let crowd = match &self.crowd {
            Crowd::Closed(load) => load.length,
            Crowd::Open(arrivals) => arrivals.length,
        };
        crowd.max(self.watched)
    }
}

/// The pool and the counts at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Since the beginning.
    pub at: Duration,
    /// Idle connections.
    pub idle: usize,
    /// Calls waiting for one.
    pub waiting: u64,
    /// Probes of `/db` so far, and those that went well.
    pub db: (u64, u64),
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Of which variant.
    pub variant: &'static str,
    /// The crowd's route.
    pub work: Figures,
    /// The probe's through the pool.
    pub db: Figures,
    /// The probe's that needs nothing.
    pub healthy: Figures,
    /// The vendor's books.
    pub vendor: VendorFigures,
    /// Most calls to the vendor at once, counted in the service.
    pub asking_peak: u64,
    /// Waits for a connection that ended without one.
    pub pool_timeouts: u64,
    /// How long a piece of work held a connection.
    pub holding: Figures,
    /// How the guarded function's calls ended.
    pub fates: Fates,
    /// Over time.
    pub moments: Vec<Moment>,
}

#[derive(Debug, Default)]
struct Tallies {
    work: Arc<Tally>,
    db: Arc<Tally>,
    healthy: Arc<Tally>,
}

/// Plays one variant.
///
/// # Errors
/// When a piece cannot be set up.
pub async fn play(bench: &Bench, stage: &str, scene: &Scene, variant: &Variant) -> anyhow::Result<Seen> {
    Ok(side_by_side(bench, stage, &[(scene.clone(), *variant)]).await?.remove(0))
}

/// Plays several, all at the same time; in the order given.
///
/// # Errors
/// When a piece cannot be set up.
pub async fn side_by_side(bench: &Bench, stage: &str, plays: &[(Scene, Variant)]) -> anyhow::Result<Vec<Seen>> {
    let tallies: Vec<Tallies> = plays.iter().map(|_| Tallies::default()).collect();
    let length = plays.iter().map(|(scene, _)| scene.length()).max().unwrap_or_default();
    let now = || {
        let one = |((_, variant), tallies): (&(Scene, Variant), &Tallies)| {
            format!("{}: /db {}", variant.name, words::share(tallies.db.figures().success()))
        };
        plays.iter().zip(&tallies).map(one).collect::<Vec<_>>().join("  ")
    };
    let all = plays.iter().zip(&tallies).map(|((scene, variant), tallies)| run(bench, scene, variant, tallies));
    tokio::select! {
        seen = try_join_all(all) => seen,
        () = bench.live.follow(stage, length, now) => unreachable!("it follows for as long as it is polled"),
    }
}

async fn run(bench: &Bench, scene: &Scene, variant: &Variant, tallies: &Tallies) -> anyhow::Result<Seen> {
    let before = fates::now();
    let vendor = Vendor::start(scene.vendor).await?;
    let desk = Desk::new(Pool::open(bench.postgres.as_deref()).await?, vendor.url());
    let server = serve(&desk, variant.work, scene.detached).await?;
    let at = |path: &str| format!("{}{path}", server.url());

    let probe = Probe { every: BEAT, limit: PROBE_LIMIT, length: scene.watched };
    let mut moments = Vec::new();
    let all = async {
        tokio::join!(
            crowd(&scene.crowd, at("/work"), &tallies.work, &bench.stop),
            probe.run(at("/db"), &tallies.db, &bench.stop),
            probe.run(at("/healthy"), &tallies.healthy, &bench.stop),
        )
    };
    tokio::select! {
        _ = all => {}
        () = sample(&desk, &tallies.db, &mut moments) => {}
    }

    server.stop().await;
    let vendor = vendor.stop().await;
    // What was detached ends with the vendor's sockets; connections may still be on their way back.
    let _ = timeout(CLEAR_UP, desk.pool().close()).await;
    let own = |fates: &Fates| variant.site == Some(fates.name);
    Ok(Seen {
        variant: variant.name,
        work: tallies.work.figures(),
        db: tallies.db.figures(),
        healthy: tallies.healthy.figures(),
        vendor,
        asking_peak: desk.asking().peak,
        pool_timeouts: desk.pool_timeouts(),
        holding: desk.holding(),
        fates: fates::since(&before).into_iter().find(own).unwrap_or_default(),
        moments,
    })
}

async fn crowd(crowd: &Crowd, url: String, tally: &Arc<Tally>, stop: &Stop) {
    match crowd {
        Crowd::Closed(load) => load.run(|_, _| url.clone(), tally, stop).await,
        Crowd::Open(arrivals) => arrivals.run(url, tally, stop).await,
    }
}

async fn sample(desk: &Desk, db: &Tally, moments: &mut Vec<Moment>) {
    let begun = Instant::now();
    let mut beat = interval(SAMPLE);
    loop {
        beat.tick().await;
        let (idle, waiting) = (desk.pool().idle(), desk.waiting().inside);
        moments.push(Moment { at: begun.elapsed(), idle, waiting, db: db.so_far() });
    }
}

/// The numbers that all plays have in common, and those of this one.
pub fn settings(bench: &Bench, scene: &Scene, outcome: &mut Outcome) {
    match &scene.crowd {
        Crowd::Closed(load) => {
            outcome.set("clients", load.clients);
            outcome.set("seconds", load.length.as_secs_f64());
            outcome.set("pause_ms", millis(load.pause));
            outcome.set("patience_ms", millis(load.patience));
        }
        Crowd::Open(arrivals) => {
            outcome.set("arrivals_per_second", 1.0 / arrivals.every.as_secs_f64());
            outcome.set("seconds", arrivals.length.as_secs_f64());
            outcome.set("patience_ms", millis(arrivals.limit));
        }
    }
    outcome.set("vendor", format!("{:?}", scene.vendor));
    outcome.set("pool", if bench.postgres.is_some() { "Postgres" } else { "SQLite" });
    outcome.set("pool_size", SIZE);
    outcome.set("pool_acquire_limit_ms", millis(ACQUIRE_LIMIT));
    outcome.set("probe_every_ms", millis(BEAT));
    outcome.set("probe_limit_ms", json!(millis(PROBE_LIMIT)));
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
