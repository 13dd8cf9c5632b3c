//! What the runner needs, and the figures it left behind.

// Files are dated by the wall clock, so that is what tells a run's files from those of the last.
#![allow(clippy::disallowed_types)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::tables::Figures;
use crate::{CALLS, rows};

const RUNNER: &str = "0.20.0";

/// Whether valgrind and the runner are there, or which is not and how to get it.
pub(crate) fn programs() -> Result<(), String> {
    if said("valgrind").is_none() {
        return Err("there is no `valgrind` here, `apt-get install valgrind` brings it".to_owned());
    }
    let runner = said("gungraun-runner").unwrap_or_default();
    if runner.split_whitespace().any(|word| word == RUNNER) {
        return Ok(());
    }
    let found =
        if runner.is_empty() { "there is no `gungraun-runner` here".to_owned() } else { format!("found {runner}") };
    Err(format!("{found}, `cargo install gungraun-runner@{RUNNER} --locked` brings the one that fits"))
}

fn said(program: &str) -> Option<String> {
    let answer = Command::new(program).arg("--version").stderr(Stdio::null()).output().ok()?;
    answer.status.success().then(|| String::from_utf8_lossy(&answer.stdout).trim().to_owned())
}

/// When this run began.
pub(crate) fn begun() -> SystemTime {
    SystemTime::now()
}

/// The instructions of a call, of the rows that were counted since `begun`.
pub(crate) fn since(begun: SystemTime) -> Figures {
    let mut figures = Figures::default();
    let Some(root) = home() else { return figures };
    let mut profiles = Vec::new();
    collect(&root, begun, &mut profiles);
    for (index, row) in rows::all().into_iter().enumerate() {
        let name = format!("callgrind.calls.row_{index}.out");
        let profile = profiles.iter().find(|file| file.file_name().is_some_and(|it| it == name.as_str()));
        if let Some(total) = profile.and_then(|file| total(file)) {
            figures.add(row.family, row.who, total / f64::from(CALLS));
        }
    }
    figures
}

fn home() -> Option<PathBuf> {
    // A bench runs from target/<profile>/deps.
    let exe = std::env::current_exe().ok()?;
    Some(exe.parent()?.parent()?.parent()?.join("gungraun"))
}

/// The profiles of this run; those of the last one are beside them under other names.
fn collect(folder: &Path, begun: SystemTime, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, begun, found);
        } else if entry.metadata().and_then(|it| it.modified()).is_ok_and(|written| written >= begun) {
            found.push(path);
        }
    }
}

/// The first event of callgrind's totals: instructions.
fn total(file: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("totals:").or_else(|| line.strip_prefix("summary:")))?;
    line.split_whitespace().next()?.parse().ok()
}
