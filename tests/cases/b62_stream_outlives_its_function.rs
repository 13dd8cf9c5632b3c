//! B62. The timeout and the permit end when the response's head is ready; a streamed body runs on unbounded.
//!
//! Over a real socket, with an axum handler whose body is ten chunks, a tenth of a second apart, under 300 ms and one slot.

use std::convert::Infallible;
use std::io;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::{Stream, StreamExt, stream};
use tokio::net::TcpListener;
use tokio::time::sleep;
use watertight::stream::keep;
use watertight::{Error, resilient};
use watertight_tests::{assert_quiet, ms};

/// Ten chunks, a tenth of a second apart.
fn chunks<E>() -> impl Stream<Item = Result<&'static str, E>> {
    stream::iter(0..10).then(|_| async {
        sleep(ms(100)).await;
        Ok("x")
    })
}

#[resilient(timeout = "300ms", bulkhead = "b62_kept:1")]
async fn b62_kept() -> Result<Response, Error> {
    Ok(Body::from_stream(keep(chunks::<io::Error>())).into_response())
}

#[resilient(timeout = "300ms", bulkhead = "b62_bare:1")]
async fn b62_bare() -> Result<Response, Error> {
    Ok(Body::from_stream(chunks::<Infallible>()).into_response())
}

#[tokio::test]
async fn with_the_adaptor_slot_and_limit_hold_until_the_stream_ends_and_without_neither_does() {
    let app = Router::new().route("/kept", get(b62_kept)).route("/bare", get(b62_bare));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let client = reqwest::Client::new();

    for (path, bulkhead, is_kept) in [("kept", "b62_kept", true), ("bare", "b62_bare", false)] {
        let url = format!("{base}/{path}");
        let first = client.get(&url).send().await.expect("a head");
        assert_eq!(first.status(), 200);
        let second = client.get(&url).send().await.expect("a head");
        assert_eq!(second.status().as_u16(), if is_kept { 503 } else { 200 }, "{path}: the second request");
        drop(second);
        // How many of the ten come through depends on the machine; that they do not all is the limit.
        let body = first.bytes().await;
        assert_eq!(body.is_err(), is_kept, "{path}: {body:?}");
        assert!(body.is_err() || body.is_ok_and(|body| body.len() == 10));
        while watertight_tests::occupancy(bulkhead).0 > 0 {
            sleep(ms(1)).await;
        }
        assert_quiet(bulkhead, 1);
    }
}
