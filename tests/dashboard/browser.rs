//! The page in headless Chromium: drawn, without errors, names with markup as text.

use std::time::Duration;

use watertight::resilient;
use watertight_tests::AppError;

use crate::chromium::{chromium, look, page_of, pictures, see};
use crate::{row, served, until};

#[resilient(timeout = "50ms", bulkhead = "dash-drawn:2/queue:1", retry = 1, fallback = || Ok(0), idempotent)]
async fn dash_drawn(hangs: bool) -> Result<u32, AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    tokio::time::sleep(Duration::from_millis(3)).await;
    Ok(1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_names_who_hurts_draws_every_panel_and_shows_markup_as_text() {
    let Some(browser) = chromium() else { return };
    let serving = served().await;
    let calling = tokio::spawn(async {
        loop {
            futures::future::join_all((0..6).map(|turn| dash_drawn(turn % 2 == 0))).await;
        }
    });
    let wall =
        until(&serving, "api/wall", |wall| row(wall, "dash_drawn")["harmed_per_second"].as_f64() > Some(0.0)).await;
    let seen = see(browser, &serving.url(), &["hurts most", ">dash_drawn</a>"]).await;
    assert_eq!(seen.console, Vec::<String>::new(), "no errors, and nothing that the policy refused");
    let url = page_of(&serving, &wall, "dash_drawn");
    let drawn = ["Fates", "Latency bands", "Timeout picker", "Bulkhead dash-drawn", "Retries", "Where the time goes"];
    let seen =
        see(browser, &url, &[&drawn[..], &["class=\"area fallback", "class=\"line timeout", "timeout = \""]].concat())
            .await;
    assert_eq!(seen.console, Vec::<String>::new());
    assert!(seen.dom.contains("role=\"img\"") && seen.dom.contains("aria-label="), "a drawing says what it shows");

    pictures_of(browser, [("wall", serving.url()), ("function", url)]).await;
    calling.abort();
    serving.stop().await;
}

/// Desktop, narrow and dark.
async fn pictures_of(browser: &str, pages: [(&str, String); 2]) {
    for (name, size, dark) in
        [("desktop", "1280,2200", false), ("narrow", "360,2200", false), ("dark", "1280,2200", true)]
    {
        for (page, url) in &pages {
            let file = pictures().join(format!("{page}-{name}.png"));
            let mut more = vec![format!("--screenshot={}", file.display())];
            more.extend(dark.then(|| "--blink-settings=preferredColorScheme=0".to_owned()));
            look(browser, url, size, &more).await;
            assert!(std::fs::metadata(&file).is_ok_and(|it| it.len() > 10_000), "{} was drawn", file.display());
        }
    }
}

#[resilient(timeout = "1s", bulkhead = "dash-markup:1", key = tenant)]
async fn dash_markup(tenant: &str) -> Result<(), AppError> {
    let _ = tenant;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_that_a_caller_chose_is_shown_as_text_and_runs_nothing() {
    let Some(browser) = chromium() else { return };
    let serving = served().await;
    // Names are checked; keys are whatever a caller sends.
    dash_markup("<img src=x onerror=document.title='owned'>").await.unwrap();
    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_markup")["total"] == 1).await;
    let url = page_of(&serving, &wall, "dash_markup");
    let seen = see(browser, &url, &["&lt;img src=x onerror", "Most calls"]).await;
    assert_eq!(seen.console, Vec::<String>::new());
    assert!(!seen.dom.contains("<img") && !seen.dom.contains("<title>owned"), "{}", seen.dom);
    serving.stop().await;
}
