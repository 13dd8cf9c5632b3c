use watertight::resilient;

#[resilient(retry(1, on = is_transient))]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn is_transient(error: &str) -> bool {
    error.is_empty()
}

fn main() {}
