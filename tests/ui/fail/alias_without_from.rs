use watertight::resilient;

#[derive(Debug)]
struct Trouble;

type Reply = Result<u64, Trouble>;

#[resilient(timeout = "300ms")]
async fn get(id: u64) -> Reply {
    Ok(id)
}

// The function is still there, so a caller adds no error of its own.
async fn caller() -> u64 {
    get(1).await.unwrap_or_default()
}

fn main() {}
