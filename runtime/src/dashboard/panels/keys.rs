//! The keys with the most calls and the most refusals, of a bulkhead or a rate. Counts are those of a sketch of fixed size:
//! each may be too high by its error, and what is below is called other.

use serde_json::{Value, json};

use super::{View, compartment_name};
use crate::metrics::{KeyCount, KeyFigures};

pub(super) fn panel(view: &View<'_>) -> Value {
    let now = &view.kept.now;
    let slots = compartment_name(view.declaration).and_then(|name| now.bulkhead(name)).and_then(|it| it.keys.as_ref());
    let name = view.declaration.rate.map(|it| it.name.unwrap_or(view.declaration.identity.name));
    let tokens = name.and_then(|name| now.rate(name)).and_then(|it| it.keys.as_ref());
    match slots.or(tokens) {
        Some(keys) => figures(keys),
        None => Value::Null,
    }
}

fn figures(keys: &KeyFigures) -> Value {
    let counts = |counts: &[KeyCount]| {
        let one = |it: &KeyCount| json!({ "key": it.key, "count": it.count, "error": it.error });
        counts.iter().map(one).collect::<Vec<_>>()
    };
    json!({
        "kept": keys.kept,
        "idle": keys.idle,
        "busiest": counts(&keys.busiest),
        "refused": counts(&keys.most_refused),
    })
}
