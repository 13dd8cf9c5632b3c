use watertight::resilient;

#[resilient(timeout = "300ms", fallback(|| None, on = |_error| true))]
async fn get(id: u64) -> Option<u64> {
    Some(id)
}

fn main() {}
