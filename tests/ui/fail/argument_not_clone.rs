use watertight::resilient;

struct Body;

#[resilient(retry = 1)]
async fn get(id: u64, body: Body) -> Result<u64, watertight::Error> {
    drop(body);
    Ok(id)
}

fn main() {}
