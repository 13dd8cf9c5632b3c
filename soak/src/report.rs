//! What a soak says of itself: a line per epoch, and a table at the end.
//!
//! Invariant: every figure is read from the library or counted by the bodies; none is worked out from another.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use tokio::time::Instant;
use watertight::{Fate, Snapshot};

use crate::{body, memory, sites};

/// How an epoch ended.
#[derive(Debug)]
pub(crate) struct Epoch {
    /// Calls since the start.
    pub(crate) calls: u64,
    /// Compartments whose places were counted.
    pub(crate) compartments: usize,
    /// Bytes at rest.
    pub(crate) allocated: usize,
    pub(crate) resident: Option<usize>,
}

/// The whole soak.
#[derive(Debug)]
pub(crate) struct Report {
    seed: u64,
    began: Instant,
    pub(crate) epochs: Vec<Epoch>,
}

fn megabytes(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

impl Report {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, began: Instant::now(), epochs: Vec::new() }
    }

    /// A line about the last epoch.
    pub(crate) fn progress(&self) -> String {
        let Some(last) = self.epochs.last() else { return String::new() };
        let seconds = self.began.elapsed().as_secs();
        let resident = last.resident.map_or_else(|| "unknown".into(), megabytes);
        format!(
            "{seconds:>5} s  {:>4} epochs  {:>10} calls  {} allocated  {resident} resident",
            self.epochs.len(),
            last.calls,
            megabytes(last.allocated)
        )
    }

    /// Everything, as Markdown.
    pub(crate) fn table(&self, snapshot: &Snapshot) -> String {
        let sum = |of: fn(&watertight::metrics::SiteFigures) -> u64| snapshot.sites.iter().map(of).sum::<u64>();
        let fates = Fate::ALL.map(|fate| {
            let word = match fate {
                Fate::Refused(reason) => format!("calls refused: {}", reason.as_str()),
                other => format!("calls {}", other.as_str()),
            };
            (word, snapshot.sites.iter().map(|site| site.fate(fate)).sum::<u64>().to_string())
        });
        let breakers = |of: fn(&watertight::metrics::BreakerFigures) -> u64| {
            snapshot.breakers.iter().map(of).sum::<u64>().to_string()
        };
        let of_epochs = |of: fn(&Epoch) -> usize| self.epochs.iter().map(of);
        let mut rows = vec![
            ("seed".to_owned(), self.seed.to_string()),
            ("length".to_owned(), format!("{} s", self.began.elapsed().as_secs())),
            ("functions".to_owned(), sites::all().len().to_string()),
            ("epochs, each with a shutdown in a process of its own".to_owned(), self.epochs.len().to_string()),
            ("calls".to_owned(), sum(|site| site.calls).to_string()),
        ];
        rows.extend(fates);
        rows.extend([
            ("calls answered by a fallback".to_owned(), sum(|site| site.fallback_used).to_string()),
            ("bodies that ran".to_owned(), body::BODIES.load(Ordering::Relaxed).to_string()),
            ("retries".to_owned(), sum(|site| site.retries).to_string()),
            ("hedges".to_owned(), sum(watertight::metrics::SiteFigures::hedges).to_string()),
            ("nested calls in a lent slot".to_owned(), sum(|site| site.lent).to_string()),
            ("answers after their limit".to_owned(), sum(|site| site.overruns).to_string()),
            ("breakers opened".to_owned(), breakers(|it| it.opened)),
            ("breakers closed".to_owned(), breakers(|it| it.closed)),
            (
                "threads left by their callers".to_owned(),
                snapshot.isolates.iter().map(|it| it.abandoned).sum::<u64>().to_string(),
            ),
            (
                "compartments whose places were counted".to_owned(),
                of_epochs(|epoch| epoch.compartments).sum::<usize>().to_string(),
            ),
            ("allocated at rest, first epoch".to_owned(), megabytes(self.epochs.first().map_or(0, |it| it.allocated))),
            ("allocated at rest, most".to_owned(), megabytes(of_epochs(|epoch| epoch.allocated).max().unwrap_or(0))),
            ("allocated at rest, last epoch".to_owned(), megabytes(self.epochs.last().map_or(0, |it| it.allocated))),
            ("resident at the end".to_owned(), memory::resident().map_or_else(|| "unknown".into(), megabytes)),
        ]);
        let mut table = String::from("| | |\n|---|---:|\n");
        for (what, figure) in rows {
            let _ = writeln!(table, "| {what} | {figure} |");
        }
        table
    }
}
