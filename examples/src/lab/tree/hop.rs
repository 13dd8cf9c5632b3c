//! # One service of the tree
//!
//! What it does, and what is seen of it: it asks the next one, then its own database, and each of the two under an attribute.
//!
//! Invariants:
//! * a stay is noted when the handler's future is dropped, however it ends;
//! * the code is the same whether it was told what is left or not.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tokio::time::{Instant, sleep};
use watertight::integrations::http::ServerLayer;
use watertight::integrations::reqwest::{ClientMiddleware, failure};
use watertight::{Error, ErrorKind, Failure, deadline, resilient};

use super::BUDGET;
use super::database::{Database, Trouble};
use crate::get::client;
use crate::server::Server;

/// What a hop tells the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// What is left of the time.
    WhatIsLeft,
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "each hop for itself, 2 s each",
            Self::WhatIsLeft => "told what is left, 2 s in all",
        })
    }
}

/// The time a request spent at a hop.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Which.
    pub hop: &'static str,
    /// What its handler was given.
    pub left: Option<Duration>,
    /// When its handler began.
    pub from: Duration,
    /// When its handler was gone.
    pub to: Duration,
}

/// What all hops note.
#[derive(Debug)]
pub struct Log {
    start: Mutex<Instant>,
    begun: AtomicUsize,
    stays: Mutex<Vec<Stay>>,
}

impl Log {
    /// Empty, from now on.
    pub fn start() -> Self {
        Self { start: Mutex::new(Instant::now()), begun: AtomicUsize::new(0), stays: Mutex::new(Vec::new()) }
    }

    /// Counts time from now on.
    pub fn restart(&self) {
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Waits until every stay that has begun is over.
    pub async fn quiet(&self) {
        while self.stays().len() < self.begun.load(Relaxed) {
            sleep(Duration::from_millis(2)).await;
        }
    }

    /// Since the beginning.
    pub fn now(&self) -> Duration {
        self.start.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// By when they began.
    pub fn stays(&self) -> Vec<Stay> {
        let mut stays = self.stays.lock().unwrap_or_else(PoisonError::into_inner).clone();
        stays.sort_by_key(|stay| stay.from);
        stays
    }
}

/// A stay that has begun.
struct Staying<'a>(&'a Log, Stay);

impl Drop for Staying<'_> {
    fn drop(&mut self) {
        let stay = Stay { to: self.0.now(), ..self.1 };
        self.0.stays.lock().unwrap_or_else(PoisonError::into_inner).push(stay);
    }
}

#[derive(Clone)]
struct Hop {
    name: &'static str,
    next: Option<String>,
    client: ClientWithMiddleware,
    database: Database,
    log: Arc<Log>,
}

/// Serves a hop on a port of its own.
///
/// # Errors
/// When loopback has no port to give.
pub async fn serve(
    name: &'static str,
    next: Option<String>,
    told: Told,
    database: &Database,
    log: &Arc<Log>,
) -> std::io::Result<Server> {
    let client = ClientBuilder::new(client());
    let (client, layer) = match told {
        Told::Nothing => (client, None),
        Told::WhatIsLeft => (client.with(ClientMiddleware::new()), Some(ServerLayer::new().or(BUDGET))),
    };
    let hop = Hop { name, next, client: client.build(), database: database.clone(), log: Arc::clone(log) };
    let app = Router::new().route("/", get(handle)).with_state(hop);
    Server::start(layer.into_iter().fold(app, Router::layer)).await
}

async fn handle(State(hop): State<Hop>) -> Result<String, Error> {
    hop.log.begun.fetch_add(1, Relaxed);
    let from = hop.log.now();
    let _staying = Staying(&hop.log, Stay { hop: hop.name, left: deadline::remaining(), from, to: from });
    let below = match &hop.next {
        None => String::new(),
        Some(next) => match tree_next(&hop.client, next).await.map_err(failure) {
            Ok(below) => below,
            Err(Failure::Refused(error)) => return Err(error),
            Err(Failure::Failed(error)) => format!("(without the next hop: {error})"),
        },
    };
    let details = match tree_details(&hop.database).await {
        Ok(details) => details,
        // Its own two seconds were over: a page without details is better than none. A caller's are over: nobody reads it.
        Err(Trouble::Refused(error)) if error.kind() == ErrorKind::Deadline => return Err(error),
        Err(_) => "no details today".to_owned(),
    };
    Ok(format!("{}: {details}. {below}", hop.name))
}

/// It keeps its two seconds itself, so this need not be short.
#[resilient(timeout = "20s", bulkhead = "tree-next:16/queue:16")]
async fn tree_next(client: &ClientWithMiddleware, next: &str) -> Result<String, reqwest_middleware::Error> {
    Ok(client.get(next).send().await?.error_for_status()?.text().await?)
}

#[resilient(timeout = "2s", bulkhead = "tree-database:16/queue:16")]
async fn tree_details(database: &Database) -> Result<String, Trouble> {
    database.ask().await
}
