//! Shutdown in the middle of everything, in a process of its own, since a drain is final.
//!
//! Invariant: the child does what its seed says and exits with 0 only if all held.

use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, ensure};
use fastrand::Rng;
use tokio::process::Command;
use tokio::time::{sleep, timeout};

use crate::caller::{Counted, UNDER_WAY};
use crate::load::Load;
use crate::{rest, sites, verdict};

/// Runs a child and reports what it says.
pub(crate) async fn in_a_child(seed: u64) -> anyhow::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["drain", "--seed", &seed.to_string()]).kill_on_drop(true);
    let output = timeout(Duration::from_mins(5), command.output()).await.context("a child that never ends")??;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "drain, seed {seed}: {}", said.trim());
    Ok(())
}

/// The child.
pub(crate) async fn here(seed: u64) -> anyhow::Result<()> {
    let mut rng = Rng::with_seed(seed);
    let load = Load::begin(96, seed, 10, rng.bool());
    sleep(Duration::from_millis(rng.u64(50..1_500))).await;
    let drained = watertight::shutdown::drain(Duration::from_millis(rng.u64(0..300))).await;
    let left: u64 = drained.left.iter().map(|left| left.calls).sum();
    ensure!(drained.is_clean() == (left == 0), "clean, with {left} left: {drained}");
    // Callers go on and are refused.
    sleep(Duration::from_millis(100)).await;
    load.end().await?;
    rest::agrees().await?;
    ensure!(UNDER_WAY.load(Ordering::SeqCst) == 0, "calls under way after everything");
    // What only observes refuses nobody.
    for entry in sites::all().iter().filter(|entry| !entry.id.contains("::observed::")) {
        ensure!(!Counted::asking(entry).await, "{} let a call in after the drain", entry.id);
    }
    rest::agrees().await?;
    verdict::broken().map_or(Ok(()), |what| Err(anyhow::anyhow!(what)))
}
