//! # Side by side
//!
//! One column per run, one row per question, because the eye compares along a row. The routes come first (what callers
//! felt), then the vendor and the pool (why), then the guard (what it did about it).
//!
//! Invariants:
//! * every row has a cell for every run.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use super::words::{count, latency, share};
use crate::outage::{Outage, Run};
use crate::pool;

/// The runs as one table.
pub fn side_by_side(outage: &Outage) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    let heads = outage.runs.iter().map(|run| {
        let partial = if run.partial { " (partial)" } else { "" };
        format!("{}{partial}", run.variant.name())
    });
    table.set_header(std::iter::once(String::new()).chain(heads));
    let mut row = |question: String, answer: &dyn Fn(&Run) -> String| {
        let answers = outage.runs.iter().map(|run| Cell::new(answer(run)).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(question)).chain(answers));
    };

    for route in ["/product", "/cart", "/health"] {
        row(format!("{route}  succeeded"), &|run| {
            let figures = run.route(route);
            format!("{} of {}", share(figures.success()), count(figures.requests))
        });
        row(format!("{route}  p50 / p99"), &|run| {
            let figures = run.route(route);
            format!("{} / {}", latency(figures.p50), latency(figures.p99))
        });
    }
    row("vendor: calls it saw".into(), &|run| count(run.vendor.requests));
    row("vendor: most at once".into(), &|run| count(run.vendor.peak));
    row("shop: most recommendations under way".into(), &|run| count(run.asking_peak));
    row("vendor: left unanswered".into(), &|run| count(run.vendor.unanswered));
    row(format!("pool of {}: idle, lowest / typical", pool::SIZE), &|run| {
        let level = |idle: Option<usize>| idle.map_or("-".to_owned(), |idle| idle.to_string());
        format!("{} / {}", level(run.idle.low()), level(run.idle.typical()))
    });
    row("pool: waits given up".into(), &|run| count(run.pool_timeouts));
    let guarded = |run: &Run, of: &dyn Fn(&crate::fates::Fates) -> u64| {
        if run.functions.is_empty() { "-".to_owned() } else { count(run.functions.iter().map(of).sum()) }
    };
    row("guard: refused at once or after waiting".into(), &|run| guarded(run, &|fates| fates.refusals()));
    row("guard: cut off at the timeout".into(), &|run| guarded(run, &|fates| fates.timed_out));
    row("guard: answered by the fallback".into(), &|run| guarded(run, &|fates| fates.fallback_used));
    table
}
