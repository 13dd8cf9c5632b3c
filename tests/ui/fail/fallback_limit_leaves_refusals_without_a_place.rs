use watertight::resilient;

#[resilient(timeout = "300ms", fallback(Vec::new, limit = 8))]
async fn get(id: u64) -> Vec<u64> {
    vec![id]
}

fn main() {}
