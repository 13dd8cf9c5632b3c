use watertight::resilient;

#[resilient(retry = 1)]
fn get(id: u64) -> impl Future<Output = Result<u64, watertight::Error>> {
    let twice = id * 2;
    async move { Ok(twice) }
}

// The function is still there, so a caller adds no error of its own.
async fn caller() -> u64 {
    get(1).await.unwrap_or_default()
}

fn main() {}
