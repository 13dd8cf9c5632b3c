//! How calls ended: one class per call, so the stack is as high as there were calls.

use serde_json::{Value, json};

use super::View;
use crate::dashboard::history::outcome::CLASSES;

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(site) = view.site() else { return Value::Null };
    let frames = site.frames.frames(view.span);
    json!({
        "classes": CLASSES,
        "frames": frames.iter().map(|frame| frame.outcomes.to_vec()).collect::<Vec<_>>(),
        "in_flight": frames.iter().map(|frame| frame.in_flight).collect::<Vec<_>>(),
        "total": site.total.outcomes,
    })
}
