//! The states of a breaker over time, and what caused each change, with the figures that were judged.

use serde_json::{Value, json};

use super::{View, breaker_name};
use crate::dashboard::history::ago;
use crate::dashboard::history::changes::{self, Noted};

pub(super) fn panel(view: &View<'_>) -> Value {
    let Some(name) = breaker_name(view.declaration) else { return Value::Null };
    let (Some(ring), Some(now)) = (view.kept.breakers.get(name), view.kept.now.breaker(name)) else {
        return Value::Null;
    };
    let changes = changes::all();
    let own = changes.iter().filter(|it| it.breaker.is_some_and(|change| change.name == name)).take(20);
    json!({
        "name": name,
        "state": now.state.as_str(),
        "failures": now.failures,
        "slow": now.slow,
        "results": now.calls,
        "opened": now.opened,
        "not_closed": now.not_closed_for.as_secs_f64(),
        "states": ring.frames(view.span).iter().map(|state| state.as_str()).collect::<Vec<_>>(),
        "changes": own.map(noted).collect::<Vec<_>>(),
    })
}

pub(super) fn noted(it: &Noted) -> Value {
    json!({
        "ago": ago(it.at),
        "text": it.text,
        "to": it.breaker.map(|change| change.to.as_str()),
        "breaker": it.breaker.map(|change| change.name),
    })
}
