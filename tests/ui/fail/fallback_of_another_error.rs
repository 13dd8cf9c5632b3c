use watertight::resilient;

struct OutOfStock;

#[resilient(retry = 2, fallback = |_error: std::io::Error| 0)]
async fn get(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

fn main() {}
