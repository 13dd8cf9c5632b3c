use watertight::resilient;

fn is_outage(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

#[resilient(timeout = "300ms", fallback(|| 0, on = is_outage))]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
