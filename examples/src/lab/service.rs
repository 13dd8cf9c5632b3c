//! # The service
//!
//! Three routes, chosen by what they need: `/healthy` touches nothing, `/db` makes one trivial query through the pool, and
//! `/work` does what the experiment is about. As a rule that is the everyday fault: take a connection, ask the vendor while
//! holding it, give it back.
//!
//! What the work is, bare or under which attribute, is handed in as a function. All else is the same code.
//!
//! Invariants:
//! * the client that calls the vendor has no limit of its own;
//! * who waits for a connection is counted, and stops being counted however the wait ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use tokio::time::Instant;

use super::frame::Work;
use super::pool::{Held, Pool};
use crate::get::client;
use crate::meter::{Counts, Meter};
use crate::server::Server;
use crate::shop::AppError;
use crate::tally::{Figures, Tally};

/// How a piece of work ended.
pub type Done = Result<(), AppError>;

/// What a piece of work can use.
#[derive(Debug)]
pub struct Desk {
    pool: Pool,
    vendor: String,
    http: reqwest::Client,
    waiting: Arc<Meter>,
    asking: Arc<Meter>,
    pool_timeouts: AtomicU64,
    holding: Tally,
}

/// A pooled connection in use by a piece of work; how long is noted when it ends, however it ends.
#[derive(Debug)]
pub struct Holding<'desk> {
    held: Held,
    since: Instant,
    noted: &'desk Tally,
}

impl Drop for Holding<'_> {
    fn drop(&mut self) {
        self.noted.record(true, self.since.elapsed());
    }
}

impl Desk {
    /// Over a pool, with a vendor at a URL.
    pub fn new(pool: Pool, vendor: String) -> Arc<Self> {
        Arc::new(Self {
            pool,
            vendor,
            http: client(),
            waiting: Arc::default(),
            asking: Arc::default(),
            pool_timeouts: AtomicU64::new(0),
            holding: Tally::default(),
        })
    }

    /// The usual body: a connection, a query, and the vendor while holding it.
    ///
    /// # Errors
    /// The database's or the vendor's.
    pub async fn work(&self) -> Done {
        let _holding = self.hold().await?;
        self.ask().await // the connection is still held here
    }

    /// A connection, used once and held on to.
    ///
    /// # Errors
    /// The database's.
    pub async fn hold(&self) -> Result<Holding<'_>, AppError> {
        let held = self.connection().await?;
        let mut holding = Holding { held, since: Instant::now(), noted: &self.holding };
        holding.held.query().await?;
        Ok(holding)
    }

    /// The vendor alone.
    ///
    /// # Errors
    /// The vendor's.
    pub async fn ask(&self) -> Done {
        let visit = self.asking.enter();
        self.http.get(&self.vendor).send().await?.error_for_status()?.bytes().await?;
        visit.answered();
        Ok(())
    }

    /// A connection, two seconds at most.
    ///
    /// # Errors
    /// When there is none in time.
    pub async fn connection(&self) -> Result<Held, AppError> {
        let _waiting = self.waiting.enter();
        self.pool.acquire().await.map_err(|error| {
            if matches!(error, sqlx::Error::PoolTimedOut) {
                self.pool_timeouts.fetch_add(1, Relaxed);
            }
            AppError::from(error)
        })
    }

    /// The pool, to look at.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Who waits for a connection.
    pub fn waiting(&self) -> Counts {
        self.waiting.counts()
    }

    /// Who waits for the vendor, counted on this side.
    pub fn asking(&self) -> Counts {
        self.asking.counts()
    }

    /// How long pieces of work held a connection.
    pub fn holding(&self) -> Figures {
        self.holding.figures()
    }

    /// Waits for a connection that ended without one.
    pub fn pool_timeouts(&self) -> u64 {
        self.pool_timeouts.load(Relaxed)
    }
}

struct Routes {
    desk: Arc<Desk>,
    work: Work,
    detached: bool,
}

/// Opens the doors. `detached` work runs on when its caller has left, in a task of its own.
///
/// # Errors
/// When loopback has no port to give.
pub async fn serve(desk: &Arc<Desk>, work: Work, detached: bool) -> std::io::Result<Server> {
    serve_at((Ipv4Addr::LOCALHOST, 0).into(), desk, work, detached).await
}

/// Opens the doors at an address.
///
/// # Errors
/// When the address is taken, or not a loopback one.
pub async fn serve_at(address: SocketAddr, desk: &Arc<Desk>, work: Work, detached: bool) -> std::io::Result<Server> {
    let routes = Arc::new(Routes { desk: Arc::clone(desk), work, detached });
    let app = Router::new()
        .route("/healthy", get(|| async { "up" }))
        .route("/db", get(database))
        .route("/work", get(working))
        .with_state(routes);
    Server::start_at(address, app).await
}

async fn database(State(routes): State<Arc<Routes>>) -> Done {
    routes.desk.connection().await?.query().await?;
    Ok(())
}

async fn working(State(routes): State<Arc<Routes>>) -> Done {
    if !routes.detached {
        return (routes.work)(&routes.desk).await;
    }
    let task = tokio::spawn(async move { (routes.work)(&routes.desk).await });
    task.await.unwrap_or(Ok(()))
}
