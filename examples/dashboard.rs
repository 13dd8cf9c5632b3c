//! # `cargo run --release --example dashboard [ADDRESS [TOKEN]]`
//!
//! Many functions, each with a trouble of its own, and a dashboard to watch them by. The outage has one guarded function;
//! here are some that live through what services live through: a cache beside a database, a flaky neighbour that a retry helps, a dependency that goes down and
//! comes back, tenants of whom one is loud, a deadline that is tight. Nothing leaves the process: what is slow sleeps.
//!
//! Invariants:
//! * each function shows one thing, and its name says which;
//! * it goes on until it is stopped.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::time::{Instant, interval, sleep};
use watertight::dashboard::Dashboard;
use watertight::{Error, resilient};

/// Draws, the same in every run.
fn roll() -> f64 {
    static STATE: AtomicU64 = AtomicU64::new(7);
    let seed = STATE.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A length about a median, now and then much longer.
fn about(median: f64) -> Duration {
    let normal = (0..12).map(|_| roll()).sum::<f64>() - 6.0;
    Duration::from_secs_f64(median / 1e3 * f64::exp(0.35 * normal))
}

/// Two bands: a cache that answers in a few milliseconds, and a database that does not.
#[resilient(timeout = "500ms", bulkhead = "catalogue:16/queue:32", retry = 1, idempotent)]
async fn product_from_cache_or_database() -> Result<(), Error> {
    sleep(if roll() < 0.9 { about(4.0) } else { about(120.0) }).await;
    Ok(())
}

/// What the error of a flaky neighbour looks like.
#[derive(Debug)]
struct Flaky;

impl From<Error> for Flaky {
    fn from(_: Error) -> Self {
        Self
    }
}

/// Every fourth attempt fails, and the next one seldom does.
#[resilient(timeout = "300ms", retry(3, backoff = "5ms..20ms", budget = "100%"), deadline = "2s", idempotent)]
async fn price_of_a_flaky_neighbour() -> Result<(), Flaky> {
    sleep(about(12.0)).await;
    if roll() < 0.25 { Err(Flaky) } else { Ok(()) }
}

/// Goes down for a third of the time, behind a breaker.
#[resilient(
    timeout = "200ms",
    breaker(name = "payments", window = 20, failures = "50%", cooldown = "2s"),
    fallback = || Ok(())
)]
async fn payment_behind_a_breaker(is_down: bool) -> Result<(), Error> {
    sleep(about(20.0)).await;
    if is_down {
        sleep(Duration::from_secs(5)).await;
    }
    Ok(())
}

/// A tail that its timeout cuts off.
#[resilient(timeout = "120ms", bulkhead = "search:12/queue:8")]
async fn search_with_a_long_tail() -> Result<(), Error> {
    sleep(if roll() < 0.93 { about(35.0) } else { about(260.0) }).await;
    Ok(())
}

/// One tenant asks more than all others together.
#[resilient(timeout = "1s", bulkhead = "tenants:2/queue:2", key = tenant)]
async fn report_of_a_tenant(tenant: &str) -> Result<(), Error> {
    let _ = tenant;
    sleep(about(60.0)).await;
    Ok(())
}

/// Called through a deadline of which others have used a part.
#[resilient(timeout = "200ms", deadline = "250ms")]
async fn page_that_comes_late() -> Result<(), Error> {
    sleep(about(60.0)).await;
    Ok(())
}

/// Listed, and never called.
#[allow(dead_code)] // that is what it is here for
#[resilient(timeout = "1s")]
async fn never_called() -> Result<(), Error> {
    Ok(())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let address = words.next().unwrap_or_else(|| "127.0.0.1:7878".to_owned());
    let dashboard = Dashboard::new().token(words.next().unwrap_or_default()).serve(address).await?;
    println!("the dashboard is at {} until Ctrl-C", dashboard.url());
    tokio::select! {
        () = call_all() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    dashboard.stop().await;
    Ok(())
}

/// Calls all of them, again and again.
async fn call_all() {
    let begun = Instant::now();
    let mut ticks = interval(Duration::from_millis(5));
    let mut turn = 0_u64;
    loop {
        ticks.tick().await;
        turn += 1;
        let is_down = begun.elapsed().as_secs() % 15 >= 10;
        tokio::spawn(product_from_cache_or_database());
        tokio::spawn(search_with_a_long_tail());
        if turn.is_multiple_of(2) {
            tokio::spawn(price_of_a_flaky_neighbour());
            tokio::spawn(payment_behind_a_breaker(is_down));
        }
        if turn.is_multiple_of(4) {
            let quiet = ["fir", "elm", "oak", "ash"][usize::try_from(turn / 4 % 4).unwrap_or(0)];
            tokio::spawn(async move { report_of_a_tenant(quiet).await });
            tokio::spawn(async {
                watertight::deadline::within(Duration::from_millis(180), page_that_comes_late()).await
            });
        }
        tokio::spawn(async { report_of_a_tenant("loud").await });
    }
}
