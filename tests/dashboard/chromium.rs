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

use crate::ask::{panels, row};

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
pub(crate) fn pictures() -> PathBuf {
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
pub(crate) async fn see(browser: &str, url: &str, wanted: &[&str]) -> Seen {
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

/// The address of a function's page.
pub(crate) fn page_of(serving: &Serving, wall: &Value, name: &str) -> String {
    let panels = panels(row(wall, name), "minutes");
    let id = panels.split_once("id=").and_then(|(_, rest)| rest.split_once('&')).expect("an id").0;
    format!("{}?id={id}", serving.url())
}
