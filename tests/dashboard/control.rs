//! Figures changed from the page: over the socket, and by pressing its buttons in the browser.
//!
//! The browser is driven by nothing but its command line, which presses nothing. So a page of this test's own, from the same
//! origin, loads the dashboard's own script, hands it what the dashboard says of a function, and presses the buttons.

use std::time::Duration;

use axum::response::Html;
use axum::routing::get;
use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use watertight::dashboard::Dashboard;
use watertight::settings::{in_force, record};
use watertight::{ErrorKind, resilient};
use watertight_tests::{AppError, bulkhead};

use crate::chromium::{chromium, look};
use crate::{panels, row, served, until};

#[resilient(timeout = "20s", bulkhead = "dash-set:3", retry = 2, breaker = "dash-set-breaker")]
async fn dash_set() -> Result<(), AppError> {
    Err(AppError::Broken("down"))
}

#[resilient(breaker(name = "dash-set-breaker", window = 50, min_calls = 50))]
async fn dash_set_breaker() -> Result<(), AppError> {
    Ok(())
}

async fn post(url: &str, path: &str, token: Option<&str>, body: &Value) -> (StatusCode, String) {
    let mut asked = Client::new().post(format!("{url}{path}")).body(body.to_string());
    if let Some(token) = token {
        asked = asked.bearer_auth(token);
    }
    let answer = asked.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

fn figure(key: &str) -> (String, &'static str) {
    let all = in_force();
    let site = all.iter().find(|it| it.identity.name == "dash_set").expect("listed");
    let figure = site.figure(key).unwrap_or_else(|| panic!("no {key}"));
    (figure.value.clone(), figure.origin.as_str())
}

#[tokio::test]
async fn a_figure_is_set_for_some_minutes_by_whoever_has_the_token_and_taken_back() {
    dash_set_breaker().await.unwrap();
    dash_set().await.unwrap_err();
    let read_only = served().await;
    let timeout = json!({ "setting": "site.dash_set.timeout", "value": "40ms", "minutes": 10, "by": "ann" });
    assert_eq!(post(&read_only.url(), "api/override", Some("secret"), &timeout).await.0, StatusCode::FORBIDDEN);
    let serving = Dashboard::new().token("secret").serve("127.0.0.1:0").await.unwrap();
    let url = serving.url();
    assert_eq!(post(&url, "api/override", None, &timeout).await.0, StatusCode::UNAUTHORIZED);
    assert_eq!(figure("timeout").1, "code", "nothing has changed");

    let wrong = [
        (json!({ "setting": "site.dash_set.timeout", "value": "40", "minutes": 10 }), "a number alone has no unit"),
        (
            json!({ "setting": "site.dash_sat.timeout", "value": "40ms", "minutes": 10 }),
            "did you mean `dashboard::control::dash_set`?",
        ),
        (json!({ "setting": "site.dash_set.timeout", "value": "40ms" }), "`minutes` is how long it lasts"),
        (json!({ "setting": "site.dash_set.timeout", "value": "40ms", "minutes": 100_000 }), "from 1 to 1440"),
        (json!({ "minutes": 10 }), "nothing that has settings"),
    ];
    for (body, says) in wrong {
        let (status, text) = post(&url, "api/override", Some("secret"), &body).await;
        assert!(status == StatusCode::BAD_REQUEST && text.contains(says), "{body}: {status} {text}");
    }
    assert_eq!(post(&url, "api/override", Some("secret"), &timeout).await.0, StatusCode::OK);
    assert_eq!(figure("timeout"), ("\"40ms\"".to_owned(), "override"));
    assert!(
        record().iter().any(|act| &*act.by == "ann" && act.what.contains("dash_set\".timeout = \"40ms\" for 600s"))
    );

    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_set")["set"] == true).await;
    let shown = crate::json(&serving, &panels(row(&wall, "dash_set"), "minutes")).await;
    let control = &shown["control"];
    let timeout = control["figures"].as_array().unwrap().iter().find(|it| it["key"] == "timeout").unwrap();
    assert_eq!(
        (&timeout["value"], &timeout["by"], &timeout["declared"]),
        (&json!("\"40ms\""), &json!("ann"), &json!("\"20s\""))
    );
    assert!(timeout["left_ms"].as_f64().is_some_and(|left| left > 500_000.0 && left <= 600_000.0), "{timeout}");
    assert!(control["patch"].as_str().unwrap().contains("timeout = \"40ms\")]"), "{}", control["patch"]);
    assert!(shown["attribute"].as_str().unwrap().contains("timeout = \"20s\""), "what is written is shown as written");
    assert!(
        wall["changes"].to_string().contains("ann set site.dash_set.timeout to 40ms for 10 min"),
        "{}",
        wall["changes"]
    );

    let back = json!({ "setting": timeout["setting"], "by": "bob" });
    assert_eq!(post(&url, "api/revert", Some("secret"), &back).await.0, StatusCode::OK);
    assert_eq!(figure("timeout").1, "code");
    assert_eq!(post(&url, "api/revert", Some("secret"), &back).await.0, StatusCode::NOT_FOUND);
    read_only.stop().await;
    serving.stop().await;
}

#[resilient(timeout = "20s", bulkhead = "dash-pressed:3", retry = 2, breaker(window = 50, min_calls = 50))]
async fn dash_pressed(fails: bool) -> Result<(), AppError> {
    tokio::time::sleep(Duration::from_millis(2)).await;
    if fails { Err(AppError::Broken("down")) } else { Ok(()) }
}

/// A page that presses the buttons of the dashboard's own script, one after another, and says what came of each.
fn driver(id: &str) -> String {
    let script = r#"
import { control } from "/wt/assets/control.js";
import { picker } from "/wt/assets/picker.js";
const said = document.getElementById("said");
const change = async (path, body) => {
  const answer = await fetch(`/wt/${path}`, { method: "POST", headers: { authorization: "Bearer secret" }, body: JSON.stringify({ by: "ann", ...body }) });
  return answer.ok ? "done" : answer.text();
};
const figures = control(change);
const chosen = picker((ms) => figures.set(`${figures.site()}.timeout`, ms, 10));
document.body.append(figures.node, chosen.node);
const read = async () => {
  const data = await (await fetch("/wt/api/function?id=ID&span=minutes")).json();
  figures.update(data);
  chosen.update(data);
};
const pause = () => new Promise((go) => setTimeout(go, 30));
const press = async (act) => {
  const answer = document.querySelector("[data-answer]");
  answer.textContent = "";
  document.querySelector(`[data-act="${act}"]`).click();
  for (let n = 0; n < 100 && answer.textContent === ""; n += 1) await pause();
  said.append(`${act}: ${answer.textContent}; `);
  await read();
};
await read();
await press("try");
document.getElementById("other-timeout").value = "soon";
await press("timeout");
document.getElementById("slots").value = "5";
await press("slots");
await press("retries-off");
await press("force-open");
await press("observe");
await press("revert timeout");
said.append(["all", "pressed"].join(" "));
"#;
    let script = script.replace("ID", id);
    format!("<!doctype html><html><body><p id=\"said\"></p><script type=\"module\">{script}</script></body></html>")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_buttons_of_the_page_change_what_they_say_and_show_where_it_is_set() {
    let Some(browser) = chromium() else { return };
    for _ in 0..60 {
        dash_pressed(false).await.unwrap();
    }
    let id = serving_id().await;
    let app = axum::Router::new()
        .nest("/wt", Dashboard::new().token("secret").router())
        .route("/drive", get(move || async move { Html(driver(&id)) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/drive", listener.local_addr().unwrap());
    let server = tokio::spawn(async { axum::serve(listener, app).await });
    // The clock of its own is the browser's, and it stands still while an answer is awaited.
    let more = ["--dump-dom".to_owned(), "--virtual-time-budget=30000".to_owned()];
    let seen = look(browser, &url, "1280,2000", &more).await;
    assert_eq!(seen.console, Vec::<String>::new(), "no errors");
    for said in [
        "try: done;",
        "timeout: `site.\"dashboard::control::dash_pressed\".timeout = \"soon\"`: a duration starts with its number; write a number and a unit: \"300ms\", \"1.5s\", \"2m\";",
        "slots: done;",
        "retries-off: done;",
        "force-open: done;",
        "observe: done;",
        "revert timeout: done; all pressed",
    ] {
        assert!(seen.dom.contains(said), "{said} is not in {}", seen.dom);
    }
    for shown in ["override by ann", "min left", ">Take back<", "bulkhead.dash-pressed.slots", "#[resilient("] {
        assert!(seen.dom.contains(shown), "{shown} is not on the page: {}", seen.dom);
    }
    assert_eq!(bulkhead("dash-pressed").slots, 5);
    let all = in_force();
    let site = all.iter().find(|it| it.identity.name == "dash_pressed").unwrap();
    let is_set = |key: &str| site.figure(key).is_some_and(|it| it.origin.as_str() == "override");
    assert!(is_set("retry.enabled") && is_set("breaker.force") && is_set("timeout.mode"), "{site:?}");
    assert_eq!(site.figure("timeout").map(|it| it.value.as_str()), Some("\"20s\""), "tried, and taken back");
    // Held open for everybody, and nobody is refused: it only observes.
    dash_pressed(false).await.unwrap();
    let taken_back = watertight::settings::revert("site.dashboard::control::dash_pressed.mode", "test");
    assert!(taken_back, "{:?}", in_force().iter().find(|it| it.identity.name == "dash_pressed"));
    assert_eq!(dash_pressed(false).await.unwrap_err().kind(), Some(ErrorKind::BreakerOpen));
    for setting in
        ["site.dashboard::control::dash_pressed.breaker.force", "site.dashboard::control::dash_pressed.retry.enabled"]
    {
        assert!(watertight::settings::revert(setting, "test"), "{setting}");
    }
    dash_pressed(true).await.unwrap_err();
    server.abort();
}

/// The id of the function's page, once its figures are there.
async fn serving_id() -> String {
    let serving = served().await;
    let wall = until(&serving, "api/wall", |wall| row(wall, "dash_pressed")["total"].as_u64() > Some(50)).await;
    let address = panels(row(&wall, "dash_pressed"), "minutes");
    let id = address.split_once("id=").and_then(|(_, rest)| rest.split_once('&')).expect("an id").0.to_owned();
    serving.stop().await;
    id
}
