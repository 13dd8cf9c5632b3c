//! # Two seconds for a tree of calls
//!
//! ```text
//!   you ──▶ edge ──▶ A ──▶ B        each asks the next one, then its own database,
//!            │       │      │       whose queries take half a minute today
//!            ▼       ▼      ▼
//!               Postgres
//! ```
//!
//! Every hop gives its query two seconds and does without the answer if it does not come. That is careful, and with three hops it
//! is six seconds for whoever stands in front. Told how long is left, all three and their queries end after two:
//!
//! ```sh
//! cargo run --release --example tree
//! ```
//!
//! Three servers on loopback, real requests, and a real Postgres, if there is one at `DATABASE_URL`
//! (`postgres://postgres@127.0.0.1:5432/postgres` unless set); otherwise it says so, and the queries are pretended.
//!
//! Invariants: both runs use the same functions, and differ in two lines: the layer of the servers and the middleware of the clients.

mod database;
mod hop;
mod report;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};

use database::Database;
use hop::{Log, Told};

/// What one run came to.
pub(crate) struct Run {
    pub(crate) told: Told,
    pub(crate) status: u16,
    pub(crate) answered: Duration,
    pub(crate) hops: Vec<hop::Stay>,
    /// When the last query had ended on the server, if there is one.
    pub(crate) database: Option<Duration>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let database = Database::find().await;
    eprintln!("{database}");
    let mut runs = Vec::new();
    for told in [Told::Nothing, Told::WhatIsLeft] {
        eprintln!("{told} ...");
        runs.push(run(told, &database).await?);
    }
    println!("{}", report::side_by_side(&runs));
    Ok(())
}

async fn run(told: Told, database: &Database) -> anyhow::Result<Run> {
    let log = Arc::new(Log::start());
    let b = hop::serve("B", None, told, database, &log).await?;
    let a = hop::serve("A", Some(b), told, database, &log).await?;
    let edge = hop::serve("edge", Some(a), told, database, &log).await?;
    let began = Instant::now();
    let answer = timeout(Duration::from_secs(30), reqwest::get(&edge)).await??;
    let (status, answered) = (answer.status().as_u16(), began.elapsed());
    let database = database.until_idle().await?.then(|| began.elapsed());
    Ok(Run { told, status, answered, hops: log.stays(), database })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_seconds_bound_the_tree_when_they_are_told_and_are_six_when_not() {
        let database = Database::find().await;
        let told = run(Told::WhatIsLeft, &database).await.expect("a run");
        assert_eq!((told.status, told.hops.len()), (504, 3));
        assert!(told.answered >= Duration::from_millis(1_990) && told.answered < Duration::from_secs(4));
        assert!(told.hops.iter().all(|stay| stay.left.is_some_and(|left| left <= Duration::from_secs(2))));

        let untold = run(Told::Nothing, &database).await.expect("a run");
        assert_eq!((untold.status, untold.hops.len()), (200, 3));
        assert!(untold.answered >= Duration::from_secs(6), "{:?}", untold.answered);
        assert!(untold.hops.iter().all(|stay| stay.left.is_none()));
    }
}
