//! # Visitors
//!
//! A closed loop: each of N visitors asks, waits for the answer, looks at it for a moment and asks again. It is the
//! kind load of the two. When the service stalls, an open loop keeps arriving and would drown it anyway; here at most N
//! requests are ever under way, so whatever goes down did so without being pushed.
//!
//! Visitors are not endlessly patient. One who got nothing within `patience` leaves, the connection closes, and a Rust
//! service then drops the handler and takes back what it was holding. Short patience is therefore a gift to a service
//! without limits: when ten hanging visitors leave at once, ten connections come free and whoever queues is served in a
//! burst. A service does not get to choose that. What stands in front of it usually waits half a minute or a whole one.
//!
//! The end needs care. Requests under way when time is up are neither good nor bad yet; dropping them uncounted would
//! hide exactly the ones that hang. So nobody begins anew, everyone may still finish within `grace`, and who has not by
//! then has failed, with the latency reached.
//!
//! Invariants:
//! * never more than `clients` requests under way;
//! * over after `length + grace` at the latest, at once when stopped;
//! * every request begun is counted, unless it was cut by a stop.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::{Instant, sleep};

use crate::get::{client, get};
use crate::stop::Stop;
use crate::tally::Tally;

/// A closed loop.
#[derive(Clone, Debug)]
pub struct Load {
    /// Visitors.
    pub clients: usize,
    /// For how long requests are begun.
    pub length: Duration,
    /// What a visitor does between an answer and the next request: nothing, for so long.
    pub pause: Duration,
    /// How long a visitor waits for an answer.
    pub patience: Duration,
    /// How long after `length` an answer may still arrive.
    pub grace: Duration,
}

impl Load {
    /// Runs the load against what `url` gives for a visitor and the visitor's turn.
    pub async fn run(&self, url: impl Fn(usize, u64) -> String + Sync, tally: &Tally, stop: &Stop) {
        let http = client();
        let end = Instant::now() + self.length;
        let visitors = (0..self.clients).map(|visitor| self.visit(visitor, end, &http, &url, tally));
        tokio::select! {
            _ = join_all(visitors) => {}
            () = stop.clone().stopped() => {}
        }
    }

    async fn visit(
        &self,
        visitor: usize,
        end: Instant,
        http: &reqwest::Client,
        url: &(impl Fn(usize, u64) -> String + Sync),
        tally: &Tally,
    ) {
        for turn in 0.. {
            let now = Instant::now();
            if now >= end {
                return;
            }
            let limit = self.patience.min(end + self.grace - now);
            let answer = get(http, &url(visitor, turn), limit).await;
            tally.record(answer.ok, answer.took);
            sleep(self.pause).await;
        }
    }
}
