use watertight::resilient;

#[resilient(retry(1, on = |error| true))]
async fn get(id: u64) -> Option<u64> {
    Some(id)
}

fn main() {}
