//! Deadlines that travel into Postgres, with `tokio-postgres` and any pool of its clients.
//!
//! ```no_run
//! # #[derive(Debug)] struct AppError;
//! # impl From<watertight::Error> for AppError { fn from(_: watertight::Error) -> Self { Self } }
//! # impl<E> From<watertight::Failure<E>> for AppError { fn from(_: watertight::Failure<E>) -> Self { Self } }
//! # impl From<tokio_postgres::Error> for AppError { fn from(_: tokio_postgres::Error) -> Self { Self } }
//! # struct Pool;
//! # impl Pool { async fn get(&self) -> Result<Box<tokio_postgres::Client>, tokio_postgres::Error> { todo!() } }
//! use watertight::integrations::tokio_postgres::acquire;
//! use watertight::resilient;
//!
//! #[resilient(timeout = "300ms", bulkhead = "pg-orders:8/queue:16")]
//! async fn close_order(pool: &Pool, id: i64) -> Result<(), AppError> {
//!     let mut connection = acquire(pool.get()).await?;
//!     let transaction = connection.begin().await?; // the driver's own
//!     transaction.execute("UPDATE orders SET open = false WHERE id = $1", &[&id]).await?;
//!     transaction.commit().await?;
//!     Ok(())
//! }
//! ```
//!
//! **The handle is owned.** The driver's transaction borrows its client, and a pool's handle goes back to the pool the
//! moment it is dropped, also while a statement of a dropped future still runs on it: the next borrower's first query then
//! stands behind it. So [`acquire`] takes the handle over, whatever the pool is called: anything that derefs to a
//! [`Client`], or to something that does (`deadpool` and `bb8` both do, and so does `Box<Client>`), and lets go of it
//! when the connection has come to rest.
//!
//! **One round trip.** The driver's `START TRANSACTION` is its own and takes no second statement. But it pipelines: a
//! request is on its way from its first poll on. So the settings are sent behind the start and their answer is not waited
//! for; they are in force before whatever the caller sends next. If the server refuses them, which it does not unless it is
//! something else than Postgres, the transaction has failed and the next statement says so.
//!
//! **How the server is told** that a future was dropped while its statement ran: by the driver's cancel request, from a
//! connection of its own. Such a request is not acknowledged: `cancel_query` returns when it is sent. If the statement ends
//! by itself in that moment, the request can hit the next one, which would be another borrower's. (libpq waits until the
//! server hangs up, which says that the signal is out; the driver has no such call.) So a connection that was cancelled
//! is closed by the server at our request and never used again, and the pool sees that it is closed. Statements that
//! the server's own timeout ends keep their connection, see `super::postgres`.
//!
//! Closing alone would not do here: the socket is owned by the task that drives the connection, and that waits for the
//! answer before it closes.
//!
//! **At a runtime's end** nothing is spawned that would run, so the handle goes back at once, with the driver's rollback
//! queued before anything that is sent later. The connections of that runtime end with it, and the server notices by
//! `client_connection_check_interval`.
//!
//! Invariants: see `super::postgres`; a cancel request is only ever sent for a connection that is closed afterwards;
//! each cleanup owns a connection, so there are no more of them than connections, and each takes at most six seconds.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

use ::tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use ::tokio_postgres::{CancelToken, Client, NoTls, Socket, Transaction, TransactionBuilder};
use tokio::runtime;
use tokio::time::timeout;

pub use super::postgres::Cleanups;
use super::postgres::{Books, Entry, PATIENCE, in_time, is_stop, settings};
use crate::call::{Detail, Error, Failure};

/// How long a cancel request may take to be sent.
const SENDING: Duration = Duration::from_secs(1);
/// How long the server may take to hang up.
const CLOSING: Duration = Duration::from_secs(5);

static BOOKS: Books = Books::new();

/// What became of the connections that were given back, since the process began.
pub fn cleanups() -> Cleanups {
    BOOKS.read()
}

/// Awaits a client of a pool, at most until the running attempt or the deadline around it ends.
///
/// Put a bulkhead in front, with at most as many slots as the pool has clients: otherwise it is the pool's queue that calls
/// wait in, and a slow query of one kind makes all kinds wait.
///
/// # Errors
///
/// [`Failure::Refused`] with an error of kind [`Deadline`](crate::ErrorKind::Deadline) with nothing left, and when it
/// passes first; [`Failure::Failed`] with what the pool says.
///
/// # Cancel safety
///
/// Dropping it drops the pool's future.
pub async fn acquire<C, M, E>(handle: impl Future<Output = Result<C, E>>) -> Result<Connection<C, M>, Failure<E>>
where
    C: Handle<M>,
    M: 'static,
{
    let handle = in_time(handle).await.map_err(Failure::Refused)?.map_err(Failure::Failed)?;
    Ok(Connection { held: Some(Held { handle, cancel: None, way: PhantomData }) })
}

/// Tells an error of the driver that says the time was up from all others, which it leaves as they are: a query that the
/// server cancelled (`57014`) with nothing left becomes an [`Error`] of kind [`Deadline`](crate::ErrorKind::Deadline), with the
/// driver's as its source.
///
/// To be asked where it is awaited, since what is left is what is left there.
pub fn failure(error: ::tokio_postgres::Error) -> Failure<::tokio_postgres::Error> {
    if is_stop(error.code().map(::tokio_postgres::error::SqlState::code)) {
        return Failure::Refused(Error::new(None, Detail::Stopped).with_source(Some(Box::new(error))));
    }
    Failure::Failed(error)
}

/// A client, or what a pool hands out in place of one. `M` says by how many steps it leads to the client and is always
/// inferred.
pub trait Handle<M: 'static>: Send + 'static {
    /// The client.
    fn client(&self) -> &Client;
    /// The client, to begin a transaction.
    fn client_mut(&mut self) -> &mut Client;
}

/// Derefs to the client.
#[derive(Debug)]
pub enum Direct {}

/// Derefs to something that derefs to the client.
#[derive(Debug)]
pub enum Wrapped {}

impl<C: DerefMut<Target = Client> + Send + 'static> Handle<Direct> for C {
    fn client(&self) -> &Client {
        self
    }

    fn client_mut(&mut self) -> &mut Client {
        self
    }
}

impl<C: DerefMut<Target: DerefMut<Target = Client>> + Send + 'static> Handle<Wrapped> for C {
    fn client(&self) -> &Client {
        self
    }

    fn client_mut(&mut self) -> &mut Client {
        self
    }
}

type Cancelled = Pin<Box<dyn Future<Output = Result<(), ::tokio_postgres::Error>> + Send>>;
type Cancel = Box<dyn FnOnce(CancelToken) -> Cancelled + Send + Sync>;

struct Held<C, M> {
    handle: C,
    /// How a cancel request is sent; without encryption if it does not say.
    cancel: Option<Cancel>,
    way: PhantomData<fn() -> M>,
}

/// A client that is given back when it has come to rest, and whose server is told to stop if it does not.
///
/// It derefs to the pool's handle. A statement made on that, outside of a transaction, is cancelled when its future is
/// dropped, but carries no `statement_timeout`.
#[must_use = "dropping it gives the client back"]
pub struct Connection<C: Handle<M>, M: 'static> {
    /// Until it is dropped.
    held: Option<Held<C, M>>,
}

impl<C: Handle<M>, M: 'static> Connection<C, M> {
    /// Sends cancel requests over TLS. Without it they go unencrypted, as those of libpq did until version 17: they carry
    /// a secret of this connection and nothing else. Servers behind a proxy may want TLS here too.
    pub fn cancel_over<T>(mut self, tls: T) -> Self
    where
        T: MakeTlsConnect<Socket> + Send + Sync + 'static,
        T::Stream: Send,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        self.held_mut().cancel = Some(Box::new(move |token| Box::pin(async move { token.cancel_query(tls).await })));
        self
    }

    /// Begins a transaction, with what is left of the running attempt as its `statement_timeout`. One round trip.
    ///
    /// # Errors
    ///
    /// [`Failure::Refused`] with nothing left; [`Failure::Failed`] with what the server or the driver says.
    ///
    /// # Cancel safety
    ///
    /// Dropped half way, the transaction is rolled back before the client goes back to its pool.
    pub async fn begin(&mut self) -> Result<Transaction<'_>, Failure<::tokio_postgres::Error>> {
        self.begin_as(|start| start).await
    }

    /// The same for a transaction of another kind: `begin_as(|start| start.read_only(true))`.
    ///
    /// The settings are a query, so a `SET TRANSACTION` in the transaction would come too late for its isolation level;
    /// this is the place to name it.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin).
    pub async fn begin_as<F>(&mut self, kind: F) -> Result<Transaction<'_>, Failure<::tokio_postgres::Error>>
    where
        F: FnOnce(TransactionBuilder<'_>) -> TransactionBuilder<'_>,
    {
        let settings = settings().map_err(Failure::Refused)?;
        let client = self.held_mut().handle.client_mut();
        let transaction = kind(client.build_transaction()).start().await.map_err(failure)?;
        send(transaction.batch_execute(&settings));
        Ok(transaction)
    }

    fn held_mut(&mut self) -> &mut Held<C, M> {
        match &mut self.held {
            Some(held) => held,
            None => unreachable!("watertight: a connection that was given back"),
        }
    }
}

impl<C: Handle<M>, M: 'static> Deref for Connection<C, M> {
    type Target = C;

    fn deref(&self) -> &C {
        match &self.held {
            Some(held) => &held.handle,
            None => unreachable!("watertight: a connection that was given back"),
        }
    }
}

impl<C: Handle<M>, M: 'static> Drop for Connection<C, M> {
    fn drop(&mut self) {
        if let (Some(held), Ok(runtime)) = (self.held.take(), runtime::Handle::try_current()) {
            runtime.spawn(held.come_to_rest(BOOKS.begin()));
        }
    }
}

impl<C: Handle<M>, M: 'static> fmt::Debug for Connection<C, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("is_closed", &self.client().is_closed()).finish_non_exhaustive()
    }
}

impl<C: Handle<M>, M: 'static> Held<C, M> {
    async fn come_to_rest(self, mut entry: Entry) {
        let client = self.handle.client();
        // Behind whatever still runs, and behind the rollback that a dropped transaction has queued.
        let mut rest = pin!(client.check_connection());
        if let Ok(answered) = timeout(PATIENCE, &mut rest).await {
            if answered.is_ok() {
                entry.is_clean();
            }
            return;
        }
        let token = client.cancel_token();
        let cancelled = match self.cancel {
            Some(cancel) => cancel(token),
            None => Box::pin(async move { token.cancel_query(NoTls).await }),
        };
        // Not told, or not heard: `statement_timeout` ends the statement all the same, if later.
        let _ = timeout(SENDING, cancelled).await;
        let closed = async {
            let _ = rest.await;
            let _ = client.batch_execute("ROLLBACK; SELECT pg_terminate_backend(pg_backend_pid())").await;
            // An error as soon as the driver has seen the end, and so will the pool.
            while client.check_connection().await.is_ok() {}
        };
        let _ = timeout(CLOSING, closed).await;
    }
}

/// Puts a request on its way. The driver queues it at the first poll, and the answer to a dropped one is read and forgotten.
fn send<F: Future>(request: F) {
    let _ = pin!(request).poll(&mut Context::from_waker(Waker::noop()));
}
