//! # The pool, over either database
//!
//! SQLite by default, because it needs no installing; Postgres given a URL, because some readers will not believe a figure
//! from an embedded engine. Both through sqlx's own pool with the same ten connections and the same two seconds to get one,
//! so an experiment does not know which it runs over.
//!
//! Invariants:
//! * all connections exist before [`Pool::open`] returns;
//! * the query is trivial: what is slow here is slow because it waits for a connection.

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgPool, PgPoolOptions};
use sqlx::sqlite::SqlitePool;
use sqlx::{Postgres, Sqlite};

use crate::pool::{ACQUIRE_LIMIT, SIZE, open};

/// Ten connections.
#[derive(Clone, Debug)]
pub enum Pool {
    /// To a database in memory.
    Sqlite(SqlitePool),
    /// To a server.
    Postgres(PgPool),
}

/// One of them.
#[derive(Debug)]
pub enum Held {
    /// To a database in memory.
    Sqlite(PoolConnection<Sqlite>),
    /// To a server.
    Postgres(PoolConnection<Postgres>),
}

impl Pool {
    /// Opens all connections: to the server at `url`, else to a fresh database in memory.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn open(url: Option<&str>) -> sqlx::Result<Self> {
        let Some(url) = url else { return Ok(Self::Sqlite(open().await?)) };
        let options = PgPoolOptions::new().max_connections(SIZE).min_connections(SIZE).acquire_timeout(ACQUIRE_LIMIT);
        Ok(Self::Postgres(options.connect(url).await?))
    }

    /// Waits for a connection, two seconds at most.
    ///
    /// # Errors
    /// When there is none in time.
    pub async fn acquire(&self) -> sqlx::Result<Held> {
        Ok(match self {
            Self::Sqlite(pool) => Held::Sqlite(pool.acquire().await?),
            Self::Postgres(pool) => Held::Postgres(pool.acquire().await?),
        })
    }

    /// Connections that nobody holds.
    pub fn idle(&self) -> usize {
        match self {
            Self::Sqlite(pool) => pool.num_idle(),
            Self::Postgres(pool) => pool.num_idle(),
        }
    }

    /// Closes them.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Held {
    /// The trivial query.
    ///
    /// # Errors
    /// The database's.
    pub async fn query(&mut self) -> sqlx::Result<i64> {
        // A literal of 64 bits in both dialects.
        const QUERY: &str = "select cast(1 as bigint)";
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(QUERY).fetch_one(&mut **connection).await,
            Self::Postgres(connection) => sqlx::query_scalar(QUERY).fetch_one(&mut **connection).await,
        }
    }
}
