use watertight::resilient;

#[resilient(timeout = "300ms", fallback = nothing)]
async fn get(id: u64) -> Result<Vec<u64>, watertight::Error> {
    Ok(vec![id])
}

fn nothing() -> Option<u64> {
    None
}

fn main() {}
