//! # Looking at the other routes
//!
//! The load says how the hurt route is doing. Whether the hurt spreads is asked by someone who needs nothing from it: a
//! probe that calls a route at a fixed beat, whatever became of the calls before. A probe that waited for its last
//! answer would fall silent during the outage and report the few good moments in between.
//!
//! Invariants:
//! * one call per beat, however many are still open;
//! * a call not answered well within `limit` has failed;
//! * over after `length + limit` at the latest, at once when stopped.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, interval};

use crate::get::{client, get};
use crate::stop::Stop;
use crate::tally::Tally;

/// A steady beat of calls.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The beat.
    pub every: Duration,
    /// How long an answer may take.
    pub limit: Duration,
    /// For how long calls are begun.
    pub length: Duration,
}

impl Probe {
    /// Probes `url`.
    pub async fn run(&self, url: String, tally: &Arc<Tally>, stop: &Stop) {
        // Dropping the set cuts the calls in it, so a stop leaves none behind.
        let mut open = JoinSet::new();
        tokio::select! {
            () = self.beat(&url, tally, &mut open) => {}
            () = stop.clone().stopped() => return,
        }
        tokio::select! {
            () = async { while open.join_next().await.is_some() {} } => {}
            () = stop.clone().stopped() => {}
        }
    }

    async fn beat(&self, url: &str, tally: &Arc<Tally>, open: &mut JoinSet<()>) {
        let http = client();
        let end = Instant::now() + self.length;
        let mut beat = interval(self.every);
        while beat.tick().await < end {
            let (http, url, limit, tally) = (http.clone(), url.to_owned(), self.limit, Arc::clone(tally));
            open.spawn(async move {
                let answer = get(&http, &url, limit).await;
                tally.record(answer.ok, answer.took);
            });
        }
    }
}
