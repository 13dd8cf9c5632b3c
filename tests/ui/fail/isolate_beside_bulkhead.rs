use watertight::resilient;

#[resilient(isolate = "reports:4", bulkhead = "db:8")]
async fn render(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
