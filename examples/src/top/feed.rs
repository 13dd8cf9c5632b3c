//! # The figures, over HTTP
//!
//! A dashboard pushes its first screen once a second, as server-sent events; the panels of a function are asked for while one is
//! shown. The other end is a service in trouble: it may refuse, stall, vanish and come back, so every wait has an end, and
//! whatever ended a connection is said in words and tried again.
//!
//! Invariants:
//! * nothing is sent that could change anything;
//! * at most [`LONGEST`] bytes of an answer are kept;
//! * when the one who listens has gone, this ends.

use std::time::Duration;

use anyhow::{Context, ensure};
use reqwest::{Client, StatusCode, Url};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::data::{Function, Wall};
use crate::get;

/// How long an answer may take to begin, and a stream be silent; it says something every two seconds.
const PATIENCE: Duration = Duration::from_secs(6);
/// Between two tries.
const AGAIN: Duration = Duration::from_secs(1);
/// The longest event or answer, in bytes.
const LONGEST: usize = 16 << 20;

/// What has come.
#[derive(Debug)]
pub(super) enum Heard {
    /// The first screen.
    Wall(Box<Wall>),
    /// A function's panels.
    Function(Box<Function>),
    /// The stream is no more, and why.
    Lost(String),
}

/// The address below which everything is, as somebody typed it.
///
/// # Errors
/// When it is none.
pub(super) fn base(typed: &str) -> anyhow::Result<String> {
    let with_scheme = if typed.contains("://") { typed.to_owned() } else { format!("http://{typed}") };
    let url = Url::parse(&with_scheme).with_context(|| format!("`{typed}` is no address, such as 127.0.0.1:7878"))?;
    ensure!(
        url.scheme() == "http",
        "`{typed}`: a dashboard is served over http; whatever puts TLS in front of it has to be gone round"
    );
    let plain = with_scheme.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    Ok(format!("{plain}/"))
}

/// Follows the stream, and asks for the function that is wanted, until nobody listens.
pub(super) async fn follow(base: String, wanted: watch::Receiver<Option<String>>, say: mpsc::Sender<Heard>) {
    let client = get::client();
    tokio::join!(walls(&client, &base, &say), functions(&client, &base, wanted, &say));
}

async fn walls(client: &Client, base: &str, say: &mpsc::Sender<Heard>) {
    loop {
        let why = stream(client, base, say).await;
        if say.send(Heard::Lost(why)).await.is_err() {
            return;
        }
        sleep(AGAIN).await;
    }
}

/// Follows one stream to its end, which it gives as words.
async fn stream(client: &Client, base: &str, say: &mpsc::Sender<Heard>) -> String {
    let mut answer = match timeout(PATIENCE, client.get(format!("{base}api/stream")).send()).await {
        Err(_) => return "it does not answer".to_owned(),
        Ok(Err(error)) => return told(&error),
        Ok(Ok(answer)) => answer,
    };
    if answer.status() == StatusCode::SERVICE_UNAVAILABLE {
        // As many watch as may; the same is to be had by asking.
        if let Some(wall) = ask(client, format!("{base}api/wall")).await {
            let _ = say.send(Heard::Wall(Box::new(wall))).await;
        }
        return "as many watch as may".to_owned();
    }
    if !answer.status().is_success() {
        return format!("it answers {}; is a dashboard served there?", answer.status().as_u16());
    }
    let mut events = Events::default();
    loop {
        let chunk = match timeout(PATIENCE, answer.chunk()).await {
            Err(_) => return "it has gone silent".to_owned(),
            Ok(Err(error)) => return told(&error),
            Ok(Ok(None)) => return "it has ended the stream".to_owned(),
            Ok(Ok(Some(chunk))) => chunk,
        };
        for event in events.take(&chunk) {
            let Ok(wall) = serde_json::from_str(&event) else { return "it sends something else".to_owned() };
            if say.send(Heard::Wall(Box::new(wall))).await.is_err() {
                return String::new();
            }
        }
        if events.rest.len() > LONGEST {
            return "it sends more than can be shown".to_owned();
        }
    }
}

/// The innermost reason: the outer ones say that a request was not sent.
fn told(error: &reqwest::Error) -> String {
    let mut reason: &dyn std::error::Error = error;
    while let Some(inner) = reason.source() {
        reason = inner;
    }
    reason.to_string()
}

async fn ask<T: serde::de::DeserializeOwned>(client: &Client, url: String) -> Option<T> {
    let whole = async {
        let mut answer = client.get(url).send().await.ok()?.error_for_status().ok()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.ok()? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST {
                return None;
            }
        }
        serde_json::from_slice(&bytes).ok()
    };
    timeout(PATIENCE, whole).await.ok().flatten()
}

/// Asks once a second for the one that is wanted, as long as one is.
async fn functions(
    client: &Client,
    base: &str,
    mut wanted: watch::Receiver<Option<String>>,
    say: &mpsc::Sender<Heard>,
) {
    loop {
        let id = wanted.borrow_and_update().clone();
        if let Some(id) = id {
            let Ok(mut url) = Url::parse(&format!("{base}api/function")) else { return };
            url.query_pairs_mut().append_pair("id", &id).append_pair("span", "minutes");
            if let Some(function) = ask(client, url.into()).await
                && say.send(Heard::Function(Box::new(function))).await.is_err()
            {
                return;
            }
            let _ = timeout(AGAIN, wanted.changed()).await;
        } else if wanted.changed().await.is_err() {
            return;
        }
    }
}

/// Server-sent events out of chunks that end anywhere.
#[derive(Debug, Default)]
pub(super) struct Events {
    rest: Vec<u8>,
}

impl Events {
    /// The data of every event that is complete.
    pub(super) fn take(&mut self, chunk: &[u8]) -> Vec<String> {
        self.rest.extend_from_slice(chunk);
        let mut done = Vec::new();
        while let Some(end) = self.rest.windows(2).position(|pair| pair == b"\n\n") {
            let event: Vec<u8> = self.rest.drain(..end + 2).collect();
            let event = String::from_utf8_lossy(&event);
            let data: Vec<_> =
                event.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim_start).collect();
            if !data.is_empty() {
                done.push(data.join("\n"));
            }
        }
        done
    }
}
