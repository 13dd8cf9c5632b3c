use watertight::resilient;

#[resilient(timeout = "300ms", fallback(|| 0, on = []))]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
