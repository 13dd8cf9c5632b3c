use watertight::resilient;

#[resilient(timeout = "300ms")]
async fn get(id: u64) -> Vec<u64> {
    vec![id]
}

fn main() {}
