use watertight::resilient;

struct Body;

#[resilient(hedge = "50ms", idempotent)]
async fn get(id: u64, body: Body) -> Result<u64, watertight::Error> {
    drop(body);
    Ok(id)
}

fn main() {}
