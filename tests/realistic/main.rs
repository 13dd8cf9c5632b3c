//! Services as people write them, with the attribute on every function that waits for something.
//!
//! The style is that of the published examples of axum, sqlx, reqwest and tonic: handlers with extractors, repositories
//! over a pool, clients over HTTP, services behind `#[async_trait]`. That they compile is most of the test; the rest is
//! that the calls through all of them give what the plain functions would.

mod client;
mod error;
mod handlers;
mod jobs;
mod repository;
mod service;

use std::sync::Arc;

use handlers::AppState;
use repository::{NewUser, Repository as _, SqliteUsers};

async fn state() -> AppState {
    let users = SqliteUsers::in_memory().await.expect("a database");
    users.create(NewUser { name: "ann".into(), email: None }).await.expect("a first user");
    AppState { users: Arc::new(users), prices: client::Prices::new("http://127.0.0.1:9") }
}

#[tokio::test]
async fn the_shop_answers() {
    let state = state().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move { axum::serve(listener, handlers::router(state)).await });
    let shop = client::Shop::new(&base);
    assert_eq!(shop.health().await.expect("healthy"), "ok");
    assert_eq!(shop.user(1).await.expect("the first user").name, "ann");
    assert_eq!(shop.user(9).await.expect_err("no such user").status(), Some(404));
    let made = shop.create(&NewUser { name: "bob".into(), email: Some("bob@example.org".into()) }).await;
    assert_eq!(made.expect("made").id, 2);
    assert_eq!(shop.list(Some("b")).await.expect("a list").len(), 1);
    assert_eq!(shop.list(None).await.expect("a list").len(), 2);
    assert_eq!(shop.price(1).await.expect("the fallback's price"), 0);
    assert!(shop.forget(2).await.is_ok());
    assert_eq!(shop.page("start").await, "welcome to start, 1 users");
}

#[tokio::test]
async fn the_service_answers() {
    let service = service::Greeter::new(Arc::new(SqliteUsers::in_memory().await.expect("a database")));
    service::check(&service).await;
}

#[tokio::test]
async fn the_jobs_run() {
    jobs::check().await;
}
