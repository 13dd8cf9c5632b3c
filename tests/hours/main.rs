//! What a dashboard says after half an hour: the last minutes beside those before them, as data and drawn by a browser; and the
//! wall by groups.
//!
//! The half hour passes on a paused clock, and the past is kept once for a process, so this is a process of its own.

#[path = "../dashboard/ask.rs"]
mod ask;
#[path = "../dashboard/chromium.rs"]
mod chromium;

use std::time::Duration;

use futures::future::join_all;
use watertight::resilient;
use watertight_tests::AppError;

use ask::{json, panels, row, served, until};
use chromium::{chromium, look, page_of, pictures, see};

#[resilient(timeout = "200ms", bulkhead = "dash-group:64", fallback = || Ok(0))]
async fn dash_compared(takes: u64) -> Result<u32, AppError> {
    tokio::time::sleep(Duration::from_millis(takes)).await;
    Ok(1)
}

#[resilient(timeout = "1s", bulkhead = "dash-group")]
async fn dash_neighbour() -> Result<u32, AppError> {
    Ok(1)
}

/// So many minutes in which a few calls a minute take so long.
async fn minutes(count: u32, takes: u64) {
    for _ in 0..count {
        join_all((0..20).map(|_| dash_compared(takes))).await;
        // A clock that stands moves on from one second of the dashboard's to the next.
        tokio::time::sleep(Duration::from_mins(1)).await;
    }
}

#[tokio::test]
async fn a_dependency_that_slowed_down_shows_as_two_lines_and_rows_stand_by_their_bulkhead() {
    let serving = served().await;
    dash_neighbour().await.unwrap();
    // Half an hour passes: fast at first, and for the last minutes so slow that the timeout cuts it off.
    tokio::time::pause();
    minutes(16, 10).await;
    minutes(11, 500).await;
    tokio::time::resume();

    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_compared")["total"].as_u64() >= Some(540)).await;
    let picker = json(&serving, &panels(row(&wall, "dash_compared"), "hour")).await["picker"].clone();
    let (young, before) = (&picker["compare"]["young"], &picker["compare"]["before"]);
    assert!(young["seconds"].as_u64() >= Some(600), "{picker}");
    assert_eq!(
        young["count"].as_u64().zip(before["count"].as_u64()).map(|(young, before)| young + before),
        picker["count"].as_u64(),
        "the two parts are all of it"
    );
    let at = picker["candidates"].as_array().unwrap().iter().position(|it| it["ms"] == 200.0).expect("in force");
    let cut = |part: &serde_json::Value| part["cuts"][at]["share"].as_f64().expect("watched");
    assert!(cut(young) > 0.8 && cut(before) < 0.1, "{young} {before}");

    if let Some(browser) = chromium() {
        let url = format!("{}&compare", page_of(&serving, &wall, "dash_compared"));
        let seen = see(browser, &url, &["class=\"line young\"", "class=\"line before\"", ">compared</dt>"]).await;
        assert_eq!(seen.console, Vec::<String>::new());
        picture(browser, "compare", &url).await;
        let url = format!("{}?group=bulkhead", serving.url());
        let wanted = ["scope=\"rowgroup\"", ">dash-group</span>", "2 functions, "];
        let seen = see(browser, &url, &wanted).await;
        assert_eq!(seen.console, Vec::<String>::new());
        picture(browser, "groups", &url).await;
        see(browser, &format!("{}?group=module", serving.url()), &[">hours</span>"]).await;
    }
    serving.stop().await;
}

async fn picture(browser: &str, name: &str, url: &str) {
    for (kind, size) in [("desktop", "1280,1600"), ("narrow", "360,2200")] {
        let file = pictures().join(format!("{name}-{kind}.png"));
        look(browser, url, size, &[format!("--screenshot={}", file.display())]).await;
        assert!(std::fs::metadata(&file).is_ok_and(|it| it.len() > 10_000), "{} was drawn", file.display());
    }
}
