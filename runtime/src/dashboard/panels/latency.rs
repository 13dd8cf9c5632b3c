//! Bands of latency over time. What was cut off is drawn apart, at the length it had run, and the region beyond the timeout
//! is marked as not observed: what would have been there is exactly what a timeout hides. Where attempts ran on there, what they showed is drawn
//! into it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{View, curve, known};
use crate::dashboard::history::frame::{CELLS, QUANTILES, cell_bounds};
use crate::strategies::timeout;

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(site) = view.site() else { return Value::Null };
    let frames = site.frames.frames(view.span);
    // Only the cells in which anything ever was, and one on either side.
    let is_used = |cell: &usize| frames.iter().any(|frame| frame.heat[*cell] > 0 || frame.cut[*cell] > 0);
    let (low, high) = ((0..CELLS).find(is_used), (0..CELLS).rev().find(is_used));
    let (Some(low), Some(high)) = (low, high) else { return Value::Null };
    let (low, high) = (low.saturating_sub(1), (high + 2).min(CELLS - 1));
    let declared = view.declaration;
    json!({
        "bounds": &cell_bounds()[low..=high + 1],
        "heat": frames.iter().map(|frame| frame.heat[low..=high].to_vec()).collect::<Vec<_>>(),
        "cut": frames.iter().map(|frame| frame.cut[low..=high].to_vec()).collect::<Vec<_>>(),
        "shares": QUANTILES,
        "quantiles": frames.iter().map(|frame| frame.quantiles.map(known)).collect::<Vec<_>>(),
        "timeout": declared.timeout.map(timeout::Config::nanos).map(|nanos| nanos as f64 / 1e6),
        "observes": declared.observe.timeout,
        "beyond": beyond(view),
    })
}

/// The quantiles of the last hour that lie beyond the timeout and are known all the same, since attempts ran on: each with
/// its interval.
fn beyond(view: &View<'_>) -> Vec<Value> {
    let timeout = view.declaration.timeout.map(timeout::Config::nanos).map(Duration::from_nanos);
    let (Some(timeout), Some(curve)) = (timeout, curve(view)) else { return Vec::new() };
    let known = QUANTILES.into_iter().filter_map(|share| Some((share, curve.quantile(share)?)));
    let beyond = known.filter(|(_, length)| length.length > timeout && curve.observed() > 0);
    beyond.map(|(share, length)| json!({ "share": share, "length": length.json() })).collect()
}
