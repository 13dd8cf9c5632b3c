//! A file that changes while the process runs.

use tokio::time::sleep;
use watertight::settings::{Outside, in_force, record, rejected};
use watertight::testing::World;
use watertight::{Error, resilient};
use watertight_tests::ms;

use crate::file;

#[resilient(timeout = "1s")]
async fn watched_recs() -> Result<(), Error> {
    std::future::pending().await
}

fn timeout() -> String {
    let all = in_force();
    let site = all.iter().find(|site| site.identity.name == "watched_recs").expect("listed");
    site.figure("timeout").expect("declared").value.clone()
}

/// Waits until the file has been looked at: the clock is paused, and reading is a thread's.
async fn looked_at() {
    sleep(ms(2_500)).await;
}

#[tokio::test(start_paused = true)]
async fn a_change_is_applied_and_a_wrong_one_is_told_and_changes_nothing() {
    let _world = World::open();
    let text = |timeout: &str| format!("[site.watched_recs]\ntimeout = \"{timeout}\"\n");
    let path = file("watched", &text("100ms"));
    let watching = Outside::file(&path).variables::<&str, &str>([]).watch().unwrap();
    assert_eq!(timeout(), "\"100ms\"");
    file("watched", &text("200ms"));
    looked_at().await;
    assert_eq!(timeout(), "\"200ms\"");
    assert!(watched_recs().await.unwrap_err().to_string().contains("after 200ms"));

    file("watched", &text("soon"));
    looked_at().await;
    assert_eq!(timeout(), "\"200ms\"");
    assert!(rejected().expect("told").to_string().contains("settings-watched.toml:2"), "with its line");
    std::fs::remove_file(&path).unwrap();
    looked_at().await;
    assert_eq!(timeout(), "\"200ms\"", "gone is not empty");
    assert!(rejected().expect("told").to_string().contains("it cannot be read"));
    let told = record()
        .iter()
        .filter(|act| act.what.starts_with("a change was not applied: ") && act.what.contains("watched_recs"))
        .count();
    assert_eq!(told, 1, "once, however often it was looked at");

    file("watched", &text("300ms"));
    looked_at().await;
    assert_eq!((timeout(), rejected()), ("\"300ms\"".to_owned(), None));
    drop(watching);
    file("watched", &text("400ms"));
    looked_at().await;
    assert_eq!(timeout(), "\"300ms\"", "no longer watched");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_watched_that_is_wrong_from_the_start() {
    let _world = World::open();
    let path = file("wrong-from-the-start", "timeout = \"1s\"\n");
    let wrong = Outside::file(path).variables::<&str, &str>([]).watch().unwrap_err().to_string();
    assert!(wrong.contains("`timeout` is nothing that has settings"), "{wrong}");
}
