//! # The routes
//!
//! Three routes, chosen by what they need: the product page needs the pool and the vendor, the cart needs the pool, and
//! health needs nothing. Read together their success rates say how far an outage got.
//!
//! Invariants:
//! * the cart shares nothing with the vendor but the pool;
//! * health fails only if the process does.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{AppError, Shop, Variant, data, recs};

#[derive(Deserialize)]
struct Visitor {
    user: i64,
}

pub(super) fn router(shop: Arc<Shop>) -> Router {
    Router::new()
        .route("/product/{id}", get(product))
        .route("/cart", get(cart))
        .route("/health", get(|| async { "up" }))
        .with_state(shop)
}

async fn product(
    State(shop): State<Arc<Shop>>,
    Path(id): Path<i64>,
    Query(Visitor { user }): Query<Visitor>,
) -> Result<Json<Value>, AppError> {
    // The connection goes back before the strip is asked for: this handler is not the one holding on.
    let (name, cents) = data::product(&mut *shop.connection().await?, id).await?;
    let strip = match shop.variant {
        Variant::Bare => recs::recommendations_bare(&shop, user).await?,
        Variant::Annotated => recs::recommendations(&shop, user).await?,
    };
    Ok(Json(json!({ "name": name, "cents": cents, "recommended": strip })))
}

async fn cart(State(shop): State<Arc<Shop>>, Query(Visitor { user }): Query<Visitor>) -> Result<Json<Value>, AppError> {
    let things = data::cart_size(&mut *shop.connection().await?, user).await?;
    Ok(Json(json!({ "things": things })))
}
