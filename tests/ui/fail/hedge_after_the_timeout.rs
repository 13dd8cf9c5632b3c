use watertight::resilient;

#[resilient(timeout = "100ms", hedge = "150ms", idempotent)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
