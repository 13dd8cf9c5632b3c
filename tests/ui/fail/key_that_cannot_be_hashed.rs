use watertight::resilient;

#[resilient(bulkhead = "recs:8", key = share)]
async fn get(share: f64) -> Result<f64, watertight::Error> {
    Ok(share)
}

// The function is still there, so a caller adds no error of its own.
async fn caller() -> f64 {
    get(1.0).await.unwrap_or_default()
}

fn main() {}
