//! Changing figures from the page: an override with an end, a name and a line in the record.
//!
//! What can be set from outside the code can be set from here, through the same reader and the same judge
//! ([`settings`](crate::settings)), so the page can ask for nothing that a file could not say. Two things are the page's own:
//! everything ends by itself, within a day, since whoever turns a knob in an incident goes to bed after it; and everything
//! is noted with the name of who did it.
//!
//! Invariants: without the token nothing is changed; nothing that is changed here has no end.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::Shared;
use super::history::changes;
use crate::declaration::Declaration;
use crate::settings::{self, Lease, Origin, Override};

/// The longest that an override from the page lasts, in minutes.
const LONGEST: u64 = 24 * 60;
/// The longest name, in characters.
const NAME: usize = 40;

/// Refuses whoever has no token.
#[allow(clippy::result_large_err)] // an answer, made once for a request
pub(super) fn allowed(shared: &Shared, headers: &HeaderMap) -> Result<(), Response> {
    let Some(token) = &shared.token else {
        let what = "this dashboard is read-only; give it a token with `Dashboard::new().token(..)`";
        return Err((StatusCode::FORBIDDEN, what).into_response());
    };
    if token.is_in(headers) { Ok(()) } else { Err((StatusCode::UNAUTHORIZED, "that is not the token").into_response()) }
}

/// Who asks, as they say; "somebody" otherwise.
fn who(asked: &Value) -> String {
    let name: String =
        asked["by"].as_str().unwrap_or_default().chars().filter(|c| !c.is_control()).take(NAME).collect();
    if name.trim().is_empty() { "somebody".to_owned() } else { name }
}

/// `{"setting": "site.\"shop::recs\".timeout", "value": "250ms", "minutes": 10, "by": "ann"}`.
pub(super) fn set(shared: &Shared, asked: &Value) -> Response {
    let (setting, value) = (asked["setting"].as_str().unwrap_or_default(), asked["value"].as_str().unwrap_or_default());
    let Some(minutes) = asked["minutes"].as_u64().filter(|minutes| (1..=LONGEST).contains(minutes)) else {
        let what = format!("`minutes` is how long it lasts, from 1 to {LONGEST}");
        return (StatusCode::BAD_REQUEST, what).into_response();
    };
    let by = who(asked);
    match Override::of(setting, value).by(&by).lasting(Duration::from_secs(minutes * 60)).apply() {
        Ok(()) => {
            changes::note(None, format!("{by} set {setting} to {value} for {minutes} min"));
            shared.viewers.write_anew();
            (StatusCode::OK, json!({ "set": setting }).to_string()).into_response()
        }
        Err(mistakes) => (StatusCode::BAD_REQUEST, mistakes.to_string()).into_response(),
    }
}

/// `{"setting": "..", "by": "ann"}`.
pub(super) fn revert(shared: &Shared, asked: &Value) -> Response {
    let (setting, by) = (asked["setting"].as_str().unwrap_or_default(), who(asked));
    if !settings::revert(setting, &by) {
        return (StatusCode::NOT_FOUND, "there is no such override, or it has ended").into_response();
    }
    changes::note(None, format!("{by} took {setting} back"));
    shared.viewers.write_anew();
    (StatusCode::OK, json!({ "reverted": setting }).to_string()).into_response()
}

/// What is in force at a function, where each figure comes from, and what can be changed of it.
pub(super) fn panel(declared: &'static Declaration) -> Value {
    let merged = settings::current();
    let site = settings::of_site(&merged, declared);
    let path = settings::path_of(&declared.identity);
    let figure = |it: &settings::InForce| {
        let (by, left) = match &it.origin {
            Origin::Live(lease @ Lease { by, .. }) => (Some(by.to_string()), lease.remaining()),
            _ => (None, None),
        };
        json!({
            "key": it.key,
            "value": it.value,
            "origin": it.origin.as_str(),
            "where": it.origin.to_string(),
            "declared": it.declared,
            "by": by,
            "left_ms": left.map(|left| left.as_secs_f64() * 1e3),
            // How it is addressed: what is a name's stands there with its name.
            "setting": settings::address_in_force(&merged, &declared.identity, &it.key),
        })
    };
    let breaker = declared
        .breaker
        .map(|it| it.name.map_or_else(|| format!("site.\"{path}\".breaker"), |name| format!("breaker.\"{name}\"")));
    json!({
        "site": format!("site.\"{path}\""),
        "figures": site.figures.iter().map(figure).collect::<Vec<_>>(),
        "patch": settings::patch_of(declared),
        "can": {
            "timeout": declared.timeout.is_some() || declared.can_be_told(),
            "slots": declared.bulkhead.filter(|it| it.floor.is_none()).map(|it| format!("bulkhead.\"{}\"", it.name)),
            "retry": declared.retry.is_some(),
            "breaker": breaker,
            "observe": declared.can_refuse() || declared.retry.is_some(),
        },
    })
}
