//! Who may look, who may turn a switch, and what the browser is told to refuse.

use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::Value;
use tokio::time::Instant;
use watertight::dashboard::Dashboard;
use watertight_examples::lab::flood::stage::{Stage, Switches};
use watertight_examples::live::{self, Live};

use crate::{ONE_AT_A_TIME, until};

async fn served() -> (Arc<Stage>, Live) {
    let stage = Arc::new(Stage::open(Switches::default()).await.unwrap());
    stage.arriving(false);
    let page = live::serve(([127, 0, 0, 1], 0).into(), Arc::clone(&stage), Dashboard::new()).await.unwrap();
    (stage, page)
}

#[tokio::test]
async fn a_switch_is_turned_by_this_site_and_by_no_other() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let (stage, page) = served().await;
    let url = format!("{}api/switch", page.url());
    let send = async |headers: &[(&'static str, &'static str)], body: &'static str| {
        let asked = Client::new().post(&url).body(body);
        let asked = headers.iter().fold(asked, |asked, (name, value)| asked.header(*name, *value));
        asked.send().await.unwrap().status()
    };
    let json = ("content-type", "application/json");
    let on = "{\"bulkheads\":true}";
    assert_eq!(
        send(&[("content-type", "text/plain")], on).await,
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "as a form could"
    );
    assert_eq!(send(&[json, ("origin", "http://evil.example")], on).await, StatusCode::FORBIDDEN);
    assert_eq!(send(&[json, ("sec-fetch-site", "cross-site")], on).await, StatusCode::FORBIDDEN);
    assert_eq!(send(&[json, ("host", "evil.example")], on).await, StatusCode::MISDIRECTED_REQUEST);
    for wrong in ["", "{}", "[]", "{\"bulkheads\":1}", "{\"bulkheads\":true,\"door\":true}"] {
        assert_eq!(send(&[json], wrong).await, StatusCode::BAD_REQUEST, "{wrong}");
    }
    assert_eq!(stage.switches(), Switches::default(), "nothing was turned so far");
    assert_eq!(reqwest::get(&url).await.unwrap().status(), StatusCode::METHOD_NOT_ALLOWED, "a link turns nothing");
    assert_eq!(send(&[json], on).await, StatusCode::OK);
    assert_eq!(stage.switches(), Switches { bulkheads: true, recs_slow: false });
    page.stop().await;
}

#[tokio::test]
async fn every_answer_carries_the_policy_and_nothing_is_inline_or_from_elsewhere() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let (_stage, page) = served().await;
    let assets = ["style.css", "common.js", "flood.js", "outage.js"].map(|name| format!("assets/{name}"));
    for path in ["", "api/state", "nothing", "dashboard"].map(str::to_owned).iter().chain(&assets) {
        let answer = reqwest::get(format!("{}{path}", page.url())).await.unwrap();
        let policy = answer.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.unwrap().replace("http://www.w3.org/2000/svg", "");
        assert!(!text.contains("https://") && !text.contains("http://"), "{path} names another place");
        assert!(!text.contains("<style") && !text.contains(" style=") && !text.contains("onclick="), "{path}");
    }
    let elsewhere =
        live::serve(([0, 0, 0, 0], 0).into(), Arc::new(live::board::Board::default()), Dashboard::new()).await;
    assert!(elsewhere.unwrap_err().to_string().contains("write 127.0.0.1:"));
    page.stop().await;
}

#[tokio::test]
async fn sixteen_may_watch_at_once_and_a_place_is_free_again_when_somebody_leaves() {
    let _turn = ONE_AT_A_TIME.lock().await;
    let (_stage, page) = served().await;
    let url = format!("{}api/stream", page.url());
    let mut viewers = Vec::new();
    for _ in 0..16 {
        let mut stream = Client::new().get(&url).send().await.unwrap();
        let first = stream.chunk().await.unwrap().unwrap();
        let text = String::from_utf8_lossy(&first).into_owned();
        let state = text.split_once("data: ").unwrap_or_else(|| panic!("{text}")).1;
        let state: Value = serde_json::from_str(state.trim()).unwrap();
        assert_eq!(state["dependencies"][2]["name"], "payments");
        viewers.push(stream);
    }
    assert_eq!(Client::new().get(&url).send().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    viewers.pop();
    until("a place", async || Client::new().get(&url).send().await.unwrap().status().is_success()).await;
    let begun = Instant::now();
    page.stop().await;
    assert!(begun.elapsed() < Duration::from_secs(2), "viewers do not hold it up");
}
