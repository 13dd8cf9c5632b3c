//! A compartment, or a bucket, for each key.
//!
//! By hand: a map behind a mutex from key to semaphore, which grows for ever; ours forgets a key that nobody uses.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;
use watertight::resilient;

use super::{Failed, Row, bare};

#[resilient(bulkhead = "keyed:8", key = n % 64)]
pub(crate) async fn by_number(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(bulkhead = "keyed-text:8", key = tenant)]
async fn by_text(tenant: &str, n: u32) -> Result<u32, Failed> {
    let _ = tenant;
    bare(n).await
}

#[resilient(bulkhead = "keyed-new:8", key = n)]
async fn by_new(n: u64) -> Result<u32, Failed> {
    let _ = n;
    bare(1).await
}

#[resilient(rate = "1000000/s/burst:1000000000", key = n % 64)]
async fn paced(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

static NEXT_KEY: AtomicU64 = AtomicU64::new(0);

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::of("key, 64 in turn", "ours", by_number),
        Row::each(
            "key, 64 in turn",
            "hand",
            async || Mutex::new(HashMap::new()),
            async |map, n| {
                let slots = slots_of(map, n % 64);
                let _permit = slots.acquire().await;
                bare(n).await
            },
        ),
        Row::of("key of text", "ours", async |n| by_text("tenant-4711", n).await),
        Row::each(
            "key of text",
            "hand",
            async || Mutex::new(HashMap::new()),
            async |map, n| {
                let slots = slots_of(map, String::from("tenant-4711"));
                let _permit = slots.acquire().await;
                bare(n).await
            },
        ),
        Row::of("key never seen before", "ours", async |_n| by_new(NEXT_KEY.fetch_add(1, Ordering::Relaxed)).await),
        Row::of("rate by key, 64 in turn", "ours", paced),
        Row::each(
            "rate by key, 64 in turn",
            "governor",
            async || RateLimiter::dashmap(Quota::per_second(NonZeroU32::MAX)),
            async |rate, n| match rate.check_key(&(n % 64)) {
                Ok(()) => bare(n).await,
                Err(_) => Err(Failed),
            },
        ),
    ]
}

fn slots_of<K: Eq + std::hash::Hash>(map: &Mutex<HashMap<K, Arc<Semaphore>>>, key: K) -> Arc<Semaphore> {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    map.entry(key).or_insert_with(|| Arc::new(Semaphore::new(8))).clone()
}
