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
//! (`postgres://postgres@127.0.0.1:5432/postgres` unless set); otherwise it says so, and the queries are pretended. The hops are
//! in `src/lab/tree`; `cargo run --release -- lab tree` measures them, with four, and with a caller who leaves.

use watertight_examples::lab::tree::database::Database;
use watertight_examples::lab::tree::hop::Told;
use watertight_examples::lab::tree::{Play, play, side_by_side};

const HOPS: &[&str] = &["edge", "A", "B"];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let database = Database::find(None, 0).await;
    eprintln!("{database}");
    let mut runs = Vec::new();
    for told in [Told::Nothing, Told::WhatIsLeft] {
        eprintln!("{told} ...");
        runs.push(play(Play::waiting(HOPS, told), &database).await?);
    }
    println!("{}", side_by_side(&runs));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn two_seconds_bound_the_tree_when_they_are_told_and_are_six_when_not() {
        let database = Database::find(None, 1).await;
        let told = play(Play::waiting(HOPS, Told::WhatIsLeft), &database).await.expect("a run");
        assert_eq!((told.status, told.hops.len()), (Some(504), 3));
        assert!(told.answered >= Duration::from_millis(1_990) && told.answered < Duration::from_secs(4));
        assert!(told.hops.iter().all(|stay| stay.left.is_some_and(|left| left <= Duration::from_secs(2))));

        let untold = play(Play::waiting(HOPS, Told::Nothing), &database).await.expect("a run");
        assert_eq!((untold.status, untold.hops.len()), (Some(200), 3));
        assert!(untold.answered >= Duration::from_secs(6), "{:?}", untold.answered);
        assert!(untold.hops.iter().all(|stay| stay.left.is_none()));
    }
}
