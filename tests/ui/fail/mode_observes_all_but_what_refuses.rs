use watertight::resilient;

struct Own;

// The bulkhead only observes, and the timeout still needs a way to say no.
#[resilient(timeout = "300ms", bulkhead = "recs:8", mode(bulkhead = observe))]
async fn get(id: u64) -> Result<u64, Own> {
    Ok(id)
}

async fn caller() {
    let _ = get(1).await;
}

fn main() {}
