//! What the panels say is what the runtime counted.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;
use watertight::resilient;
use watertight_tests::AppError;

use crate::{json, panels, row, served, until};

#[resilient(
    timeout = "100ms",
    bulkhead = "dash-hung:2/queue:1",
    fallback = || Ok(0)
)]
async fn dash_hung(hangs: bool) -> Result<u32, AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Ok(1)
}

#[allow(dead_code)] // listed all the same
#[resilient(timeout = "1s")]
async fn dash_never_called() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test]
async fn functions_that_hurt_come_first_with_the_reason_and_counts_are_the_runtimes() {
    let serving = served().await;
    for _ in 0..5 {
        dash_hung(false).await.unwrap();
    }
    // Two run into their timeout, one waits and then does, the rest find no slot.
    join_all((0..40).map(|_| dash_hung(true))).await;
    let snapshot = watertight::snapshot();
    let counted = snapshot.site("dash_hung").unwrap();
    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_hung")["total"] == counted.calls).await;
    assert!(wall["harmed"].as_bool().unwrap());
    assert!(wall["headline"].as_str().unwrap().contains(" hurts most: "), "{}", wall["headline"]);
    let harmed: Vec<_> =
        wall["sites"].as_array().unwrap().iter().map(|it| it["harmed_per_second"].as_f64().unwrap()).collect();
    assert!(harmed.windows(2).all(|pair| pair[0] >= pair[1]), "those first that hurt most: {harmed:?}");
    let hung = row(&wall, "dash_hung");
    assert_eq!(hung["reason"], "no slot");
    assert_eq!((&hung["saturation"]["peak"], &hung["saturation"]["slots"]), (&2.into(), &2.into()));
    let never = row(&wall, "dash_never_called");
    assert_eq!((&never["total"], never["rate"].is_null()), (&0.into(), true), "listed, and no data is no zero line");
    let all = json(&serving, &panels(row(&wall, "dash_hung"), "minutes")).await;
    let classes: Vec<_> = all["fates"]["classes"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let total =
        |class: &str| all["fates"]["total"][classes.iter().position(|it| *it == class).unwrap()].as_u64().unwrap();
    assert_eq!(total("ok"), counted.ok);
    assert_eq!(total("fallback: timed out"), counted.timed_out);
    assert_eq!(total("fallback: no slot"), counted.refused);
    let frames = all["fates"]["frames"].as_array().unwrap();
    let drawn: u64 = frames.iter().flat_map(|frame| frame.as_array().unwrap()).map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(drawn, counted.calls, "frames sum to the calls");
    // The compartment was full for a tenth of a second, and a sample would have missed it.
    let most = |key: &str| all["compartment"][key].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).max();
    assert_eq!((most("running"), most("queued")), (Some(2), Some(1)));
    assert_eq!(all["compartment"]["shared_by"][0], "dash_hung");
    // What was cut off is apart from what completed, and what lies beyond is said to be unknown.
    assert_eq!(all["picker"]["count"], counted.latency.count() + counted.cut_off.count());
    assert_eq!(all["picker"]["cut_off"], counted.cut_off.count());
    assert_eq!(all["latency"]["timeout"], 100.0);
    let beyond = all["picker"]["candidates"].as_array().unwrap().last().unwrap();
    assert!(beyond["ms"].as_f64().unwrap() > 200.0 && beyond["cut"].is_null(), "{beyond}");
    serving.stop().await;
}

#[resilient(timeout = "50ms", idempotent, observe = "100%/runs:32", fallback = || Ok(0))]
async fn dash_observed(millis: u64) -> Result<u32, AppError> {
    sleep(Duration::from_millis(millis)).await;
    Ok(1)
}

#[tokio::test]
async fn what_ran_on_beyond_the_timeout_is_drawn_there_with_its_interval() {
    let serving = served().await;
    join_all((0..24).map(|_| dash_observed(120))).await;
    until(&serving, "api/wall", |_| {
        watertight::snapshot()
            .site("dash_observed")
            .and_then(|it| it.observed.as_ref())
            .is_some_and(|it| it.watched() == 24)
    })
    .await;
    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_observed")["total"] == 24).await;
    let path = panels(row(&wall, "dash_observed"), "minutes");
    let all = until(&serving, &path, |all| all["picker"]["observed"]["watched"] == 24).await;
    assert_eq!(all["picker"]["observed"]["fates"]["answered"], 24);
    assert_eq!((&all["picker"]["count"], &all["picker"]["cut_off"]), (&24.into(), &24.into()), "each is one attempt");
    let beyond = all["latency"]["beyond"].as_array().unwrap();
    assert_eq!(beyond.len(), 4, "every percentile lies there: {beyond:?}");
    let median = &beyond[0]["length"];
    let [low, length] = ["low_ms", "ms"].map(|end| median[end].as_f64().unwrap());
    assert!(low <= length && (120.0..200.0).contains(&length), "{median}");
    let cut = |ms: f64| {
        all["picker"]["candidates"].as_array().unwrap().iter().find(|it| it["ms"].as_f64() >= Some(ms)).cloned()
    };
    let longer = cut(80.0).expect("among the candidates");
    assert_eq!(longer["cut"]["share"], 1.0, "80 ms would not have been enough: {longer}");
    serving.stop().await;
}

#[derive(Debug)]
struct Flaky;

impl From<watertight::Error> for Flaky {
    fn from(_: watertight::Error) -> Self {
        Self
    }
}

#[resilient(timeout = "1s", retry(2, backoff = "1ms..1ms", budget = off), deadline = "5s")]
async fn dash_retried(fails: u32) -> Result<(), Flaky> {
    sleep(Duration::from_millis(2)).await;
    if watertight::attempt() < fails { Err(Flaky) } else { Ok(()) }
}

#[tokio::test]
async fn the_ladder_and_the_deadline_are_those_of_the_calls() {
    let serving = served().await;
    for fails in [0, 0, 0, 1, 2, 9] {
        let _ = dash_retried(fails).await;
    }
    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_retried")["total"] == 6).await;
    let all = json(&serving, &panels(row(&wall, "dash_retried"), "minutes")).await;
    let answered: Vec<_> =
        all["retry"]["ladder"].as_array().unwrap().iter().map(|rung| rung["answered"].as_u64().unwrap()).collect();
    assert_eq!(answered, [3, 1, 1, 0]);
    assert_eq!(all["retry"]["attempts"], 3 + 2 + 3 + 3);
    assert_eq!(all["retry"]["stops"][0]["reason"], "exhausted");
    assert_eq!(all["deadline"]["deadline"], 5_000.0);
    assert_eq!(all["deadline"]["with_deadline"], 6);
    assert!(all["deadline"]["answered"].as_f64().unwrap() >= 2.0, "{}", all["deadline"]);
    assert!(all["attribute"].as_str().unwrap().starts_with("#[resilient(deadline = \"5s\", retry(2, "));
    serving.stop().await;
}

#[resilient(timeout = "1s", bulkhead = "dash-keys:1", key = tenant)]
async fn dash_keyed(tenant: &str) -> Result<(), AppError> {
    let _ = tenant;
    sleep(Duration::from_millis(5)).await;
    Ok(())
}

#[resilient(breaker(name = "dash-breaker", window = 2, failures = "100%", min_calls = 2), timeout = "1s")]
async fn dash_broken() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[tokio::test]
async fn keys_are_counted_and_a_breaker_says_what_opened_it() {
    let serving = served().await;
    join_all((0..20).map(|turn| dash_keyed(if turn < 15 { "loud" } else { "quiet" }))).await;
    for _ in 0..3 {
        let _ = dash_broken().await;
    }
    let wall = until(&serving, "api/wall", |wall| {
        row(wall, "dash_keyed")["total"] == 20 && row(wall, "dash_broken")["total"] == 3
    });
    let wall = wall.await;
    let keys = json(&serving, &panels(row(&wall, "dash_keyed"), "hour")).await["keys"].clone();
    assert_eq!((&keys["busiest"][0]["key"], &keys["busiest"][0]["count"]), (&"loud".into(), &15.into()));
    assert_eq!(keys["refused"][0]["key"], "loud");
    let breaker = json(&serving, &panels(row(&wall, "dash_broken"), "minutes")).await["breaker"].clone();
    assert_eq!((&breaker["name"], &breaker["state"]), (&"dash-breaker".into(), &"open".into()));
    let change = breaker["changes"][0]["text"].as_str().unwrap();
    assert!(change.contains("from closed to open: 2 of 2 failed"), "{change}");
    assert!(wall["changes"].as_array().unwrap().iter().any(|it| it["breaker"] == "dash-breaker"));
    serving.stop().await;
}

#[tokio::test]
async fn the_other_addresses_answer_with_what_the_library_says() {
    let serving = served().await;
    let listed = json(&serving, "api/catalogue").await;
    assert_eq!(listed["catalogue"].as_array().unwrap().len(), watertight::catalogue().sites.len());
    assert!(json(&serving, "api/advice").await.is_array());
    let answer = reqwest::get(format!("{}metrics", serving.url())).await.unwrap();
    assert_eq!(answer.headers()["content-type"], watertight::export::PROMETHEUS);
    assert!(answer.text().await.unwrap().contains("watertight_calls_total{function=\"dash_never_called\""));
    let missing = reqwest::get(format!("{}api/function?id=nobody", serving.url())).await.unwrap();
    assert_eq!(missing.status(), 404);
    serving.stop().await;
}

#[tokio::test]
async fn functions_may_be_left_out_and_with_them_the_names_that_only_they_use() {
    let shown = watertight::dashboard::Dashboard::new().only(|function| function.name != "dash_hung");
    let serving = shown.serve("127.0.0.1:0").await.unwrap();
    dash_hung(false).await.unwrap();
    let wall = json(&serving, "api/wall").await;
    let names = |list: &str| -> Vec<_> {
        wall[list].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
    };
    assert!(names("sites").contains(&"dash_never_called"));
    assert!(!names("sites").contains(&"dash_hung") && !names("bulkheads").contains(&"dash-hung"), "{wall}");
    serving.stop().await;
}
