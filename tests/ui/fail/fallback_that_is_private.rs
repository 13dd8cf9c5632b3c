use watertight::resilient;

#[resilient(timeout = "300ms", fallback = cache::stale)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

mod cache {
    fn stale() -> u64 {
        5
    }
}

fn main() {}
