//! # The outage: the same minute, twice
//!
//! A vendor whose recommendations nobody would call essential accepts a request and never answers. What happens to the
//! cart, which has nothing to do with recommendations? The question is put to two shops that differ in one line, under
//! the same load, by the same probes, one after the other so that neither takes the other's processor.
//!
//! ```text
//!   visitors ──► /product ──┐
//!   probe    ──► /cart      ├──► pool of 10 ──► held while waiting ──► vendor: hangs
//!   probe    ──► /health    ┘
//! ```
//!
//! Invariants:
//! * everything is built afresh for each run, and gone before the next begins;
//! * a run ends within its length, plus the grace for answers under way, plus a second to clear up;
//! * a stop yields figures too, and they are marked partial.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::fates::{self, Fates};
use crate::live::board::{Board, Look};
use crate::load::Load;
use crate::pool::{self, IdleLevels};
use crate::probe::Probe;
use crate::progress::{Live, Progress};
use crate::shop::{Shop, Variant};
use crate::stop::Stop;
use crate::tally::{Figures, Tally};
use crate::vendor::{Behaviour, Vendor, VendorFigures};

/// How long clearing up may take.
const CLEAR_UP: Duration = Duration::from_secs(1);

/// The numbers of the experiment.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The visitors.
    pub load: Load,
    /// The probes, one each of `/cart` and `/health`.
    pub probe: Probe,
    /// What the vendor does.
    pub vendor: Behaviour,
}

impl Settings {
    /// The defaults, for a length and a number of visitors.
    pub fn new(length: Duration, clients: usize) -> Self {
        let limit = Duration::from_secs(2);
        Self {
            load: Load {
                clients,
                length,
                pause: Duration::from_millis(10),
                patience: Duration::from_secs(30),
                grace: limit,
            },
            probe: Probe { every: Duration::from_millis(200), limit, length },
            vendor: Behaviour::Hang,
        }
    }
}

/// What one run came to.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which shop.
    pub variant: Variant,
    /// Ended by a stop.
    pub partial: bool,
    /// How long it went on, clearing up excluded.
    pub took: Duration,
    /// Every route, as its callers saw it.
    pub routes: [(&'static str, Figures); 3],
    /// The vendor's books.
    pub vendor: VendorFigures,
    /// Most recommendations bodies at once, counted inside the shop.
    pub asking_peak: u64,
    /// Idle connections over time.
    pub idle: IdleLevels,
    /// Waits for a pooled connection that ended without one.
    pub pool_timeouts: u64,
    /// The guard's own count.
    pub functions: Vec<Fates>,
}

impl Run {
    /// The figures of a route.
    pub fn route(&self, path: &str) -> Figures {
        self.routes.iter().find(|(name, _)| *name == path).map(|(_, figures)| *figures).unwrap_or_default()
    }
}

/// Both runs, or as many as there was time for.
#[derive(Clone, Debug)]
pub struct Outage {
    /// With these numbers.
    pub settings: Settings,
    /// In the order they ran.
    pub runs: Vec<Run>,
    /// Ended by a stop.
    pub partial: bool,
}

/// Runs the bare shop, then the annotated one.
///
/// # Errors
/// When a piece cannot be set up.
pub async fn both(settings: Settings, stop: &Stop, progress: &Progress, board: &Board) -> anyhow::Result<Outage> {
    let mut runs = Vec::new();
    for variant in [Variant::Bare, Variant::Annotated] {
        if !stop.is_stopped() {
            runs.push(run(variant, &settings, stop, progress, board).await?);
        }
    }
    Ok(Outage { settings, runs, partial: stop.is_stopped() })
}

/// Runs one shop through the outage.
///
/// # Errors
/// When a piece cannot be set up.
pub async fn run(
    variant: Variant,
    settings: &Settings,
    stop: &Stop,
    progress: &Progress,
    board: &Board,
) -> anyhow::Result<Run> {
    let fates_before = fates::now();
    let vendor = Vendor::start(settings.vendor).await?;
    let service = Shop::stock(variant, pool::open().await?, vendor.url()).await?;
    let server = service.serve().await?;

    let [product, cart, health] = [(); 3].map(|()| Arc::new(Tally::default()));
    let at = |path: &str| format!("{}{path}", server.url());
    let page = |visitor: usize, turn: u64| format!("{}/product/{turn}?user={visitor}", server.url());
    let live = Live { variant, length: settings.load.length, product: &product, cart: &cart, pool: service.pool() };
    let look = Look {
        variant,
        length: settings.load.length,
        routes: [("/product", &product), ("/cart", &cart), ("/health", &health)],
        shop: &service,
        vendor: &vendor,
        before: &fates_before,
    };
    let mut idle = IdleLevels::default();
    let begun = Instant::now();
    let minute = async {
        tokio::join!(
            settings.load.run(page, &product, stop),
            settings.probe.run(at("/cart?user=7"), &cart, stop),
            settings.probe.run(at("/health"), &health, stop),
        )
    };
    tokio::select! {
        _ = minute => {}
        () = idle.follow(service.pool()) => {}
        () = progress.follow(&live) => {}
        () = board.follow(&look) => {}
    }
    let (took, partial) = (begun.elapsed(), stop.is_stopped());
    progress.done(&live, partial);

    server.stop().await;
    let vendor = vendor.stop().await;
    // Connections in drops of handlers just ended may still be on their way back; a pool does not outlive its shop.
    let _ = timeout(CLEAR_UP, service.pool().close()).await;
    let run = Run {
        variant,
        partial,
        took,
        routes: [("/product", product.figures()), ("/cart", cart.figures()), ("/health", health.figures())],
        vendor,
        asking_peak: service.asking().peak,
        idle,
        pool_timeouts: service.pool_timeouts(),
        functions: fates::since(&fates_before),
    };
    board.done(&run);
    Ok(run)
}
