//! # The dependency
//!
//! The vendor keeps its own books. From the shop's side a call that was cut off and a call that never left look alike;
//! what the vendor had to carry is known to the vendor alone: how many requests, over how many connections, how many at
//! once, how many of them for a caller who had already gone.
//!
//! Its failure of choice is the worst one, and the one that monitoring sees last: the connection is accepted, the
//! request is read, and nothing comes back. Nothing is refused and nothing is reset, so nobody on the other side has an
//! error to react to.
//!
//! Invariants:
//! * behaviour may change while running; a request keeps the one it met;
//! * a request whose caller goes away is dropped at once and counted as unanswered.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::meter::Meter;
use crate::server::Server;

/// How the vendor answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// After this long.
    After(Duration),
    /// Never.
    Hang,
}

/// A running vendor.
#[derive(Debug)]
pub struct Vendor {
    server: Server,
    books: Arc<Books>,
}

/// What the vendor saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VendorFigures {
    /// Requests received.
    pub requests: u64,
    /// Most requests under way at once.
    pub peak: u64,
    /// Requests whose caller left before an answer, or was still waiting at the end.
    pub unanswered: u64,
    /// Connections opened.
    pub connections: u64,
}

#[derive(Debug)]
struct Books {
    behaviour: RwLock<Behaviour>,
    requests: Arc<Meter>,
}

impl Vendor {
    /// Opens shop on loopback.
    ///
    /// # Errors
    /// When loopback has no port to give.
    pub async fn start(behaviour: Behaviour) -> io::Result<Self> {
        let books = Arc::new(Books { behaviour: RwLock::new(behaviour), requests: Arc::default() });
        let router = Router::new().route("/recommendations", get(recommend)).with_state(Arc::clone(&books));
        Ok(Self { server: Server::start(router).await?, books })
    }

    /// Where its recommendations are.
    pub fn url(&self) -> String {
        format!("{}/recommendations", self.server.url())
    }

    /// From the next request on.
    pub fn behave(&self, behaviour: Behaviour) {
        *self.books.behaviour.write().unwrap_or_else(PoisonError::into_inner) = behaviour;
    }

    /// The books so far.
    pub fn figures(&self) -> VendorFigures {
        let (requests, connections) = (self.books.requests.counts(), self.server.connections());
        VendorFigures {
            requests: requests.entered,
            peak: requests.peak,
            unanswered: requests.unanswered,
            connections: connections.entered,
        }
    }

    /// Closes, and hands over the finished books.
    pub async fn stop(self) -> VendorFigures {
        let Self { server, books } = self;
        let connections = server.connections().entered;
        server.stop().await;
        let requests = books.requests.counts();
        VendorFigures { requests: requests.entered, peak: requests.peak, unanswered: requests.unanswered, connections }
    }
}

async fn recommend(State(books): State<Arc<Books>>) -> Json<Value> {
    let visit = books.requests.enter();
    let behaviour = *books.behaviour.read().unwrap_or_else(PoisonError::into_inner);
    match behaviour {
        Behaviour::After(wait) => sleep(wait).await,
        Behaviour::Hang => std::future::pending().await,
    }
    visit.answered();
    Json(json!([{ "product": 7, "why": "others looked at it" }, { "product": 21, "why": "goes with it" }]))
}
