//! One process of the fleet.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use watertight::{fleet, resilient};

/// What a worker has to know, in its environment.
pub(crate) const PLAN: &str = "WATERTIGHT_TEST_FLEET";

/// The vendor answers after a while; the slot is held until it has.
#[resilient(bulkhead = "recs:64/fleet", timeout = "5s")]
async fn recommendations(vendor: u16, process: u8) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", vendor)).await?;
    stream.write_all(&[process]).await?;
    stream.read_exact(&mut [0]).await?;
    Ok(())
}

/// The same, at a pace.
#[resilient(rate = "api:200/s/burst:20/fleet", timeout = "5s")]
async fn paced(vendor: u16, process: u8) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", vendor)).await?;
    stream.write_all(&[process]).await?;
    stream.read_exact(&mut [0]).await?;
    Ok(())
}

/// The same for one tenant, of whom the vendor is told instead of the process.
#[resilient(bulkhead = "tenants:8/fleet", key = tenant, timeout = "5s")]
async fn for_tenant(vendor: u16, tenant: u8) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", vendor)).await?;
    stream.write_all(&[tenant]).await?;
    stream.read_exact(&mut [0]).await?;
    Ok(())
}

/// Calls as fast as it is let, and goes away for a moment where it is refused. The longest that a call took.
async fn call(limit: String, vendor: u16, process: u8, caller: usize, longest: Arc<AtomicU64>) {
    loop {
        let started = Instant::now();
        let answer = match &*limit {
            "recs" => recommendations(vendor, process).await,
            "api" => paced(vendor, process).await,
            // Tenant 0 is everywhere, tenant 1 in the first process alone.
            _ => for_tenant(vendor, u8::from(process == 0 && caller % 2 == 1)).await,
        };
        longest.fetch_max(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX), Relaxed);
        if answer.is_err() {
            sleep(Duration::from_millis(30)).await;
        }
    }
}

/// Says how it stands whenever it is asked, and ends when nobody can ask any more.
async fn work(plan: &str) {
    let [redis, limit, vendor, process, callers] = plan.split(' ').collect::<Vec<_>>()[..] else { panic!("{plan}") };
    let (vendor, process) = (vendor.parse().expect("a port"), process.parse().expect("a number"));
    let client = redis::Client::open(format!("redis://127.0.0.1:{redis}/")).expect("an address");
    let fleet = fleet::join(client).name("eight").replicas(8).await.expect("joins");
    let longest = Arc::new(AtomicU64::new(0));
    for caller in 0..callers.parse().expect("a number") {
        tokio::spawn(call(limit.to_owned(), vendor, process, caller, longest.clone()));
    }
    while tokio::task::spawn_blocking(is_asked).await.expect("reads") {
        let figures = fleet.figures();
        let share = figures.limits.iter().find(|it| it.name == limit).map_or(-1.0, |it| it.share);
        println!(
            "stands {} {} {} {} {} {}",
            figures.source.as_str(),
            figures.replicas,
            share,
            figures.lapses,
            figures.failures,
            longest.swap(0, Relaxed)
        );
    }
}

/// Waits until it is asked how it stands; false when nobody can ask any more.
fn is_asked() -> bool {
    std::io::Read::read_exact(&mut std::io::stdin(), &mut [0]).is_ok()
}

#[test]
fn worker() {
    if let Ok(plan) = std::env::var(PLAN) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(work(&plan));
        // Without the harness's last words, and without waiting for what runs.
        std::process::exit(0);
    }
}
