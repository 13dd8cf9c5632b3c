//! A snapshot as a table that fits a terminal.
//!
//! What the columns are is said here; how a table is laid out, in `base/text`.

use std::fmt;

use super::named::{BreakerFigures, BulkheadFigures, IsolateFigures, RateFigures};
use super::snapshot::{SiteFigures, Snapshot};
use crate::base::text::{short, write_table};

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
