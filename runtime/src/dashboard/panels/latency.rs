//! Bands of latency over time. What was cut off is drawn apart, at the length it had run, and the region beyond the timeout
//! is marked as not observed: what would have been there is exactly what a timeout hides.

use serde_json::{Value, json};

use super::{View, known};
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
    })
}
