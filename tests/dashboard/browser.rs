//! The page in headless Chromium, driven by nothing but its command line.
//!
//! `--dump-dom` prints what a person would see, after the page has run. Console messages go to standard error, so an error
//! of a script, or something that the policy refused, is found there.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;
use watertight::dashboard::Serving;
use watertight::resilient;
use watertight_tests::AppError;

use crate::{panels, row, served, until};

/// The browser, if there is one; where services are required, there has to be.
pub(crate) fn chromium() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).exists())
    });
    if found.is_none() {
        let required = std::env::var_os("WATERTIGHT_REQUIRE_SERVICES").is_some_and(|it| it == "1");
        assert!(!required, "WATERTIGHT_REQUIRE_SERVICES=1, and there is no Chromium");
        eprintln!("skipped: there is no Chromium here");
    }
    found
}

/// Where pictures go: beside what was built.
fn pictures() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}

pub(crate) struct Seen {
    pub(crate) dom: String,
    pub(crate) console: Vec<String>,
}

pub(crate) async fn look(browser: &str, url: &str, size: &str, more: &[String]) -> Seen {
    let profile = pictures().join(format!("profile-{}-{}", std::process::id(), fastrand::u64(..)));
    let ran = Command::new(browser)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr"])
        .args(["--timeout=6000", &format!("--window-size={size}"), &format!("--user-data-dir={}", profile.display())])
        .args(more)
        .arg(url)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let ran = tokio::time::timeout(Duration::from_mins(2), ran).await.expect("in time").expect("it ran");
    let _ = std::fs::remove_dir_all(&profile);
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Seen { dom: String::from_utf8_lossy(&ran.stdout).into_owned(), console }
}

/// Looks until the page shows what it should: on a slow machine the first look may come before the first second.
async fn see(browser: &str, url: &str, wanted: &[&str]) -> Seen {
    for _ in 0..5 {
        let seen = look(browser, url, "1280,2000", &["--dump-dom".to_owned()]).await;
        if wanted.iter().all(|text| seen.dom.contains(text)) {
            return seen;
        }
    }
    let seen = look(browser, url, "1280,2000", &["--dump-dom".to_owned()]).await;
    let missing: Vec<_> = wanted.iter().filter(|text| !seen.dom.contains(**text)).collect();
    panic!("{missing:?} is not on the page; console: {:?}\n{}", seen.console, seen.dom);
}

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

/// The address of a function's page.
fn page_of(serving: &Serving, wall: &Value, name: &str) -> String {
    let panels = panels(row(wall, name), "minutes");
    let id = panels.split_once("id=").and_then(|(_, rest)| rest.split_once('&')).expect("an id").0;
    format!("{}?id={id}", serving.url())
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
