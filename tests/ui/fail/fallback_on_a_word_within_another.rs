use watertight::resilient;

#[resilient(bulkhead = "recs:8", fallback(|| 0, on = [refused, full]))]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
