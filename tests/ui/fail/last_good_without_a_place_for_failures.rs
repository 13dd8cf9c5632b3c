use watertight::resilient;

#[resilient(timeout = "1s", fallback = last_good("60s"))]
async fn rates() -> Vec<u64> {
    Vec::new()
}

fn main() {}
