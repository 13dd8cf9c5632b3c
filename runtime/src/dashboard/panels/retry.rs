//! What retries multiply and what they are good for: attempts per call over time, and at which attempt calls had their
//! value. A rung on which hardly anybody answers is load without use.

use serde_json::{Value, json};

use super::View;
use crate::call::tally::StopReason;
use crate::metrics::Rung;

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(site) = view.site() else { return Value::Null };
    let hour = site.last_hour();
    let frames = site.frames.frames(view.span);
    let calls = |outcomes: &[u32]| outcomes.iter().map(|count| u64::from(*count)).sum::<u64>();
    let factor: Vec<_> = frames
        .iter()
        .map(|frame| (calls(&frame.outcomes) > 0).then(|| f64::from(frame.attempts) / calls(&frame.outcomes) as f64))
        .collect();
    let ladder = Rung::NAMES.iter().zip(hour.rungs);
    let stops = StopReason::ALL.iter().zip(hour.stops).filter(|(_, count)| *count > 0);
    json!({
        "declared": view.declaration.retry.map(|retry| retry.max),
        "calls": hour.calls(),
        "attempts": hour.attempts,
        "hedges": hour.hedges,
        "factor": factor,
        "retries": frames.iter().map(|frame| frame.retries).collect::<Vec<_>>(),
        "ladder": ladder.map(|(name, (begun, answered))| json!({ "attempt": name, "begun": begun, "answered": answered })).collect::<Vec<_>>(),
        "stops": stops.map(|(reason, count)| json!({ "reason": reason.as_str(), "count": count })).collect::<Vec<_>>(),
    })
}
