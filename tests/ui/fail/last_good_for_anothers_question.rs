use watertight::resilient;

#[resilient(timeout = "1s", fallback = last_good("60s"))]
async fn recommendations(user: u64) -> Result<Vec<u64>, watertight::Error> {
    Ok(vec![user])
}

fn main() {}
