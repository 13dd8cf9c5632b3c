//! One to four strategies at once: timeout, then bulkhead, then breaker, then retry around them.
//!
//! By hand means tokio alone, without figures and with them ([`super::hand`]). tower has no breaker: its rows end at two.
//! `resilient` is left out: its pipeline runs the call although its breaker is open and its bulkhead full.

use std::time::Duration;

use do_over::policy::Policy as _;
use do_over::wrap::Wrap;
use tower::{ServiceBuilder, service_fn};
use tower_resilience::bulkhead::BulkheadLayer;
use tower_resilience::circuitbreaker::CircuitBreakerLayer;
use tower_resilience::retry::RetryLayer;
use tower_resilience::timelimiter::TimeLimiterLayer;
use watertight::guard::{Breaker, Bulkhead};
use watertight::{Class, Guard, Verdict, resilient};

use super::alone::{over, serve};
use super::hand;
use super::{Failed, Row, bare};

const LIMIT: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(50);

#[resilient(timeout = "300ms")]
async fn one(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(timeout = "300ms", bulkhead = "stack-of-two:8/queue:16")]
async fn two(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(timeout = "300ms", bulkhead = "stack-of-three:8/queue:16", breaker)]
async fn three(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

/// The full stack.
#[resilient(retry = 2, breaker, bulkhead = "stack-of-four:8/queue:16", timeout = "300ms")]
pub(crate) async fn four(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

#[resilient(fallback = zero, deadline = "2s", retry = 2, breaker, bulkhead = "stack-of-six:8/queue:16", timeout = "300ms")]
async fn six(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

fn zero() -> u32 {
    0
}

fn every_error(answer: &Result<u32, Failed>) -> Verdict {
    if answer.is_ok() { Verdict::OK } else { Verdict::error(Class::Retryable, None) }
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = stack_of_one();
    rows.extend(stack_of_two());
    rows.extend(stack_of_three());
    rows.extend(stack_of_four());
    rows.push(Row::of("stack of 6", "ours", six));
    rows
}

fn stack_of_one() -> Vec<Row> {
    let name = "stack of 1";
    vec![
        Row::of(name, "ours", one),
        Row::of(name, "hand", async |n| tokio::time::timeout(LIMIT, bare(n)).await),
        Row::each(
            name,
            "hand, counted",
            async || hand::Counted::new(),
            async |counted, n| hand::counted(counted, tokio::time::timeout(LIMIT, bare(n))).await,
        ),
        Row::each(name, "tower", async || ServiceBuilder::new().timeout(LIMIT).service_fn(bare), serve),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let limit = TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
                ServiceBuilder::new().layer(limit).service(service_fn(bare))
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || do_over::timeout::TimeoutPolicy::new(LIMIT),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
    ]
}

fn stack_of_two() -> Vec<Row> {
    let name = "stack of 2";
    vec![
        Row::of(name, "ours", two),
        Row::each(name, "hand", async || hand::Guard::new(), async |guard, n| hand::slotted(guard, bare(n)).await),
        Row::each(
            name,
            "hand, counted",
            async || (hand::Guard::new(), hand::Counted::new()),
            async |(guard, counted), n| hand::counted(counted, hand::slotted(guard, bare(n))).await,
        ),
        // Waits for a slot for ever.
        Row::each(
            name,
            "tower",
            async || ServiceBuilder::new().concurrency_limit(8).timeout(LIMIT).service_fn(bare),
            serve,
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let slots = BulkheadLayer::builder().max_concurrent_calls(8).max_wait_duration(LIMIT).build();
                let limit = TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
                ServiceBuilder::new().layer(slots.expect("a bulkhead")).layer(limit).service(service_fn(bare))
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || Wrap::new(slots(), do_over::timeout::TimeoutPolicy::new(LIMIT)),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
    ]
}

fn stack_of_three() -> Vec<Row> {
    let name = "stack of 3";
    vec![
        Row::of(name, "ours", three),
        Row::each(name, "hand", async || hand::Guard::new(), async |guard, n| hand::one_attempt(guard, bare(n)).await),
        Row::each(
            name,
            "hand, counted",
            async || (hand::Guard::new(), hand::Counted::new()),
            async |(guard, counted), n| hand::counted(counted, hand::one_attempt(guard, bare(n))).await,
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let slots = BulkheadLayer::builder().max_concurrent_calls(8).max_wait_duration(LIMIT).build();
                let limit = TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
                let inner =
                    ServiceBuilder::new().layer(slots.expect("a bulkhead")).layer(limit).service(service_fn(bare));
                CircuitBreakerLayer::builder().build().expect("a breaker").layer_fn(inner)
            },
            serve,
        ),
        Row::each(
            name,
            "do-over",
            async || Wrap::new(breaker(), Wrap::new(slots(), do_over::timeout::TimeoutPolicy::new(LIMIT))),
            async |policy, n| policy.execute(|| over(n)).await,
        ),
    ]
}

fn stack_of_four() -> Vec<Row> {
    let name = "stack of 4";
    let mut rows = vec![
        Row::of(name, "ours", four),
        // The same by a guard, around a closure.
        Row::each(
            name,
            "ours, a guard",
            async || {
                let guard = Guard::named("stack").timeout(LIMIT).breaker(Breaker::own()).retry(2);
                guard
                    .bulkhead(Bulkhead::new("stack-by-guard", 8).queue(16))
                    .build()
                    .expect("a guard")
                    .judge(every_error)
            },
            async |guard, n| guard.run(|| bare(n)).await,
        ),
        Row::each(name, "hand", async || hand::Guard::new(), async |guard, n| hand::call(guard, n).await),
        Row::each(
            name,
            "hand, counted",
            async || (hand::Guard::new(), hand::Counted::new()),
            async |(guard, counted), n| hand::counted(counted, hand::call(guard, n)).await,
        ),
        Row::each(
            name,
            "tower-resilience",
            async || {
                let slots = BulkheadLayer::builder().max_concurrent_calls(8).max_wait_duration(LIMIT).build();
                let limit = TimeLimiterLayer::builder().timeout_duration(LIMIT).build();
                let inner =
                    ServiceBuilder::new().layer(slots.expect("a bulkhead")).layer(limit).service(service_fn(bare));
                let breaker = CircuitBreakerLayer::builder().build().expect("a breaker").layer_fn(inner);
                let retry = RetryLayer::builder().max_attempts(3).exponential_backoff(PAUSE).build();
                ServiceBuilder::new().layer(retry).service(breaker)
            },
            serve,
        ),
    ];
    rows.push(Row::each(
        name,
        "do-over",
        async || {
            let retry = do_over::retry::RetryPolicy::exponential(2, PAUSE, 2.0);
            Wrap::new(retry, Wrap::new(breaker(), Wrap::new(slots(), do_over::timeout::TimeoutPolicy::new(LIMIT))))
        },
        async |policy, n| policy.execute(|| over(n)).await,
    ));
    rows
}

fn slots() -> do_over::bulkhead::Bulkhead {
    do_over::bulkhead::Bulkhead::new(8).with_queue_timeout(LIMIT)
}

fn breaker() -> do_over::circuit_breaker::CircuitBreaker {
    do_over::circuit_breaker::CircuitBreaker::new(20, Duration::from_secs(5))
}
