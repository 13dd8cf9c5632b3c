use watertight::resilient;

struct OutOfStock;

#[resilient(timeout = "300ms", fallback = |_error: OutOfStock| 0)]
async fn get(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

fn main() {}
