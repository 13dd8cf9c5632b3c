use watertight::resilient;

#[resilient(hedge(after = "p95", max = 2), idempotent)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
