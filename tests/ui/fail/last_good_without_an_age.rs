use watertight::resilient;

#[resilient(timeout = "1s", fallback = last_good())]
async fn rates() -> Result<Vec<u64>, watertight::Error> {
    Ok(Vec::new())
}

fn main() {}
