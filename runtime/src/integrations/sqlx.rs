//! Deadlines that travel into Postgres, with `sqlx`.
//!
//! ```no_run
//! use sqlx::PgPool;
//! use watertight::integrations::sqlx::acquire;
//! use watertight::resilient;
//!
//! #[resilient(timeout = "300ms", bulkhead = "pg-orders:8/queue:16")]
//! async fn close_order(pool: &PgPool, id: i64) -> Result<(), sqlx::Error> {
//!     let mut connection = acquire(pool).await?;
//!     let mut transaction = connection.begin().await?; // sqlx's own
//!     sqlx::query("UPDATE orders SET open = false WHERE id = $1").bind(id).execute(&mut *transaction).await?;
//!     transaction.commit().await
//! }
//! ```
//!
//! **Why not `pool.begin()`.** A transaction that owns its connection gives it back in its Drop, and sqlx does that in a task
//! that pings the server. A ping stands behind the statement that still runs: the place in the pool stays taken until
//! the server is done with work that nobody waits for. And if the future of `begin` itself is dropped, the driver
//! does not know yet that a transaction is open, rolls nothing back, and the next borrower is inside it
//! (<https://github.com/transact-rs/sqlx/issues/4393>). So [`acquire`] keeps the connection, lends it to sqlx's own
//! transaction, and decides itself what becomes of it.
//!
//! **How the server is told** that a future was dropped while its statement ran: by closing the connection, under
//! `client_connection_check_interval` (see `super::postgres`). The other ways were tried and are worse:
//!
//! - *A cancel request* needs the process number and the secret that the server gave; sqlx keeps both and shows neither.
//! - *`pg_cancel_backend` from a spare connection of the pool*: when it matters there is none. A pool is exhausted by just
//!   those statements that are to be cancelled, and the canceller waits behind them.
//! - *From a connection of its own*: works as fast, but costs a round trip per transaction to learn the process number, a
//!   connection beyond the pool's limit in the hour when the server has none left, and rights to signal.
//! - *Closing, without the interval*: stops nothing. The server looks at its socket when it writes.
//!
//! The price is a connection that has to be made anew. It is paid only by a statement that neither ended nor was ended by
//! its own `statement_timeout` within 30 ms of being dropped, so not by the common case, a single slow statement that ran
//! into its limit; how often is in [`cleanups`].
//!
//! **One round trip.** `BEGIN` and the settings are one query.
//!
//! **At a runtime's end** nothing is spawned that would run, so the connection is closed where it is dropped. Closing needs
//! no runtime and does not block.
//!
//! Invariants: see `super::postgres`; a connection whose beginning was interrupted is never used again; each cleanup
//! owns a connection, so there are no more of them than the pool has, and each takes at most 30 ms.

use std::fmt;
use std::io;

use ::sqlx::pool::PoolConnection;
use ::sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, Postgres, SqlSafeStr, Transaction};
use tokio::runtime;
use tokio::time::timeout;

pub use super::postgres::Cleanups;
use super::postgres::{Books, Entry, PATIENCE, in_time, is_stop, settings};
use crate::call::{Detail, Error, Failure};

static BOOKS: Books = Books::new();

/// What became of the connections that were given back, since the process began.
pub fn cleanups() -> Cleanups {
    BOOKS.read()
}

/// Awaits a connection of the pool, at most until the running attempt or the deadline around it ends.
///
/// Put a bulkhead in front, with at most as many slots as the pool has connections: otherwise it is the pool's queue
/// that calls wait in, and a slow query of one kind makes all kinds wait.
///
/// # Errors
///
/// With nothing left, and when it passes first, an error that [`failure`] gives back as [`Failure::Refused`]; otherwise
/// what sqlx says, its own `PoolTimedOut` included.
///
/// # Cancel safety
///
/// Dropping it leaves the pool's queue; a connection that was just being made or tested is closed.
pub async fn acquire(pool: &PgPool) -> Result<Connection, ::sqlx::Error> {
    let connection = in_time(pool.acquire()).await??;
    let needs_runtime = pool.options().get_min_connections() > 0;
    Ok(Connection { held: Some(Held { connection: Some(connection), needs_runtime }), is_beginning: false })
}

/// Tells the errors that say the time was up from all others, which it leaves as they are: those that [`acquire`] and
/// [`begin`](Connection::begin) refuse with, and a query that the server cancelled (`57014`) with nothing left, which
/// becomes an [`Error`] of kind [`Deadline`](crate::ErrorKind::Deadline) with sqlx's as its source.
///
/// To be asked where it is awaited, since what is left is what is left there.
///
/// ```
/// use watertight::Failure;
/// use watertight::integrations::sqlx::failure;
///
/// enum AppError { Refused(watertight::Error), Database(sqlx::Error) }
///
/// impl From<sqlx::Error> for AppError {
///     fn from(error: sqlx::Error) -> Self {
///         match failure(error) {
///             Failure::Refused(error) => Self::Refused(error),
///             Failure::Failed(error) => Self::Database(error),
///         }
///     }
/// }
/// # assert!(matches!(AppError::from(sqlx::Error::RowNotFound), AppError::Database(_)));
/// ```
pub fn failure(error: ::sqlx::Error) -> Failure<::sqlx::Error> {
    match error {
        ::sqlx::Error::Io(error) => match error.downcast::<Error>() {
            Ok(refused) => Failure::Refused(refused),
            Err(error) => Failure::Failed(::sqlx::Error::Io(error)),
        },
        ::sqlx::Error::Database(stopped) if is_stop(stopped.code().as_deref()) => {
            let source = Box::new(::sqlx::Error::Database(stopped));
            Failure::Refused(Error::new(None, Detail::Stopped).with_source(Some(source)))
        }
        other => Failure::Failed(other),
    }
}

/// So that a guarded function can return `sqlx::Error` itself: a refusal is an I/O error there, and [`failure`] finds it again.
impl From<Error> for ::sqlx::Error {
    fn from(error: Error) -> Self {
        Self::Io(io::Error::from(error))
    }
}

/// A connection that is given back when it has come to rest, and closed if it does not, so that the server stops.
#[must_use = "dropping it gives the connection back"]
pub struct Connection {
    /// Until it is dropped.
    held: Option<Held>,
    /// The server may have begun a transaction that sqlx does not know of.
    is_beginning: bool,
}

impl Connection {
    /// Begins a transaction, with what is left of the running attempt as its `statement_timeout`. One round trip.
    ///
    /// # Errors
    ///
    /// With nothing left, an error that [`failure`] gives back as [`Failure::Refused`]; otherwise what sqlx says.
    ///
    /// # Cancel safety
    ///
    /// Dropped half way, the connection is closed.
    pub async fn begin(&mut self) -> Result<Transaction<'_, Postgres>, ::sqlx::Error> {
        self.begin_with("BEGIN").await
    }

    /// The same with a start of one's own: `begin_with("BEGIN ISOLATION LEVEL SERIALIZABLE")`.
    ///
    /// The settings are a query, so a `SET TRANSACTION` in the transaction would come too late for its isolation level;
    /// this is the place to name it.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    pub async fn begin_with(&mut self, start: impl SqlSafeStr) -> Result<Transaction<'_, Postgres>, ::sqlx::Error> {
        let settings = settings()?;
        let start = format!("{}; {settings}", start.into_sql_str().as_str());
        let Some(connection) = self.held.as_mut().and_then(|held| held.connection.as_mut()) else {
            unreachable!("watertight: a connection that was given back")
        };
        self.is_beginning = true;
        // Safe, since the start is by its own type and the settings are ours.
        let transaction = connection.begin_with(AssertSqlSafe(start)).await?;
        self.is_beginning = false;
        Ok(transaction)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let Some(held) = self.held.take() else { return };
        let entry = BOOKS.begin();
        // A transaction that was forgotten rather than dropped would be open for the next borrower.
        if self.is_beginning || held.is_in_transaction() {
            return;
        }
        if let Ok(runtime) = runtime::Handle::try_current() {
            runtime.spawn(held.come_to_rest(entry));
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("is_beginning", &self.is_beginning).finish_non_exhaustive()
    }
}

/// A connection of the pool; dropped, it is closed.
struct Held {
    /// Until it is closed or goes back.
    connection: Option<PoolConnection<Postgres>>,
    /// The pool replaces closed connections, by spawning.
    needs_runtime: bool,
}

impl Held {
    fn is_in_transaction(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_in_transaction())
    }

    async fn come_to_rest(mut self, mut entry: Entry) {
        let Some(connection) = &mut self.connection else { return };
        if timeout(PATIENCE, is_at_rest(connection)).await == Ok(true) {
            entry.is_clean();
            drop(self.connection.take());
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.needs_runtime && runtime::Handle::try_current().is_err() {
            // sqlx would panic. The process has no runtime left, or soon no thread; the server has `statement_timeout`.
            std::mem::forget(connection);
        } else {
            // The socket is closed here, the place in the pool free at once.
            drop(connection.detach());
        }
    }
}

/// Whether a connection has nothing left to answer. The first error it reports is that of the statement whose future was
/// dropped; the answer that follows is then that of the rollback.
async fn is_at_rest(connection: &mut PgConnection) -> bool {
    connection.ping().await.is_ok() || connection.ping().await.is_ok()
}
