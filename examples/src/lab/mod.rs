//! # The lab
//!
//! Two published write-ups measured what slow dependencies do to a service. Here their experiments are done again, on real
//! sockets and a real pool, bare and guarded, so that a reader can see each claim happen and what the attribute changes.
//! Ours need not agree in milliseconds; the shape has to, and where it does not the report says why.
//!
//! ```text
//!   frame    an experiment is a value; the bench it is given; variants and their attribute lines
//!   outcome  what it came to: tables, series, verdicts, and ours beside theirs
//!   scene    the usual stage, played once per variant: vendor, service, crowd, probes
//!   service  /healthy, /db, /work      pool   SQLite or Postgres      live   progress
//!   report/  the outcome as text, JSON, one page, markdown
//! ```
//!
//! Every other file is an experiment; its essay says what is claimed and how that is measured.
//!
//! Invariants:
//! * waits are honest: a full run shortens no clock, a quick one says that it is quick;
//! * loopback only, bounded in time, and nothing is left behind by a stop.

mod abandon;
mod amplification;
pub mod by_hand;
mod cascade;
mod collapse;
mod cost;
mod defaults;
mod drain;
pub mod flood;
pub mod frame;
mod hang;
mod hostage;
pub mod live;
mod mitigations;
mod order;
pub mod outcome;
pub mod pool;
mod recovery;
pub mod report;
pub mod scene;
pub mod service;
mod sockets;
mod tenants;
pub mod tree;

use std::time::Duration;

use tokio::time::Instant;

use frame::{Bench, Experiment};
use outcome::Outcome;

/// Every experiment, in the order they are told.
pub const ALL: &[Experiment] = &[
    defaults::EXPERIMENT,
    cascade::EXPERIMENT,
    drain::EXPERIMENT,
    cost::EXPERIMENT,
    mitigations::EXPERIMENT,
    hang::EXPERIMENT,
    order::EXPERIMENT,
    amplification::EXPERIMENT,
    hostage::EXPERIMENT,
    sockets::EXPERIMENT,
    abandon::EXPERIMENT,
    tree::EXPERIMENT,
    collapse::EXPERIMENT,
    tenants::EXPERIMENT,
    flood::EXPERIMENT,
    recovery::EXPERIMENT,
];

/// What an experiment came to, and how it was run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which.
    pub experiment: Experiment,
    /// Its result.
    pub outcome: Outcome,
    /// How long it took.
    pub took: Duration,
    /// Whether it was shortened.
    pub quick: bool,
}

/// The experiment of a name.
pub fn find(id: &str) -> Option<Experiment> {
    ALL.iter().find(|experiment| experiment.id == id).copied()
}

/// Runs one.
///
/// # Errors
/// When a piece cannot be set up.
pub async fn run(bench: &Bench, experiment: Experiment) -> anyhow::Result<Finished> {
    bench.live.say(&format!("{}: {}", experiment.id, experiment.question));
    let begun = Instant::now();
    let mut outcome = (experiment.run)(bench).await?;
    if bench.stop.is_stopped() {
        // Half a run decides nothing.
        outcome.partial = true;
        outcome.verdicts.clear();
        outcome.comparisons.clear();
    }
    bench.live.clear();
    Ok(Finished { experiment, outcome, took: begun.elapsed(), quick: bench.quick })
}

/// Whether a source file is one of the lab's. Its functions are wrong on purpose here and there, for comparison, so that a
/// check of the program at large leaves them out.
pub fn owns(file: &str) -> bool {
    file.replace('\\', "/").contains("examples/src/lab/")
}

/// The figures without those of the lab, for who runs something else in the same program.
pub fn without(mut snapshot: watertight::Snapshot) -> watertight::Snapshot {
    snapshot.sites.retain(|site| !owns(site.file));
    // They have names and no files; the lab's are at rest when something else runs.
    snapshot.bulkheads.retain(|bulkhead| bulkhead.peak_running > 0);
    snapshot.breakers.retain(|breaker| breaker.calls > 0);
    snapshot
}
