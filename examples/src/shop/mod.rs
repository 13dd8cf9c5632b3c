//! # The shop
//!
//! A small service built the way services are: one pool for everything, one HTTP client for the vendor, handlers that
//! read like what they do. It holds a single fault, in [`recs`], and that fault is one most reviews would let through.
//! All other files here are innocent, which is the point: when the vendor hangs it is *they* that fail.
//!
//! ```text
//!   /product/{id}   product through the pool, then recs: pool connection held during the vendor call
//!   /cart           one trivial query through the pool
//!   /health         nothing
//! ```
//!
//! Invariants:
//! * both variants run this code; they part in [`recs`], at one line;
//! * the client that calls the vendor has no limit of its own.

mod data;
mod error;
pub mod recs;
mod routes;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::Value;
use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePool;

use crate::get::client;
use crate::meter::{Counts, Meter};
use crate::server::Server;

pub use error::AppError;

/// Which of the two recommendations functions the product page calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The one with nothing above it.
    Bare,
    /// The one under the annotation.
    Annotated,
}

impl Variant {
    /// As printed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Annotated => "annotated",
        }
    }
}

/// What every handler shares.
#[derive(Debug)]
pub struct Shop {
    variant: Variant,
    pool: SqlitePool,
    vendor: String,
    http: reqwest::Client,
    pool_timeouts: AtomicU64,
    asking: Arc<Meter>,
}

impl Shop {
    /// Stocks the database behind `pool` and prepares to call the vendor at `vendor`.
    ///
    /// # Errors
    /// When the database refuses the stock.
    pub async fn stock(variant: Variant, pool: SqlitePool, vendor: String) -> sqlx::Result<Arc<Self>> {
        data::stock(&pool).await?;
        let (pool_timeouts, asking) = (AtomicU64::new(0), Arc::default());
        Ok(Arc::new(Self { variant, pool, vendor, http: client(), pool_timeouts, asking }))
    }

    /// Opens the doors.
    ///
    /// # Errors
    /// When loopback has no port to give.
    pub async fn serve(self: &Arc<Self>) -> std::io::Result<Server> {
        Server::start(routes::router(Arc::clone(self))).await
    }

    /// The pool, to look at.
    pub fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    /// Waits for a connection that ended without one.
    pub fn pool_timeouts(&self) -> u64 {
        self.pool_timeouts.load(Relaxed)
    }

    /// Recommendations bodies that ran: counted inside, where the guard's promise can be checked.
    pub fn asking(&self) -> Counts {
        self.asking.counts()
    }

    async fn connection(&self) -> Result<PoolConnection<Sqlite>, AppError> {
        self.pool.acquire().await.map_err(|error| {
            if matches!(error, sqlx::Error::PoolTimedOut) {
                self.pool_timeouts.fetch_add(1, Relaxed);
            }
            AppError::from(error)
        })
    }

    async fn ask_vendor(&self, viewed: &[i64]) -> Result<Vec<Value>, AppError> {
        let viewed = viewed.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let url = format!("{}?viewed={viewed}", self.vendor);
        Ok(self.http.get(url).send().await?.error_for_status()?.json().await?)
    }
}
