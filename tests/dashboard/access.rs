//! Who may ask, who may change, and what the browser is told to refuse.

use reqwest::{Client, StatusCode};
use watertight::dashboard::{Dashboard, router};
use watertight::{ErrorKind, resilient};
use watertight_tests::AppError;

use crate::served;

#[resilient(breaker(name = "dash-acted"), timeout = "1s")]
async fn dash_acted() -> Result<(), watertight::Error> {
    Ok(())
}

async fn act(url: &str, token: Option<&str>, name: &str) -> StatusCode {
    let body = format!("{{\"name\":\"{name}\",\"act\":\"isolate\"}}");
    let mut asked = Client::new().post(format!("{url}api/breaker")).body(body);
    if let Some(token) = token {
        asked = asked.bearer_auth(token);
    }
    asked.send().await.unwrap().status()
}

#[tokio::test]
async fn nothing_can_be_changed_without_the_token_and_a_breaker_can_with_it() {
    let read_only = served().await;
    assert_eq!(act(&read_only.url(), Some("secret"), "dash-acted").await, StatusCode::FORBIDDEN);
    let serving = Dashboard::new().token("secret").serve("127.0.0.1:0").await.unwrap();
    let url = serving.url();
    assert_eq!(act(&url, None, "dash-acted").await, StatusCode::UNAUTHORIZED);
    assert_eq!(act(&url, Some("secre"), "dash-acted").await, StatusCode::UNAUTHORIZED);
    dash_acted().await.expect("nothing has changed");
    assert_eq!(act(&url, Some("secret"), "nobody").await, StatusCode::NOT_FOUND);
    assert_eq!(act(&url, Some("secret"), "dash-acted").await, StatusCode::OK);
    assert_eq!(dash_acted().await.unwrap_err().kind(), ErrorKind::BreakerOpen);
    let wall = crate::json(&serving, "api/wall").await;
    let noted = wall["changes"]
        .as_array()
        .unwrap()
        .iter()
        .any(|it| it["text"] == "breaker `dash-acted` was held open from the dashboard");
    assert!(noted, "{}", wall["changes"]);
    watertight::breaker::reset("dash-acted");
    let long = Client::new().post(format!("{url}api/breaker")).bearer_auth("secret").body("x".repeat(10_000));
    assert_eq!(long.send().await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
    serving.stop().await;
    read_only.stop().await;
}

#[tokio::test]
async fn other_machines_are_let_in_only_when_that_was_said() {
    let error = Dashboard::new().serve("0.0.0.0:0").await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("Dashboard::new().beyond_loopback()"), "{error}");
    let serving = Dashboard::new().beyond_loopback().serve("0.0.0.0:0").await.unwrap();
    serving.stop().await;
}

#[tokio::test]
async fn a_name_that_only_resolves_to_this_machine_is_not_answered() {
    let serving = served().await;
    let asked = |host: &'static str| Client::new().get(serving.url()).header("host", host).send();
    assert_eq!(asked("evil.example").await.unwrap().status(), StatusCode::MISDIRECTED_REQUEST);
    assert_eq!(asked("localhost:1").await.unwrap().status(), StatusCode::OK);
    serving.stop().await;
}

#[tokio::test]
async fn every_answer_carries_the_policy_and_the_page_needs_nothing_from_elsewhere() {
    let serving = served().await;
    for path in ["", "assets/app.js", "api/wall", "metrics", "nothing"] {
        let answer = reqwest::get(format!("{}{path}", serving.url())).await.unwrap();
        let policy = answer.headers().get("content-security-policy").map(|it| it.to_str().unwrap().to_owned());
        let policy = policy.unwrap_or_else(|| panic!("{path} has no policy"));
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.unwrap();
        assert!(!text.contains("https://") && !text.contains("//cdn"), "{path} names another place");
    }
    let page = reqwest::get(serving.url()).await.unwrap().text().await.unwrap();
    assert!(!page.contains("<style") && !page.contains(" style=") && !page.contains("onclick="), "nothing inline");
    serving.stop().await;
}

#[tokio::test]
async fn mounted_in_a_router_it_finds_its_parts_wherever_that_is() {
    let app = axum::Router::new().nest("/inside/watertight", router());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async { axum::serve(listener, app).await });
    let page = reqwest::get(format!("{url}/inside/watertight")).await.unwrap().text().await.unwrap();
    assert!(page.contains("src=\"watertight/assets/app.js\""), "relative to the folder it is in: {page}");
    let script = reqwest::get(format!("{url}/inside/watertight/assets/app.js")).await.unwrap();
    assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
    assert!(reqwest::get(format!("{url}/inside/watertight/api/wall")).await.unwrap().status().is_success());
    task.abort();
}

#[resilient(timeout = "1s")]
async fn dash_unused() -> Result<(), AppError> {
    Ok(())
}

#[tokio::test]
async fn a_router_can_be_made_outside_of_a_runtime_and_begins_with_the_first_request() {
    let app = std::thread::spawn(router).join().expect("no panic");
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let task = tokio::spawn(async { axum::serve(listener, app).await });
    dash_unused().await.unwrap();
    for _ in 0..200 {
        let wall = reqwest::get(format!("{url}/api/wall")).await.unwrap().text().await.unwrap();
        let wall: serde_json::Value = serde_json::from_str(&wall).unwrap();
        if crate::row(&wall, "dash_unused")["total"] == 1 {
            task.abort();
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("nothing was read");
}
