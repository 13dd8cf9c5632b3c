//! Each strategy alone, around a body that is ready at once, while all is well.

use std::num::NonZeroU32;
use std::time::Duration;

use do_over::policy::Policy as _;
use failsafe::futures::CircuitBreaker as _;
use governor::{Quota, RateLimiter};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tower::{Layer, Service, ServiceExt, service_fn};
use watertight::resilient;

use super::hand;
use super::{Failed, Row, bare};

const LIMIT: Duration = Duration::from_millis(300);

#[resilient(timeout = "300ms")]
async fn timed(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(deadline = "2s")]
async fn with_deadline(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(bulkhead = "alone:8")]
async fn with_slots(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

/// What is in force is a share, and entering does not know it.
#[resilient(bulkhead = "alone-of-a-fleet:8/fleet")]
async fn with_share(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(breaker)]
async fn with_breaker(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(breaker(window = "10s"))]
async fn with_breaker_in_time(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(retry = 2)]
async fn retried(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(fallback = zero)]
async fn with_fallback(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

fn zero() -> u32 {
    0
}

#[resilient(rate = "1000000/s/burst:1000000000")]
async fn paced(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(timeout = "300ms", hedge = "100ms", idempotent)]
async fn hedged(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(timeout = "300ms", bulkhead = "alone-observed:8", mode = observe)]
async fn observed(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![Row::of("bare", "bare", bare)];
    rows.extend(timeouts());
    rows.extend(deadlines());
    rows.extend(bulkheads());
    rows.extend(breakers());
    rows.extend(retries());
    rows.extend(fallbacks());
    rows.extend(rates());
    rows.extend(hedges());
    rows.push(Row::of("observe", "ours", observed));
    rows
}

fn timeouts() -> Vec<Row> {
    let name = "timeout";
    vec![
        Row::of(name, "ours", timed),
        Row::of(name, "tokio", async |n| timeout(LIMIT, bare(n)).await),
        Row::each(name, "tower", async || tower::timeout::TimeoutLayer::new(LIMIT).layer(service_fn(bare)), serve),
        Row::each(
            name,
            "tower-resilience",
            async || {
                tower_resilience::timelimiter::TimeLimiterLayer::builder()
                    .timeout_duration(LIMIT)
                    .build()
                    .layer(service_fn(bare))
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || do_over::timeout::TimeoutPolicy::new(LIMIT),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        Row::each(
            name,
            "resilient",
            async || resilient::TimeoutPolicy::default().with_timeout(LIMIT),
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn deadlines() -> Vec<Row> {
    // Tokio's bounds this one call; ours also travels to whatever the call calls.
    vec![
        Row::of("deadline", "ours", with_deadline),
        Row::of("deadline", "tokio", async |n| timeout_at(Instant::now() + Duration::from_secs(2), bare(n)).await),
    ]
}

fn bulkheads() -> Vec<Row> {
    let name = "bulkhead";
    vec![
        Row::of(name, "ours", with_slots),
        Row::of(name, "ours, a fleet's share", with_share),
        // No bound on who waits, and no limit to how long.
        Row::each(
            name,
            "tokio",
            async || Semaphore::new(8),
            async |slots, n| {
                let _permit = slots.acquire().await;
                bare(n).await
            },
        ),
        Row::each(name, "tower", async || tower::limit::ConcurrencyLimitLayer::new(8).layer(service_fn(bare)), serve),
        Row::each(
            name,
            "tower-resilience",
            async || {
                tower_resilience::bulkhead::BulkheadLayer::builder()
                    .max_concurrent_calls(8)
                    .build()
                    .expect("a bulkhead")
                    .layer(service_fn(bare))
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || do_over::bulkhead::Bulkhead::new(8),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        // `resilient::Bulkhead` runs the call whether it has a permit or not, so there is nothing to compare.
    ]
}

fn breakers() -> Vec<Row> {
    let name = "breaker";
    vec![
        Row::of(name, "ours", with_breaker),
        Row::of(name, "ours, window of time", with_breaker_in_time),
        // Consecutive failures in two atomics.
        Row::each(
            name,
            "hand",
            async || hand::Breaker::new(),
            async |breaker, n| hand::through(breaker, bare(n)).await,
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                tower_resilience::circuitbreaker::CircuitBreakerLayer::builder()
                    .build()
                    .expect("a breaker")
                    .layer_fn(service_fn(bare))
            },
            serve,
        ),
        // Its default: a success rate over a window of time, or five consecutive failures; behind a mutex.
        Row::each(
            name,
            "failsafe",
            async || failsafe::Config::new().build(),
            async |breaker, n| breaker.call(bare(n)).await,
        ),
        Row::each(
            name,
            "recloser",
            async || recloser::AsyncRecloser::from(recloser::Recloser::default()),
            async |breaker, n| breaker.call(bare(n)).await,
        ),
        // Consecutive failures.
        Row::each(
            name,
            "do-over",
            async || do_over::circuit_breaker::CircuitBreaker::new(20, Duration::from_secs(5)),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        Row::each(
            name,
            "resilient",
            async || resilient::BreakerPolicy::default(),
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn retries() -> Vec<Row> {
    let name = "retry";
    let pause = Duration::from_millis(50);
    vec![
        Row::of(name, "ours", retried),
        Row::of(name, "hand", async |n| hand::retried(async || bare(n).await).await),
        // No pause, no budget: the policy is for its user to write.
        Row::each(name, "tower", async || tower::retry::RetryLayer::new(Twice(2)).layer(service_fn(bare)), serve),
        Row::each(
            name,
            "tower-resilience",
            async move || {
                let layer = tower_resilience::retry::RetryLayer::<u32, u32, Failed>::builder();
                layer.max_attempts(3).exponential_backoff(pause).build().layer(service_fn(bare))
            },
            serve,
        ),
        Row::of(name, "backon", async |n| {
            use backon::Retryable as _;
            (async || bare(n).await).retry(backon::ExponentialBuilder::default().with_max_times(2).with_jitter()).await
        }),
        Row::each(
            name,
            "do-over",
            async move || do_over::retry::RetryPolicy::exponential(2, pause, 2.0),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        Row::each(
            name,
            "resilient",
            async || resilient::RetryPolicy::default().with_max_retries(2),
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn fallbacks() -> Vec<Row> {
    vec![
        Row::of("fallback", "ours", with_fallback),
        Row::of("fallback", "hand", async |n| bare(n).await.unwrap_or_else(|_| zero())),
        Row::each(
            "fallback",
            "tower-resilience",
            async || tower_resilience::fallback::FallbackLayer::<u32, u32, Failed>::value(0).layer(service_fn(bare)),
            serve,
        ),
    ]
}

fn rates() -> Vec<Row> {
    let name = "rate";
    let many = 1_000_000_000;
    let second = Duration::from_secs(1);
    vec![
        Row::of(name, "ours", paced),
        Row::each(
            name,
            "governor",
            async || RateLimiter::direct(Quota::per_second(NonZeroU32::MAX)),
            async |rate, n| match rate.check() {
                Ok(()) => bare(n).await,
                Err(_) => Err(Failed),
            },
        ),
        // A fixed window.
        Row::each(
            name,
            "tower",
            async move || tower::limit::RateLimitLayer::new(many, second).layer(service_fn(bare)),
            serve,
        ),
        Row::each(
            name,
            "tower-resilience",
            async move || {
                let layer = tower_resilience::ratelimiter::RateLimiterLayer::builder();
                let layer = layer.limit_for_period(1_000_000_000).refresh_period(second);
                layer.build().expect("a rate limiter").layer(service_fn(bare))
            },
            serve,
        ),
        // A fixed window behind a mutex.
        Row::each(
            name,
            "do-over",
            async move || do_over::rate_limit::RateLimiter::new(many, second),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
        Row::each(
            name,
            "resilient",
            async || {
                resilient::RateLimiter::default()
                    .with_max_tokens(1_000_000_000)
                    .with_refill_rate(Duration::from_nanos(1))
            },
            async |policy, n| policy.run(|| bare(n)).await,
        ),
    ]
}

fn hedges() -> Vec<Row> {
    let after = Duration::from_millis(100);
    vec![
        // With a timeout, which the other two lack.
        Row::of("hedge", "ours", hedged),
        Row::each(
            "hedge",
            "tower-resilience",
            async move || tower_resilience::hedge::HedgeLayer::builder().delay(after).build().layer(service_fn(bare)),
            serve,
        ),
        Row::each(
            "hedge",
            "do-over",
            async move || do_over::hedge::Hedge::new(after),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
    ]
}

/// One call of a service, as its trait wants it: ready first.
pub(super) async fn serve<S: Service<u32>>(service: &mut S, n: u32) -> Result<S::Response, S::Error> {
    service.ready().await?.call(n).await
}

/// The body with the error that do-over's policies want.
pub(super) async fn over(n: u32) -> Result<u32, do_over::error::DoOverError<Failed>> {
    bare(n).await.map_err(do_over::error::DoOverError::Inner)
}

/// Up to so many further attempts.
#[derive(Clone)]
pub(super) struct Twice(pub(super) u32);

impl<R, E> tower::retry::Policy<u32, R, E> for Twice {
    type Future = std::future::Ready<()>;

    fn retry(&mut self, _: &mut u32, result: &mut Result<R, E>) -> Option<Self::Future> {
        (result.is_err() && self.0 > 0).then(|| {
            self.0 -= 1;
            std::future::ready(())
        })
    }

    fn clone_request(&mut self, request: &u32) -> Option<u32> {
        Some(*request)
    }
}
