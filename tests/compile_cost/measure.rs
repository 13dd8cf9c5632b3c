//! Times and weighs the crate that is there now.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

// The clock of the library's own code is tokio's; here it is compilers that are timed, from outside.
#[allow(clippy::disallowed_types)]
use std::time::Instant;

/// The best that was seen of one variant.
#[derive(Clone)]
pub(crate) struct Figures {
    /// Seconds of processor time.
    pub(crate) check: f64,
    /// Seconds of processor time.
    pub(crate) build: f64,
    /// Bytes.
    pub(crate) size: u64,
}

impl Default for Figures {
    fn default() -> Self {
        Self { check: f64::INFINITY, build: f64::INFINITY, size: 0 }
    }
}

impl Figures {
    pub(crate) fn time(&mut self, folder: &Path) -> Result<(), String> {
        self.check = self.check.min(seconds(folder, &["check"])?);
        self.build = self.build.min(seconds(folder, &["build"])?);
        Ok(())
    }

    pub(crate) fn weigh(&mut self, folder: &Path) -> Result<(), String> {
        cargo(folder, &["build", "--release"])?;
        let program = folder.join("target/release/cost");
        self.size = fs::metadata(&program).map_err(|error| format!("{}: {error}", program.display()))?.len();
        Ok(())
    }
}

/// Seconds of processor time, which other programs on the machine disturb little; of the clock where it is not to be had.
#[allow(clippy::disallowed_types)]
fn seconds(folder: &Path, arguments: &[&str]) -> Result<f64, String> {
    let (begun, spent) = (Instant::now(), children());
    cargo(folder, arguments)?;
    Ok(match (spent, children()) {
        (Some(before), Some(after)) => after - before,
        _ => begun.elapsed().as_secs_f64(),
    })
}

/// What the processes that this one has started have used so far, in seconds.
fn children() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

/// Runs cargo on the crate, incremental compilation being off.
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).args(["--quiet", "--offline"]).current_dir(folder).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", folder.join("target")).env("CARGO_INCREMENTAL", "0");
    let output = command.output().map_err(|error| format!("cargo: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
