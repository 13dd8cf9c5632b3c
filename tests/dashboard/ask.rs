//! Asking a dashboard over its addresses, as a browser would.

use std::fmt::Write;
use std::time::Duration;

use serde_json::Value;
use watertight::dashboard::Serving;

/// One served on a port of the system's choice.
pub(crate) async fn served() -> Serving {
    watertight::dashboard::serve("127.0.0.1:0").await.expect("loopback has a port")
}

/// What an address answers, as JSON.
pub(crate) async fn json(serving: &Serving, path: &str) -> Value {
    let answer = reqwest::get(format!("{}{path}", serving.url())).await.expect("an answer");
    assert!(answer.status().is_success(), "{path}: {}", answer.status());
    serde_json::from_str(&answer.text().await.expect("text")).expect("JSON")
}

/// Asks until what is asked for is there: the dashboard reads once a second.
pub(crate) async fn until(serving: &Serving, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..600 {
        last = json(serving, path).await;
        if is_so(&last) {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came: {last}");
}

/// The row of a function on the wall.
pub(crate) fn row<'a>(wall: &'a Value, name: &str) -> &'a Value {
    let rows = wall["sites"].as_array().expect("rows");
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no row of {name}"))
}

/// The address of every panel of a function.
pub(crate) fn panels(row: &Value, span: &str) -> String {
    let id = row["id"].as_str().expect("an id");
    let mut address = "api/function?id=".to_owned();
    for byte in id.bytes() {
        write!(address, "%{byte:02x}").expect("a string");
    }
    format!("{address}&span={span}")
}
