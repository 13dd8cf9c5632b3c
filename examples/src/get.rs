//! # One request, from outside
//!
//! Load and probes ask the same question of a URL: did a good answer arrive in time, and how long did it take? Asking
//! it in one place keeps the two honest with each other; a route cannot be fine for one and failing for the other
//! because they meant different things by "failed".
//!
//! Invariants:
//! * good means status 2xx and the whole body, within the limit;
//! * the wait ends at the limit and the connection goes with it, as a visitor's does who closes the tab.

use std::time::Duration;

use tokio::time::{Instant, timeout};

/// How one request went.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// A 2xx, complete and in time.
    pub ok: bool,
    /// From sending to the last byte, or to giving up.
    pub took: Duration,
}

/// A client of its own, deaf to proxy settings, without any limit.
///
/// # Panics
/// When the client cannot be built, which without TLS it always can.
pub fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a plain HTTP client")
}

/// Asks `url` and waits for at most `limit`.
pub async fn get(client: &reqwest::Client, url: &str, limit: Duration) -> Answer {
    let begun = Instant::now();
    let whole = async {
        let response = client.get(url).send().await?.error_for_status()?;
        response.bytes().await
    };
    let ok = matches!(timeout(limit, whole).await, Ok(Ok(_)));
    Answer { ok, took: begun.elapsed() }
}
