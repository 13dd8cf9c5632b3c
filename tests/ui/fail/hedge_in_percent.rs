use watertight::resilient;

#[resilient(hedge = "95%", idempotent)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
