use watertight::resilient;

struct Own;

#[resilient(deadline = "1s", timeout = "300ms", bulkhead = "recs:8", breaker, retry = 2, mode = observe)]
async fn result(id: u64) -> Result<u64, Own> {
    Ok(id)
}

// Neither `Clone`, although there is a retry, nor a `Result`.
struct Once(u64);

#[resilient(timeout = "300ms", retry = 2, mode = observe)]
async fn value(once: Once) -> u64 {
    once.0
}

#[resilient(timeout = "300ms", bulkhead = "recs", mode(timeout = observe, bulkhead = observe))]
async fn nothing() {}

fn main() {
    let _ = (result(1), value(Once(1)), nothing());
}
