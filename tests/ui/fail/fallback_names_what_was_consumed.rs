use watertight::resilient;

#[resilient(timeout = "300ms", fallback = stale(&name))]
async fn get(name: String) -> Result<Vec<u8>, watertight::Error> {
    Ok(name.into_bytes())
}

fn stale(name: &str) -> Vec<u8> {
    name.into()
}

fn main() {}
