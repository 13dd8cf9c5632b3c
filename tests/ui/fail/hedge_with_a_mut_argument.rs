use watertight::resilient;

#[resilient(hedge = "50ms", idempotent)]
async fn read(id: u64, page: &mut Vec<u8>) -> Result<u64, watertight::Error> {
    page.clear();
    Ok(id)
}

fn main() {}
