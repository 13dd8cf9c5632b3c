use watertight::resilient;

#[resilient(timeout = "1s", fallback = last_good(60))]
async fn weather() -> Result<Vec<u64>, watertight::Error> {
    Ok(Vec::new())
}

fn main() {}
