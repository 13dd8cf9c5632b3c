use watertight::resilient;

struct OutOfStock;

#[resilient(bulkhead = "recs:8", timeout = "300ms", fallback(|| 0, on = [timeout, error]))]
async fn get(id: u64) -> Result<u64, OutOfStock> {
    Ok(id)
}

fn main() {}
