use watertight::resilient;

#[resilient(timeout = "300ms", fallback = stale)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn stale(id: u64) -> u64 {
    id
}

fn main() {}
