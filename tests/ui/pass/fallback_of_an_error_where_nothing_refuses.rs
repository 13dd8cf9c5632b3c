use watertight::resilient;

struct OutOfStock;

#[resilient(retry = 2, fallback = |_error: OutOfStock| 0)]
async fn get(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

#[resilient(retry = 2, fallback(|_error: OutOfStock| 0, on = |_error| true, limit = 8))]
async fn narrowed(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

#[resilient(retry = 2, fallback = async |_error: OutOfStock| Err(OutOfStock))]
async fn later(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

fn main() {
    let _ = (get(1), narrowed(1), later(1));
}
