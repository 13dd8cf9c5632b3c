//! Refusals: what it costs to be told no.
//!
//! `tokio` and `hand` say nothing to anyone but "no"; ours books the call and its reason, and builds an error that
//! carries the figures seen.

use std::num::NonZeroU32;
use std::time::Duration;

use do_over::policy::Policy as _;
use failsafe::futures::CircuitBreaker as _;
use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use watertight::{deadline, resilient};

use super::alone::{over, serve};
use super::hand;
use super::{Failed, Row, bare};

const HOUR: Duration = Duration::from_hours(1);

#[resilient(bulkhead = "refused:1")]
async fn full(hangs: bool) -> Result<u32, Failed> {
    if hangs {
        std::future::pending::<()>().await;
    }
    bare(1).await
}

#[resilient(breaker(name = "refused", window = 1, min_calls = 1, cooldown = "1h"))]
async fn broken(_n: u32) -> Result<u32, Failed> {
    Err(Failed)
}

#[resilient(rate = "1/h")]
async fn paced(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(deadline = "2s")]
async fn late(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

async fn failing(_n: u32) -> Result<u32, Failed> {
    Err(Failed)
}

/// A body that does not end, for whoever holds the only slot.
async fn hanging(hangs: u32) -> Result<u32, Failed> {
    if hangs == u32::MAX {
        std::future::pending::<()>().await;
    }
    bare(hangs).await
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = full_bulkheads();
    rows.extend(open_breakers());
    rows.extend(spent_rates());
    rows.extend(spent_deadlines());
    rows
}

/// Polls a call once, which takes the slot and keeps it.
async fn hold<F: Future + 'static>(call: F) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
    let mut held: std::pin::Pin<Box<dyn Future<Output = ()>>> = Box::pin(async {
        call.await;
    });
    assert!(futures::poll!(held.as_mut()).is_pending(), "the only slot should be held");
    held
}

fn full_bulkheads() -> Vec<Row> {
    let name = "full bulkhead";
    vec![
        Row::each(name, "ours", async || hold(full(true)).await, async |_held, _n| full(false).await),
        Row::each(name, "tokio", async || Semaphore::new(0), async |slots, n| hand::try_call(slots, n).await),
        Row::each(
            name,
            "hand, counted",
            async || (Semaphore::new(0), hand::Counted::new()),
            async |(slots, counted), n| hand::try_call_counted(slots, counted, n).await,
        ),
        Row::each(
            name,
            "tower",
            async || {
                let service = ServiceBuilder::new().load_shed().concurrency_limit(1).service_fn(hanging);
                let mut holder = service.clone();
                let held =
                    hold(async move { holder.ready().await.map(|it| it.call(u32::MAX)).expect("ready").await }).await;
                (held, service)
            },
            async |(_held, service), n| serve(service, n).await,
        ),
        // Says that it has waited too long, which it has not.
        Row::each(
            name,
            "tower-resilience",
            async || {
                let layer =
                    tower_resilience::bulkhead::BulkheadLayer::builder().max_concurrent_calls(1).reject_when_full();
                let service = layer.build().expect("a bulkhead").layer(service_fn(hanging));
                let mut holder = service.clone();
                let held = hold(async move { serve(&mut holder, u32::MAX).await }).await;
                (held, service)
            },
            async |(_held, service), n| serve(service, n).await,
        ),
        Row::each(
            name,
            "do-over",
            async || {
                let policy = do_over::bulkhead::Bulkhead::new(1);
                let holder = policy.clone();
                let held = hold(async move {
                    holder
                        .execute(|| async { hanging(u32::MAX).await.map_err(do_over::error::DoOverError::Inner) })
                        .await
                });
                (held.await, policy)
            },
            async |(_held, policy), n| policy.execute(|| over(n)).await,
        ),
    ]
}

fn open_breakers() -> Vec<Row> {
    let name = "open breaker";
    vec![
        Row::each(name, "ours", async || assert!(broken(0).await.is_err()), async |(), n| broken(n).await),
        Row::each(
            name,
            "hand",
            async || {
                let breaker = hand::Breaker::new();
                for _ in 0..30 {
                    let _ = hand::through(&breaker, failing(0)).await;
                }
                breaker
            },
            async |breaker, n| hand::through(breaker, bare(n)).await,
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let layer = tower_resilience::circuitbreaker::CircuitBreakerLayer::builder().consecutive_failures(1);
                let mut service =
                    layer.wait_duration_in_open(HOUR).build().expect("a breaker").layer_fn(service_fn(failing));
                let _ = serve(&mut service, 0).await;
                service
            },
            serve,
        ),
        Row::each(
            name,
            "failsafe",
            async || {
                let policy = failsafe::failure_policy::consecutive_failures(1, failsafe::backoff::constant(HOUR));
                let breaker = failsafe::Config::new().failure_policy(policy).build();
                let _ = breaker.call(failing(0)).await;
                breaker
            },
            async |breaker, n| breaker.call(bare(n)).await,
        ),
        Row::each(
            name,
            "recloser",
            async || {
                let breaker = recloser::Recloser::custom().closed_len(1).open_wait(HOUR).build();
                let breaker = recloser::AsyncRecloser::from(breaker);
                for _ in 0..3 {
                    let _ = breaker.call(failing(0)).await;
                }
                breaker
            },
            async |breaker, n| breaker.call(bare(n)).await,
        ),
        Row::each(
            name,
            "do-over",
            async || {
                let policy = do_over::circuit_breaker::CircuitBreaker::new(1, HOUR);
                let _ = policy.execute(|| async { failing(0).await.map_err(do_over::error::DoOverError::Inner) }).await;
                policy
            },
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        // Counts each refusal as a failure.
        Row::each(
            name,
            "resilient",
            async || {
                let policy = resilient::BreakerPolicy::default().with_failure_threshold(1).with_open_timeout(HOUR);
                let _ = policy.run(|| failing(0)).await;
                policy
            },
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn spent_rates() -> Vec<Row> {
    let name = "spent rate";
    vec![
        Row::each(name, "ours", async || assert!(paced(0).await.is_ok()), async |(), n| paced(n).await),
        Row::each(
            name,
            "governor",
            async || {
                let rate = RateLimiter::direct(Quota::per_hour(NonZeroU32::MIN));
                assert!(rate.check().is_ok());
                rate
            },
            async |rate, n| match rate.check() {
                Ok(()) => bare(n).await.map_err(|_| None),
                Err(not_until) => Err(Some(not_until)),
            },
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let layer = tower_resilience::ratelimiter::RateLimiterLayer::builder().limit_for_period(1);
                let layer =
                    layer.refresh_period(HOUR).timeout_duration(Duration::ZERO).build().expect("a rate limiter");
                let mut service = layer.layer(service_fn(bare));
                let _ = serve(&mut service, 0).await;
                service
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || {
                let policy = do_over::rate_limit::RateLimiter::new(1, HOUR);
                let _ = policy.execute(|| over(0)).await;
                policy
            },
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        Row::each(
            name,
            "resilient",
            async || {
                let policy = resilient::RateLimiter::default().with_max_tokens(1).with_refill_rate(HOUR);
                while policy.run(|| bare(0)).await.is_ok() {}
                policy
            },
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn spent_deadlines() -> Vec<Row> {
    // A scope that is over by the time its call is asked for. Tokio's polls the body once before it looks at the time.
    vec![
        Row::of("spent deadline", "ours", async |n| deadline::within(Duration::from_nanos(1), late(n)).await),
        Row::of("spent deadline", "tokio", async |n| timeout_at(Instant::now(), bare(n)).await),
    ]
}
