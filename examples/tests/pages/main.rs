//! The live pages: what they show is what was counted, switches turn by key, and by no other site.
//!
//! | module | what it holds |
//! |---|---|
//! | `browser` | headless Chromium, driven over its debugging protocol |
//! | `flood` | the switches, the counts, three ways to look at it |
//! | `outage` | both runs on the page, with the report's own figures |
//! | `access` | names, sites, policy, places |

mod access;
mod browser;
mod flood;
mod outage;

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The runtime's figures belong to the process, so those who compare with them take turns.
static ONE_AT_A_TIME: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Waits for something that is to come, half a minute at most.
async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < Duration::from_secs(40), "it never came: {what}");
        sleep(Duration::from_millis(50)).await;
    }
}
