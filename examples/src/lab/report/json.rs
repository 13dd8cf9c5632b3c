//! # For machines
//!
//! Figures with the exact settings that made them, in plain units: times in milliseconds, shares in percent.
//!
//! Invariants:
//! * absent is null; keys are added, never renamed.

use serde_json::{Map, Value, json};

use super::caveat;
use crate::lab::Finished;

/// All that was run.
pub fn document(all: &[Finished]) -> Value {
    json!({
        "lab": all.iter().map(one).collect::<Vec<_>>(),
        "processors": std::thread::available_parallelism().map_or(1, usize::from),
        "profile": if cfg!(debug_assertions) { "dev" } else { "release" },
    })
}

fn one(finished: &Finished) -> Value {
    let Finished { experiment, outcome, took, quick } = finished;
    let settings: Map<_, _> =
        outcome.settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let tables = outcome.tables.iter().map(|table| {
        let rows = table.rows.iter().map(|row| row.iter().map(crate::lab::outcome::Cell::json).collect::<Vec<_>>());
        json!({ "caption": table.caption, "heads": table.heads, "rows": rows.collect::<Vec<_>>() })
    });
    let series = outcome.plots.iter().flat_map(|plot| {
        plot.series.iter().map(|series| {
            json!({ "plot": plot.caption, "x": plot.x, "y": plot.y, "name": series.name, "points": series.points })
        })
    });
    json!({
        "experiment": experiment.id,
        "question": experiment.question,
        "quick": quick,
        "partial": outcome.partial,
        "caveat": caveat(finished),
        "skipped": outcome.skipped,
        "took_seconds": took.as_secs_f64(),
        "settings": settings,
        "attributes": outcome.lines.iter().map(|(name, line)| json!({ "variant": name, "attribute": line })).collect::<Vec<_>>(),
        "tables": tables.collect::<Vec<_>>(),
        "series": series.collect::<Vec<_>>(),
        "remarks": outcome.remarks,
        "verdicts": outcome.verdicts.iter().map(|verdict| {
            json!({ "claim": verdict.claim, "held": verdict.held, "seen": verdict.seen, "a_full_run_asks_for": verdict.full })
        }).collect::<Vec<_>>(),
        "published": outcome.comparisons.iter().map(|it| {
            json!({ "measure": it.measure, "published": it.published, "ours": it.ours, "difference": it.difference })
        }).collect::<Vec<_>>(),
    })
}
