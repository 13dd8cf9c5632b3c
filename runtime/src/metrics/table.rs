//! A snapshot as a table that fits a terminal.
//!
//! Written out by hand: the runtime's list of dependencies is short on purpose, and a column is as wide as its widest
//! cell.

use std::fmt;
use std::time::Duration;

use super::named::{BreakerFigures, BulkheadFigures, IsolateFigures, RateFigures};
use super::snapshot::{SiteFigures, Snapshot};

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = [
            "function",
            "calls",
            "ok",
            "error",
            "timed out",
            "refused",
            "cancelled",
            "panicked",
            "fallback",
            "retries",
            "in flight",
            "p50",
            "p99",
        ];
        write_table(f, &heads, self.sites.iter().map(site_row).collect())?;
        let observing: Vec<_> = self.sites.iter().filter_map(would_row).collect();
        if !observing.is_empty() {
            writeln!(f)?;
            let heads = ["would have", "refused", "cut off", "queued", "retried"];
            write_table(f, &heads, observing)?;
        }
        if !self.bulkheads.is_empty() {
            writeln!(f)?;
            let heads = ["bulkhead", "running", "slots", "peak", "queued", "queue", "peak"];
            write_table(f, &heads, self.bulkheads.iter().map(bulkhead_row).collect())?;
        }
        if !self.isolates.is_empty() {
            writeln!(f)?;
            let heads = ["isolate", "running", "abandoned", "threads", "peak", "queued", "queue", "peak"];
            write_table(f, &heads, self.isolates.iter().map(isolate_row).collect())?;
        }
        if !self.rates.is_empty() {
            writeln!(f)?;
            let heads = ["rate", "count", "unit", "burst", "waiting"];
            write_table(f, &heads, self.rates.iter().map(rate_row).collect())?;
        }
        if !self.breakers.is_empty() {
            writeln!(f)?;
            let heads = ["breaker", "state", "failures", "results", "opened", "half-opened", "closed"];
            write_table(f, &heads, self.breakers.iter().map(breaker_row).collect())?;
        }
        Ok(())
    }
}

fn site_row(site: &SiteFigures) -> Vec<String> {
    let mut row = vec![site.name.to_owned()];
    let figures = [
        site.calls,
        site.ok,
        site.error,
        site.timed_out,
        site.refused,
        site.cancelled,
        site.panicked,
        site.fallback_used,
        site.retries,
        site.in_flight,
    ];
    row.extend(figures.iter().map(ToString::to_string));
    row.extend([50.0, 99.0].map(|percent| site.latency.percentile(percent).map_or_else(|| "-".to_owned(), short)));
    row
}

/// What a function's observing strategies would have done, if anything.
fn would_row(site: &SiteFigures) -> Option<Vec<String>> {
    let figures = [site.would_refuse, site.would_cut, site.would_queue, site.would_retry];
    if figures == [0; 4] {
        return None;
    }
    Some([site.name.to_owned()].into_iter().chain(figures.iter().map(ToString::to_string)).collect())
}

fn bulkhead_row(bulkhead: &BulkheadFigures) -> Vec<String> {
    let BulkheadFigures { name, slots, running, peak_running, queue, queued, peak_queued, .. } = bulkhead;
    let mut row = vec![(*name).to_owned()];
    row.extend([running, slots, peak_running, queued, queue, peak_queued].map(ToString::to_string));
    row
}

fn isolate_row(isolate: &IsolateFigures) -> Vec<String> {
    let IsolateFigures { name, threads, running, peak_running, running_abandoned, queue, queued, peak_queued, .. } =
        isolate;
    let mut row = vec![(*name).to_owned(), running.to_string(), running_abandoned.to_string()];
    row.extend([threads, peak_running, queued, queue, peak_queued].map(ToString::to_string));
    row
}

fn rate_row(rate: &RateFigures) -> Vec<String> {
    let RateFigures { name, count, unit, burst, waiting, .. } = rate;
    vec![(*name).to_owned(), count.to_string(), short(*unit), burst.to_string(), waiting.to_string()]
}

fn breaker_row(breaker: &BreakerFigures) -> Vec<String> {
    let BreakerFigures { name, state, failures, calls, opened, half_opened, closed, .. } = breaker;
    vec![
        (*name).to_owned(),
        state.as_str().to_owned(),
        failures.to_string(),
        calls.to_string(),
        opened.to_string(),
        half_opened.to_string(),
        closed.to_string(),
    ]
}

/// A length with three significant figures.
fn short(length: Duration) -> String {
    let nanos = length.as_nanos() as f64;
    let (value, unit) = match length.as_nanos() {
        0..1_000 => return "<1µs".to_owned(),
        1_000..1_000_000 => (nanos / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    let decimals = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

/// The first column to the left, figures to the right.
fn write_table(f: &mut fmt::Formatter<'_>, heads: &[&str], rows: Vec<Vec<String>>) -> fmt::Result {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let heads = heads.iter().map(|&head| head.to_owned()).collect();
    for row in std::iter::once(heads).chain(rows) {
        let line: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(
                |(column, (cell, &width))| {
                    if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                },
            )
            .collect();
        writeln!(f, "{}", line.join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let cases = [
            (500, "<1µs"),
            (1_500, "1.50µs"),
            (45_600_000, "45.6ms"),
            (300_000_000, "300ms"),
            (2_000_000_000, "2.00s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(short(Duration::from_nanos(nanos)), text);
        }
    }
}
