//! Stopping, together with axum's own graceful shutdown.

use std::time::Duration;

use axum::Router;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use watertight::integrations::http::ServerLayer;
use watertight::testing::World;
use watertight::{Error, resilient, shutdown};
use watertight_tests::{PATIENCE, ms};

use crate::support::alone;

#[resilient(timeout = "10s")]
async fn edges_step(length: Duration) -> Result<String, Error> {
    sleep(length).await;
    Ok("done".to_owned())
}

/// Two steps, and between them no call is under way.
async fn slowly() -> Result<String, Error> {
    edges_step(ms(300)).await?;
    sleep(ms(100)).await;
    edges_step(ms(100)).await
}

struct Server {
    base: String,
    stop: oneshot::Sender<()>,
    task: tokio::task::JoinHandle<std::io::Result<()>>,
}

async fn serve() -> Server {
    let app = Router::new()
        .route("/slowly", get(slowly))
        .route("/hangs", get(std::future::pending::<String>))
        .route("/", get(|| edges_step(Duration::ZERO)))
        .layer(ServerLayer::new());
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    let (stop, told) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let told = async { told.await.unwrap_or_default() };
        axum::serve(listener, app).with_graceful_shutdown(told).await
    });
    Server { base, stop, task }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_was_begun_is_answered_and_a_new_one_is_told_to_ask_again() {
    let _alone = alone().await;
    let _world = World::open();
    let server = serve().await;
    let client = reqwest::Client::new();
    assert_eq!(client.get(&server.base).send().await.expect("an answer").status(), 200);
    let begun = tokio::spawn(client.get(format!("{}/slowly", server.base)).send());
    sleep(ms(100)).await;

    shutdown::begin();
    let new = client.get(&server.base).send().await.expect("an answer");
    assert_eq!((new.status().as_u16(), &new.headers()["retry-after"]), (503, &"1".parse().expect("a value")));
    assert_eq!(new.text().await.expect("a body"), "This server is about to stop. Please ask again.\n");

    server.stop.send(()).expect("it serves");
    let drained = shutdown::drain(PATIENCE).await;
    assert!(drained.is_clean(), "{drained}");
    let begun = begun.await.expect("no panic").expect("an answer");
    assert_eq!((begun.status().as_u16(), begun.text().await.expect("a body")), (200, "done".to_owned()));
    timeout(PATIENCE, server.task).await.expect("it ends by itself").expect("no panic").expect("it served");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_hangs_is_reported_and_does_not_hold_the_process() {
    let _alone = alone().await;
    let _world = World::open();
    let server = serve().await;
    let hung = tokio::spawn(reqwest::Client::new().get(format!("{}/hangs", server.base)).send());
    sleep(ms(100)).await;
    server.stop.send(()).expect("it serves");
    let drained = timeout(PATIENCE, shutdown::drain(ms(100))).await.expect("the grace is over");
    assert_eq!((drained.requests, drained.left.len()), (1, 0), "{drained}");
    assert!(!server.task.is_finished(), "axum waits for it");
    server.task.abort();
    hung.abort();
}

#[test]
fn a_runtime_that_goes_while_it_drains_neither_panics_nor_blocks() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // Another test may be stopping: this one has a world of its own, for as long as it lives.
        std::mem::forget(World::open());
        for length in [60_000, 120_000] {
            tokio::spawn(edges_step(ms(length)));
        }
        sleep(ms(20)).await;
        tokio::spawn(shutdown::drain(PATIENCE * 3));
        sleep(ms(20)).await;
    });
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        drop(runtime);
        tell.send(()).expect("somebody waits");
    });
    told.recv_timeout(PATIENCE).expect("it went at once");
}
