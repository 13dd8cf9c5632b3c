//! One service of the tree: what it does, and what is seen of it.
//!
//! Invariant: a stay is noted when the handler's future is dropped, however it ends.

use std::fmt;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tokio::net::TcpListener;
use tokio::time::Instant;
use watertight::integrations::http::ServerLayer;
use watertight::integrations::reqwest::{ClientMiddleware, failure};
use watertight::{Error, ErrorKind, Failure, deadline, resilient};

use crate::database::{Database, Trouble};

/// What a hop tells the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Nothing,
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
pub(crate) struct Stay {
    pub(crate) hop: &'static str,
    /// What its handler was given.
    pub(crate) left: Option<Duration>,
    pub(crate) from: Duration,
    pub(crate) to: Duration,
}

/// What all hops note.
pub(crate) struct Log {
    start: Instant,
    stays: Mutex<Vec<Stay>>,
}

impl Log {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), stays: Mutex::new(Vec::new()) }
    }

    /// By when they began.
    pub(crate) fn stays(&self) -> Vec<Stay> {
        let mut stays = self.stays.lock().unwrap_or_else(PoisonError::into_inner).clone();
        stays.sort_by_key(|stay| stay.from);
        stays
    }
}

/// A stay that has begun.
struct Staying<'a>(&'a Log, Stay);

impl Drop for Staying<'_> {
    fn drop(&mut self) {
        let stay = Stay { to: self.0.start.elapsed(), ..self.1 };
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

/// Serves a hop on a port of its own; gives its address.
pub(crate) async fn serve(
    name: &'static str,
    next: Option<String>,
    told: Told,
    database: &Database,
    log: &Arc<Log>,
) -> anyhow::Result<String> {
    let client = ClientBuilder::new(reqwest::Client::new());
    let (client, layer) = match told {
        Told::Nothing => (client, None),
        Told::WhatIsLeft => (client.with(ClientMiddleware::new()), Some(ServerLayer::new().or(Duration::from_secs(2)))),
    };
    let hop = Hop { name, next, client: client.build(), database: database.clone(), log: Arc::clone(log) };
    let app = Router::new().route("/", get(handle)).with_state(hop);
    let app = layer.into_iter().fold(app, Router::layer);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move { axum::serve(listener, app).await });
    Ok(format!("http://{address}/"))
}

async fn handle(State(hop): State<Hop>) -> Result<String, Error> {
    let from = hop.log.start.elapsed();
    let _staying = Staying(&hop.log, Stay { hop: hop.name, left: deadline::remaining(), from, to: from });
    let below = match &hop.next {
        None => String::new(),
        Some(next) => match ask(&hop.client, next).await.map_err(failure) {
            Ok(below) => below,
            Err(Failure::Refused(error)) => return Err(error),
            Err(Failure::Failed(error)) => format!("(without the next hop: {error})"),
        },
    };
    let details = match details(&hop.database).await {
        Ok(details) => details,
        // Its own two seconds were over: a page without details is better than none. A caller's are over: nobody reads it.
        Err(Trouble::Refused(error)) if error.kind() == ErrorKind::Deadline => return Err(error),
        Err(_) => "no details today".to_owned(),
    };
    Ok(format!("{}: {details}. {below}", hop.name))
}

/// It keeps its two seconds itself, so this need not be short.
#[resilient(timeout = "20s", bulkhead = "tree-next:8/queue:8")]
async fn ask(client: &ClientWithMiddleware, next: &str) -> Result<String, reqwest_middleware::Error> {
    Ok(client.get(next).send().await?.error_for_status()?.text().await?)
}

#[resilient(timeout = "2s", bulkhead = "tree-database:8/queue:8")]
async fn details(database: &Database) -> Result<String, Trouble> {
    database.ask().await
}
