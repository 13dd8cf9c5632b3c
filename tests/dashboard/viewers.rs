//! B60. The live stream noticed a vanished viewer only when it wrote: with no data, or on HEAD, connections stayed, and after
//! a few the dashboard was out of service until restart.

use std::time::Duration;

use reqwest::{Client, Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use watertight::dashboard::{Dashboard, Serving};

/// Waits until so many watch, for as long as a heartbeat may take on a slow machine.
async fn until_watched_by(serving: &Serving, wanted: usize) {
    let begun = Instant::now();
    while serving.viewers() != wanted {
        assert!(begun.elapsed() < Duration::from_mins(1), "{} watch instead of {wanted}", serving.viewers());
        sleep(Duration::from_millis(20)).await;
    }
}

async fn watch(serving: &Serving) -> Response {
    Client::new().get(format!("{}api/stream", serving.url())).send().await.expect("an answer")
}

#[tokio::test]
async fn viewers_that_were_cut_give_their_places_back() {
    let serving = Dashboard::new().viewers(64).serve("127.0.0.1:0").await.unwrap();
    for _ in 0..5 {
        let watching: Vec<_> = futures::future::join_all((0..10).map(|_| watch(&serving))).await;
        assert!(watching.iter().all(|it| it.status() == StatusCode::OK));
        sleep(Duration::from_millis(100)).await;
        drop(watching);
    }
    for _ in 0..10 {
        let head = Client::new().head(format!("{}api/stream", serving.url())).send();
        let head = timeout(Duration::from_secs(30), head).await.expect("HEAD answers and ends").unwrap();
        assert_eq!(head.status(), StatusCode::OK);
    }
    until_watched_by(&serving, 0).await;
    serving.stop().await;
}

#[tokio::test]
async fn beyond_the_bound_a_viewer_is_told_so_and_the_next_has_the_place_that_came_free() {
    let serving = Dashboard::new().viewers(2).serve("127.0.0.1:0").await.unwrap();
    let (first, second) = (watch(&serving).await, watch(&serving).await);
    assert_eq!((first.status(), second.status(), serving.viewers()), (StatusCode::OK, StatusCode::OK, 2));
    let third = watch(&serving).await;
    assert_eq!(third.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(third.text().await.unwrap().starts_with("2 watch already"));
    // The page itself is there for everybody.
    assert!(reqwest::get(serving.url()).await.unwrap().status().is_success());
    drop(first);
    until_watched_by(&serving, 1).await;
    assert_eq!(watch(&serving).await.status(), StatusCode::OK);
    drop(second);
    serving.stop().await;
}

#[tokio::test]
async fn one_that_reads_nothing_loses_its_place_and_delays_nobody() {
    let serving = Dashboard::new().viewers(2).serve("127.0.0.1:0").await.unwrap();
    let mut stuck = TcpStream::connect(serving.address()).await.unwrap();
    stuck.write_all(b"GET /api/stream HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    until_watched_by(&serving, 1).await;
    let mut reading = watch(&serving).await;
    // A frame a second reaches whoever reads, although the other never does.
    for _ in 0..3 {
        let frame = timeout(Duration::from_secs(30), reading.chunk()).await.expect("in time").unwrap();
        assert!(frame.is_some_and(|frame| !frame.is_empty()));
    }
    drop(reading);
    drop(stuck);
    until_watched_by(&serving, 0).await;
    serving.stop().await;
}

#[tokio::test]
async fn a_stream_says_something_every_second_and_ends_with_the_dashboard() {
    let serving = Dashboard::new().serve("127.0.0.1:0").await.unwrap();
    let mut stream = TcpStream::connect(serving.address()).await.unwrap();
    stream.write_all(b"GET /api/stream HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut seen = Vec::new();
    while seen.windows(11).filter(|it| it == b"event: wall").count() < 2 {
        let mut part = [0; 4_096];
        let read = timeout(Duration::from_secs(30), stream.read(&mut part)).await.expect("in time").unwrap();
        assert!(read > 0, "the stream ended early");
        seen.extend_from_slice(&part[..read]);
    }
    timeout(Duration::from_secs(30), serving.stop()).await.expect("it ends");
    let rest = async {
        let mut part = [0; 4_096];
        while stream.read(&mut part).await.is_ok_and(|read| read > 0) {}
    };
    timeout(Duration::from_secs(30), rest).await.expect("and the stream with it");
}
