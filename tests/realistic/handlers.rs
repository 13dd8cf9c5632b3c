//! axum handlers, with extractors in every position.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRef, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use watertight::{Failure, resilient};

use crate::client::Prices;
use crate::error::AppError;
use crate::repository::{NewUser, Repository as _, SqliteUsers, User};

#[derive(Clone)]
pub(crate) struct AppState {
    pub(crate) users: Arc<SqliteUsers>,
    pub(crate) prices: Prices,
}

impl FromRef<AppState> for Prices {
    fn from_ref(state: &AppState) -> Self {
        state.prices.clone()
    }
}

pub(crate) fn router(state: AppState) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/users", get(list_users).post(create_user))
        .route("/users/{id}", get(get_user).delete(delete_user))
        .route("/users/{id}/email", get(email))
        .route("/names", post(rename))
        .route("/prices/{id}", get(price))
        .route("/pages/{name}", get(page))
        .route("/echo", post(echo))
        .route("/busy", get(busy))
        .layer(from_fn(timed))
        .layer(from_fn_with_state(state.clone(), authorised))
        .with_state(state)
}

#[resilient(timeout = "1s", fallback = || "late")]
async fn health() -> &'static str {
    "ok"
}

#[derive(Clone, Deserialize)]
struct Search {
    start: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
}

#[resilient(deadline = "3s", bulkhead = "lists:8/queue:8", fallback = |_| Json(Vec::new()))]
async fn list_users(State(state): State<AppState>, Query(search): Query<Search>) -> Result<Json<Vec<User>>, AppError> {
    let start = search.start.as_deref().unwrap_or_default();
    Ok(Json(state.users.search(start, search.limit.unwrap_or(20)).await?))
}

#[resilient(timeout = "2s", retry = 1, breaker)]
async fn get_user(State(AppState { users, .. }): State<AppState>, Path(id): Path<i64>) -> Result<Json<User>, AppError> {
    users.find(id).await.map(Json)
}

#[resilient(deadline = "3s")]
#[axum::debug_handler]
async fn create_user(
    State(state): State<AppState>,
    Json(user): Json<NewUser>,
) -> Result<(StatusCode, Json<User>), AppError> {
    let made = state.users.create(user).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

#[resilient(timeout = "2s")]
async fn delete_user(State(state): State<AppState>, Path(id): Path<i64>) -> Result<StatusCode, AppError> {
    state.users.remove(id).await.map(|()| StatusCode::NO_CONTENT)
}

#[resilient(timeout = "2s")]
async fn email(State(state): State<AppState>, Path(id): Path<i64>) -> Result<String, AppError> {
    state.users.email(id).await.ok_or(AppError::NotFound)
}

#[resilient(timeout = "2s")]
async fn rename(
    State(state): State<AppState>,
    Json(names): Json<HashMap<i64, String>>,
) -> Result<impl IntoResponse, AppError> {
    Ok(state.users.rename(names.into_iter().collect()).await?.to_string())
}

#[resilient(timeout = "500ms", fallback = unknown_price)]
async fn price(State(prices): State<Prices>, Path(id): Path<u64>) -> Result<Json<u64>, AppError> {
    prices.price(id).await.map(Json)
}

async fn unknown_price(failure: Failure<AppError>) -> Json<u64> {
    match failure {
        Failure::Refused(_) | Failure::Failed(_) => Json(0),
    }
}

#[resilient(timeout = "500ms", fallback = format!("{name} is not here").into_boxed_str())]
async fn page(State(state): State<AppState>, Path(name): Path<String>) -> Result<Box<str>, (StatusCode, String)> {
    let mut users = 0;
    let each = |_| users += 1;
    state.users.stream(each).await.map_err(|error| (StatusCode::BAD_GATEWAY, format!("{error:?}")))?;
    Ok(format!("welcome to {name}, {users} users").into())
}

#[resilient(timeout = "500ms")]
async fn echo(headers: HeaderMap, body: Bytes) -> Result<Response, AppError> {
    if headers.is_empty() {
        return Err(AppError::Invalid("no headers"));
    }
    Ok(body.into_response())
}

/// The response is the error.
#[resilient(timeout = "500ms", bulkhead = "busy:1", fallback = || StatusCode::TOO_MANY_REQUESTS.into_response())]
async fn busy(request: Request) -> Response {
    request.uri().to_string().into_response()
}

#[resilient(timeout = "9s", fallback = StatusCode::GATEWAY_TIMEOUT.into_response())]
async fn timed(request: Request, next: Next) -> Response {
    next.run(request).await
}

#[resilient(timeout = "9s")]
async fn authorised(State(state): State<AppState>, request: Request, next: Next) -> Result<Response, AppError> {
    let count = state.users.count().await?;
    if count < 0 { Err(AppError::Invalid("nobody")) } else { Ok(next.run(request).await) }
}
