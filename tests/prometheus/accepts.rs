//! `promtool` reads what is written: rules, and the page that is scraped.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use watertight::export::{Monitoring, prometheus, rules};
use watertight::resilient;
use watertight_tests::AppError;

use crate::{folder, there_is};

#[allow(dead_code)] // its declaration is what is written
#[resilient(
    timeout = "300ms",
    deadline = "2s",
    bulkhead = "prom-full:8/queue:16",
    breaker(name = "prom-full", failures = "20%", cooldown = "90s"),
    retry(2, on = [timeout]),
    fallback = || Ok(0),
    idempotent
)]
async fn prom_full() -> Result<u32, AppError> {
    Ok(1)
}

#[allow(dead_code)]
#[resilient(isolate = "prom-threads:2", timeout = "1s")]
fn prom_blocks() -> Result<(), AppError> {
    Ok(())
}

#[allow(dead_code)]
#[resilient(retry = 1)]
async fn prom_endless() -> Result<(), AppError> {
    Ok(())
}

/// What `promtool` says, and whether it is content.
async fn promtool(arguments: &[&str], input: &str) -> (bool, String) {
    let mut child = Command::new("promtool")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("promtool runs");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).await.expect("it reads");
    let seen = tokio::time::timeout(Duration::from_secs(20), child.wait_with_output()).await;
    let seen = seen.expect("in time").expect("it ends");
    let said = [seen.stdout, seen.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (seen.status.success(), said)
}

async fn accepted(name: &str, rules: &str) -> String {
    let folder = folder(name);
    let file = folder.join("rules.yml");
    std::fs::write(&file, rules).expect("written");
    let (content, said) = promtool(&["check", "rules", "--lint=all", file.to_str().expect("a path")], "").await;
    assert!(content, "{said}\n{rules}");
    let _ = std::fs::remove_dir_all(&folder);
    said
}

#[tokio::test]
async fn the_rules_of_a_binary_are_accepted() {
    if !there_is("promtool") {
        return;
    }
    let text = rules();
    let said = accepted("rules", &text).await;
    let written = text.matches("- alert: ").count() + text.matches("- record: ").count();
    assert!(said.contains(&format!("SUCCESS: {written} rules found")), "{said}");
    for alert in [
        "CallsFail",
        "CallsFallBack",
        "NoSlot",
        "TimeoutCuts",
        "RetriesRefused",
        "BreakerOpen",
        "ThreadsStuck",
        "Hangs",
    ] {
        assert!(text.contains(&format!("- alert: Watertight{alert}\n")), "{alert}");
    }
}

#[tokio::test]
async fn rules_over_windows_of_any_length_are_accepted() {
    if !there_is("promtool") {
        return;
    }
    for milliseconds in [1, 1_500, 60_000, 86_400_000] {
        let length = Duration::from_millis(milliseconds);
        accepted("lengths", &Monitoring::new().window(length).hold(length).process_labels([]).rules()).await;
    }
}

#[tokio::test]
async fn the_page_is_accepted() {
    if !there_is("promtool") {
        return;
    }
    let (content, said) = promtool(&["check", "metrics"], &prometheus()).await;
    assert!(content, "{said}");
}
