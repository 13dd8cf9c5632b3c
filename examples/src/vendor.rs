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
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
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
    /// As services do that are well on the whole: 90 % after 150 ms, 8 % after 800 ms, 2 % after 6 s.
    Mixed,
    /// At once, with an error.
    Fail,
    /// After this long, but only `at_once` at a time: who comes beyond waits in a line, and is worked for in his turn
    /// even if he has left.
    Busy {
        /// How many it works for.
        at_once: usize,
        /// How long each takes.
        each: Duration,
    },
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
    /// Connections closed again, before the vendor itself closed.
    pub closed: u64,
    /// Of those, the ones that the other side closed while it had a request under way.
    pub aborted: u64,
}

#[derive(Debug)]
struct Books {
    behaviour: RwLock<Behaviour>,
    requests: Arc<Meter>,
    workers: Workers,
}

/// Whom a busy vendor works for, and who waits in line.
#[derive(Debug)]
struct Workers {
    free: Semaphore,
    open: AtomicUsize,
}

impl Vendor {
    /// Opens shop on loopback.
    ///
    /// # Errors
    /// When loopback has no port to give.
    pub async fn start(behaviour: Behaviour) -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), behaviour, Router::new()).await
    }

    /// Opens shop at an address, with further routes beside its own.
    ///
    /// # Errors
    /// When the address is taken, or not a loopback one.
    pub async fn start_at(address: SocketAddr, behaviour: Behaviour, beside: Router) -> io::Result<Self> {
        let workers = Workers { free: Semaphore::new(0), open: AtomicUsize::new(0) };
        let books = Arc::new(Books { behaviour: RwLock::new(behaviour), requests: Arc::default(), workers });
        let router = Router::new().route("/recommendations", get(recommend)).with_state(Arc::clone(&books));
        Ok(Self { server: Server::start_at(address, router.merge(beside)).await?, books })
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
            closed: connections.entered - connections.inside.min(connections.entered),
            // A connection carries one request at a time, and a handler is dropped before its answer for no other reason.
            aborted: requests.unanswered,
        }
    }

    /// Closes, and hands over the finished books.
    pub async fn stop(self) -> VendorFigures {
        let before = self.figures();
        let Self { server, books } = self;
        books.workers.free.close();
        server.stop().await;
        let requests = books.requests.counts();
        VendorFigures {
            requests: requests.entered,
            peak: requests.peak,
            unanswered: requests.unanswered,
            connections: before.connections,
            closed: before.closed,
            aborted: before.aborted,
        }
    }
}

/// How long the request of this number takes at a vendor of mixed speed: every hundred requests hold the exact shares.
fn mixed(number: u64) -> Duration {
    // 37 has no factor in common with 100, so the slow ones are strewn and not in a row.
    match number.wrapping_mul(37) % 100 {
        0..90 => Duration::from_millis(150),
        90..98 => Duration::from_millis(800),
        _ => Duration::from_secs(6),
    }
}

impl Workers {
    /// Works for one, when it is its turn; ends early when the vendor closes.
    async fn serve(&self, at_once: usize, each: Duration) {
        let opened = self.open.fetch_max(at_once, Relaxed);
        self.free.add_permits(at_once.saturating_sub(opened));
        if let Ok(_worker) = self.free.acquire().await {
            sleep(each).await;
        }
    }
}

async fn recommend(State(books): State<Arc<Books>>) -> Result<Json<Value>, StatusCode> {
    let visit = books.requests.enter();
    let behaviour = *books.behaviour.read().unwrap_or_else(PoisonError::into_inner);
    match behaviour {
        Behaviour::After(wait) => sleep(wait).await,
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Mixed => sleep(mixed(books.requests.counts().entered)).await,
        Behaviour::Busy { at_once, each } => {
            // In a task of its own: this vendor does not notice that a caller has left.
            let books = Arc::clone(&books);
            let _ = tokio::spawn(async move { books.workers.serve(at_once, each).await }).await;
        }
        Behaviour::Fail => {
            visit.answered();
            return Err(StatusCode::SERVICE_UNAVAILABLE);
        }
    }
    visit.answered();
    Ok(Json(json!([{ "product": 7, "why": "others looked at it" }, { "product": 21, "why": "goes with it" }])))
}

#[cfg(test)]
mod tests {
    use super::mixed;

    #[test]
    fn a_mixed_vendor_keeps_its_shares_exactly() {
        let hundred: Vec<u128> = (1..=100).map(|number| mixed(number).as_millis()).collect();
        let count = |millis| hundred.iter().filter(|&&took| took == millis).count();
        assert_eq!((count(150), count(800), count(6_000)), (90, 8, 2));
    }
}
