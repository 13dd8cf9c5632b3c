//! A bulkhead, or threads: how many ran and waited at most in each interval, against the limit.
//!
//! The marks are high-water marks and not samples: a compartment that was full for ten milliseconds of a second was full in
//! that second. (Of the compartments of keys, and of threads, only samples are there; the panel says which.)

use serde_json::{Value, json};

use super::{View, compartment_name, known};
use crate::call::tally::WaitFate;

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(name) = compartment_name(view.declaration) else { return Value::Null };
    let Some(ring) = view.kept.bulkheads.get(name) else { return Value::Null };
    let frames = ring.frames(view.span);
    let full = frames.iter().filter(|frame| frame.slots > 0 && frame.peak_running >= frame.slots).count();
    let shares = |it: &&&crate::declaration::Declaration| compartment_name(it) == Some(name);
    let sharing: Vec<_> = view.all.iter().filter(shares).map(|it| it.identity.name).collect();
    let site = view.site();
    let hour = site.map(super::history::SiteHistory::last_hour);
    let waits = WaitFate::ALL.iter().zip(hour.as_ref().map(|hour| hour.wait_fates).unwrap_or_default());
    let queue = view.kept.now.bulkhead(name).map(|it| it.queue).or(view.kept.now.isolate(name).map(|it| it.queue));
    let keyed = view.kept.now.bulkhead(name).is_some_and(|it| it.keys.is_some());
    json!({
        "name": name,
        "threads": view.declaration.isolate.is_some(),
        "sampled": keyed || view.declaration.isolate.is_some(),
        "slots": frames.iter().map(|frame| frame.slots).collect::<Vec<_>>(),
        "queue": queue,
        "running": frames.iter().map(|frame| frame.peak_running).collect::<Vec<_>>(),
        "queued": frames.iter().map(|frame| frame.peak_queued).collect::<Vec<_>>(),
        "now": frames.back().map(|frame| json!({ "running": frame.running, "queued": frame.queued, "slots": frame.slots })),
        "full_share": if frames.is_empty() { 0.0 } else { full as f64 / frames.len() as f64 },
        "waits": site.map(|site| site.frames.frames(view.span).iter().map(|frame| frame.waits.map(known)).collect::<Vec<_>>()),
        "wait_fates": waits.map(|(fate, count)| json!({ "fate": fate.as_str(), "count": count })).collect::<Vec<_>>(),
        "at_once": hour.map(|hour| hour.entered_at_once),
        "shared_by": sharing,
    })
}
