//! Addresses and answers.
//!
//! | address | answer |
//! |---|---|
//! | `/`, `/?id=ID` | the page; that of one function |
//! | `/assets/NAME` | its parts |
//! | `/api/wall`, `/api/stream` | the wall, once, and every second as server-sent events |
//! | `/api/function?id=ID&span=hour` | every panel of one function |
//! | `/api/catalogue` | every function with its settings, and the findings of the check |
//! | `/api/advice` | [`advise`](crate::advise) |
//! | `/metrics` | Prometheus text |
//! | `/rules.yml`, `/grafana.json` | rules for Prometheus, a dashboard for Grafana, of the functions shown |
//! | `POST /api/breaker` | `{"name": "..", "act": "isolate" or "reset"}`, with the token |
//! | `POST /api/override`, `/api/revert` | a figure for so many minutes, see `control`; with the token |
//!
//! Invariant: every address that is not posted to reads and changes nothing.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, OriginalUri, Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::map_response;
use axum::response::sse::Sse;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::history::ring::Span;
use super::history::{changes, declared};
use super::panels::{self, View};
use super::{Shared, assets, control, viewers};
use crate::check::check;
use crate::{advice, export, listing, registry, settings};

type Dash = State<Arc<Shared>>;

/// The longest request body, in bytes.
const LONGEST: usize = 4_096;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/assets/{name}", get(asset))
        .route("/api/wall", get(wall))
        .route("/api/stream", get(stream))
        .route("/api/function", get(function))
        .route("/api/catalogue", get(catalogue))
        .route("/api/advice", get(advise))
        .route("/api/breaker", post(act_on_breaker))
        .route("/api/override", post(set))
        .route("/api/revert", post(revert))
        .route("/metrics", get(metrics))
        .route("/rules.yml", get(rules))
        .route("/grafana.json", get(grafana))
        .layer(DefaultBodyLimit::max(LONGEST))
        .layer(map_response(super::access::with_policy))
        .with_state(shared)
}

/// The page, with addresses of its parts that are right wherever the router is mounted.
/// With `?id=ID` the figures of one function come along, so that a link to it shows something at once.
async fn page(
    State(shared): Dash,
    OriginalUri(uri): OriginalUri,
    Query(asked): Query<HashMap<String, String>>,
) -> Response {
    shared.history.keep_going();
    let path = uri.path();
    let last = path.rsplit('/').next().unwrap_or_default();
    // Relative to what stands before the last slash. The segment is one of the path, so it holds no slash and no quote that
    // is not escaped; what else could end an attribute is left out all the same.
    let plain = last.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '%'));
    let base = if last.is_empty() || !plain { String::new() } else { format!("{last}/") };
    let token = if shared.token.is_some() { "yes" } else { "no" };
    // So that something is there before the first second is over. Nothing in it can end the element it stands in.
    let first = viewers::wall_text(&shared).replace('<', "\\u003c");
    let given = asked.get("id").and_then(|id| figures(&shared, id, Span::Minutes));
    let given = given.map_or_else(|| "null".to_owned(), |given| given.to_string().replace('<', "\\u003c"));
    let text = assets::PAGE
        .replace("{{base}}", &base)
        .replace("{{token}}", token)
        .replace("{{first}}", &first)
        .replace("{{given}}", &given);
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

async fn asset(Path(name): Path<String>) -> Response {
    match assets::find(&name) {
        Some((kind, text)) => ([(CONTENT_TYPE, kind)], text).into_response(),
        None => (StatusCode::NOT_FOUND, "there is no such part of the page").into_response(),
    }
}

fn as_json(text: impl Into<String>) -> Response {
    ([(CONTENT_TYPE, "application/json")], text.into()).into_response()
}

async fn wall(State(shared): Dash) -> Response {
    shared.history.keep_going();
    as_json(&*viewers::wall_text(&shared))
}

async fn stream(State(shared): Dash) -> Response {
    shared.history.keep_going();
    if let Some(place) = shared.viewers.take() {
        return Sse::new(viewers::watch(Arc::clone(&shared), place)).into_response();
    }
    let most = shared.viewers.most();
    let what = format!("{most} watch already, and that is as many as may; close a page, or allow more with `viewers`");
    (StatusCode::SERVICE_UNAVAILABLE, what).into_response()
}

async fn function(State(shared): Dash, Query(asked): Query<HashMap<String, String>>) -> Response {
    let id = asked.get("id").map_or("", String::as_str);
    let span = if asked.get("span").is_some_and(|span| span == "hour") { Span::Hour } else { Span::Minutes };
    match figures(&shared, id, span) {
        Some(figures) => as_json(figures.to_string()),
        None => (StatusCode::NOT_FOUND, "there is no such function in this binary").into_response(),
    }
}

/// Every panel of a function.
fn figures(shared: &Shared, id: &str, span: Span) -> Option<Value> {
    let (declared, all) = declared(id)?;
    // The panels show what is in force; what is written is shown as written.
    let effective = settings::effective(&settings::current(), declared);
    let all_effective = settings::all_effective(&all);
    let (declaration, all) = (&effective, &all_effective.iter().collect::<Vec<_>>());
    let kept = shared.history.read();
    Some(panels::function(&View { kept: &kept, span, id, declared, declaration, all }, &control::panel(declared)))
}

async fn catalogue() -> Response {
    let (catalogue, report) = (listing::catalogue(), check());
    as_json(format!("{{\"catalogue\":{},\"check\":{}}}", catalogue.to_json(), report.to_json()))
}

async fn advise() -> Response {
    as_json(advice::advise().to_json())
}

async fn metrics() -> Response {
    ([(CONTENT_TYPE, export::PROMETHEUS)], export::prometheus()).into_response()
}

async fn set(State(shared): Dash, headers: HeaderMap, body: String) -> Response {
    match control::allowed(&shared, &headers) {
        Ok(()) => control::set(&shared, &serde_json::from_str(&body).unwrap_or_default()),
        Err(refused) => refused,
    }
}

async fn revert(State(shared): Dash, headers: HeaderMap, body: String) -> Response {
    match control::allowed(&shared, &headers) {
        Ok(()) => control::revert(&shared, &serde_json::from_str(&body).unwrap_or_default()),
        Err(refused) => refused,
    }
}

async fn rules(State(shared): Dash) -> Response {
    let rules = export::Monitoring::new().only(shared.shows).rules();
    ([(CONTENT_TYPE, "application/yaml")], rules).into_response()
}

async fn grafana(State(shared): Dash) -> Response {
    as_json(export::Monitoring::new().only(shared.shows).grafana())
}

async fn act_on_breaker(State(shared): Dash, headers: HeaderMap, body: String) -> Response {
    if let Err(refused) = control::allowed(&shared, &headers) {
        return refused;
    }
    let asked: Value = serde_json::from_str(&body).unwrap_or_default();
    let name = asked["name"].as_str().unwrap_or_default();
    let (count, what) = match asked["act"].as_str() {
        Some("isolate") => (registry::isolate_breaker(name), "held open"),
        Some("reset") => (registry::reset(name), "closed"),
        _ => return (StatusCode::BAD_REQUEST, "`act` is \"isolate\" or \"reset\"").into_response(),
    };
    if count == 0 {
        return (StatusCode::NOT_FOUND, "there is no such breaker").into_response();
    }
    changes::note(None, format!("breaker `{name}` was {what} from the dashboard"));
    shared.viewers.write_anew();
    as_json(json!({ "breakers": count }).to_string())
}
