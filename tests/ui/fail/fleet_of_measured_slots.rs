use watertight::resilient;

#[resilient(bulkhead = "recs:auto/fleet")]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

// The function is still there, so a caller adds no error of its own.
async fn caller() -> u64 {
    get(1).await.unwrap_or_default()
}

fn main() {}
