//! A body that is pending once before it is ready, under a timeout: the first time that a timer is needed.

use std::time::Duration;

use do_over::policy::Policy as _;
use tokio::time::timeout;
use tower::{Layer, ServiceBuilder, service_fn};
use watertight::resilient;

use super::alone::serve;
use super::{Failed, Row};

const LIMIT: Duration = Duration::from_millis(300);

async fn once_pending(n: u32) -> Result<u32, Failed> {
    tokio::task::yield_now().await;
    Ok(n)
}

#[resilient(timeout = "300ms")]
async fn timed(n: u32) -> Result<u32, Failed> {
    once_pending(n).await
}

#[resilient(timeout = "300ms", hedge = "100ms", idempotent)]
async fn hedged(n: u32) -> Result<u32, Failed> {
    once_pending(n).await
}

#[resilient(retry = 2, breaker, bulkhead = "pending:8/queue:16", timeout = "300ms")]
async fn full_stack(n: u32) -> Result<u32, Failed> {
    once_pending(n).await
}

pub(super) fn rows() -> Vec<Row> {
    let name = "timeout, body pending once";
    vec![
        Row::of("pending once", "bare", once_pending),
        Row::of(name, "ours", timed),
        Row::of(name, "ours, with a hedge", hedged),
        Row::of(name, "ours, full stack", full_stack),
        Row::of(name, "tokio", async |n| timeout(LIMIT, once_pending(n)).await),
        Row::each(name, "tower", async || ServiceBuilder::new().timeout(LIMIT).service_fn(once_pending), serve),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let layer = tower_resilience::timelimiter::TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
                layer.layer(service_fn(once_pending))
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || do_over::timeout::TimeoutPolicy::new(LIMIT),
            async |policy, n| {
                policy.execute(|| async { once_pending(n).await.map_err(do_over::error::DoOverError::Inner) }).await
            },
        ),
        Row::each(
            name,
            "resilient",
            async || resilient::TimeoutPolicy::default().with_timeout(LIMIT),
            async |policy, n| policy.run(|| once_pending(n)).await,
        ),
    ]
}
