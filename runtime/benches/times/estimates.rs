//! The figures of this run, from where criterion keeps them.

// Files are dated by the wall clock, so that is what tells a run's files from those of the last.
#![allow(clippy::disallowed_types)]

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use crate::tables::Figures;

/// When this run began.
pub(crate) fn begun() -> SystemTime {
    SystemTime::now()
}

/// Those that were written since `begun`, in the order they were written in.
pub(crate) fn since(begun: SystemTime) -> Figures {
    let mut figures = Figures::default();
    let Some(root) = criterion_home() else { return figures };
    let mut found: Vec<_> = below(&root)
        .iter()
        .flat_map(|group| below(group))
        .filter_map(|bench| {
            let new = bench.join("new");
            let written = std::fs::metadata(new.join("estimates.json")).ok()?.modified().ok()?;
            (written >= begun).then_some((written, new))
        })
        .collect();
    found.sort();
    for (_, new) in found {
        let (Some(what), Some(estimates)) = (read(&new.join("benchmark.json")), read(&new.join("estimates.json")))
        else {
            continue;
        };
        let calls = what["throughput"]["Elements"].as_f64().unwrap_or(1.0);
        let (family, who) = (what["group_id"].as_str(), what["function_id"].as_str());
        // The median, which a neighbour on the machine moves less than the mean.
        let nanos = estimates["median"]["point_estimate"].as_f64();
        if let (Some(family), Some(who), Some(nanos)) = (family, who, nanos) {
            figures.add(family, who, nanos / calls);
        }
    }
    figures
}

fn below(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn read(file: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
}

fn criterion_home() -> Option<PathBuf> {
    // A bench runs from target/<profile>/deps.
    let exe = std::env::current_exe().ok()?;
    Some(exe.parent()?.parent()?.parent()?.join("criterion"))
}
