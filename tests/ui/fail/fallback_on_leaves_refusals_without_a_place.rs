use watertight::resilient;

#[resilient(bulkhead = "recs:8", timeout = "300ms", fallback(Vec::new, on = timeout))]
async fn get(id: u64) -> Vec<u64> {
    vec![id]
}

fn main() {}
