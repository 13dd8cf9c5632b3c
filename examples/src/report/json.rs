//! # For machines
//!
//! A figure without its settings cannot be compared with anything, so both travel in one document, in plain units that
//! are part of each key's name. Absent is null. Keys are added, never renamed.
//!
//! Invariants:
//! * everything the table shows is in here, unrounded where it was measured unrounded.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::fates::Fates;
use crate::outage::{Outage, Run, Settings};
use crate::pool;
use crate::shop::recs;
use crate::tally::Figures;
use crate::vendor::Behaviour;

/// The whole experiment.
pub fn document(outage: &Outage) -> Value {
    json!({
        "experiment": "outage",
        "partial": outage.partial,
        "settings": settings(&outage.settings),
        "runs": outage.runs.iter().map(run).collect::<Vec<_>>(),
    })
}

fn settings(settings: &Settings) -> Value {
    let Settings { load, probe, vendor } = settings;
    json!({
        "clients": load.clients,
        "seconds": load.length.as_secs_f64(),
        "pause_ms": millis(load.pause),
        "patience_ms": millis(load.patience),
        "grace_ms": millis(load.grace),
        "probe_every_ms": millis(probe.every),
        "probe_limit_ms": millis(probe.limit),
        "pool_size": pool::SIZE,
        "pool_acquire_limit_ms": millis(pool::ACQUIRE_LIMIT),
        "vendor_answers_after_ms": match vendor {
            Behaviour::After(wait) => Some(millis(*wait)),
            Behaviour::Hang | Behaviour::Mixed | Behaviour::Fail | Behaviour::Busy { .. } => None,
        },
        "annotation": recs::annotation().1,
    })
}

fn run(run: &Run) -> Value {
    json!({
        "variant": run.variant.name(),
        "partial": run.partial,
        "took_ms": millis(run.took),
        "routes": run.routes.iter().map(|(path, figures)| route(path, figures)).collect::<Vec<_>>(),
        "vendor": {
            "requests": run.vendor.requests,
            "peak": run.vendor.peak,
            "unanswered": run.vendor.unanswered,
            "connections": run.vendor.connections,
            "connections_closed": run.vendor.closed,
            "connections_aborted": run.vendor.aborted,
        },
        "pool": {
            "idle_lowest": run.idle.low(),
            "idle_typical": run.idle.typical(),
            "waits_given_up": run.pool_timeouts,
        },
        "recommendations_peak": run.asking_peak,
        "functions": run.functions.iter().map(function).collect::<Vec<_>>(),
    })
}

fn route(path: &str, figures: &Figures) -> Value {
    json!({
        "route": path,
        "requests": figures.requests,
        "ok": figures.ok,
        "success_percent": figures.success(),
        "p50_ms": figures.p50.map(millis),
        "p99_ms": figures.p99.map(millis),
    })
}

fn function(fates: &Fates) -> Value {
    let refused: Map<_, _> = fates.refused.iter().map(|&(reason, calls)| (reason.to_owned(), calls.into())).collect();
    json!({
        "name": fates.name,
        "file": fates.file,
        "line": fates.line,
        "calls": fates.calls,
        "ok": fates.ok,
        "error": fates.error,
        "timed_out": fates.timed_out,
        "refused": refused,
        "cancelled": fates.cancelled,
        "panicked": fates.panicked,
        "fallback_used": fates.fallback_used,
        "fallback_failed": fates.fallback_failed,
    })
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
