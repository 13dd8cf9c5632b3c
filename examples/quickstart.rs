//! The example of the README: a hundred pages ask a vendor that never answers.

use futures::future::join_all;
use watertight::resilient;

#[resilient(timeout = "300ms", bulkhead = "recs:8/queue:16", fallback = empty_vec, retry = 2)]
async fn recommendations(_user: u64) -> Result<Vec<String>, std::io::Error> {
    std::future::pending().await // accepts the call and never answers
}

fn empty_vec() -> Vec<String> {
    Vec::new()
}

#[tokio::main]
async fn main() {
    let started = tokio::time::Instant::now();
    let strips = join_all((0..100).map(recommendations)).await;
    let answered = strips.iter().filter(|strip| strip.is_ok()).count();
    println!("{answered} of 100 pages have their strip after {:.1?}\n", started.elapsed());
    println!("{}", watertight::snapshot());
}
