use watertight::resilient;

#[resilient(bulkhead = "recs:8")]
async fn get(id: u64) -> Option<u64> {
    Some(id)
}

fn main() {}
