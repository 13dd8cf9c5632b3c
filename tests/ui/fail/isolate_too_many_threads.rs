use watertight::resilient;

#[resilient(isolate = "reports:5000", timeout = "2s")]
async fn render(id: u64) -> Result<u64, watertight::Error> {
    Ok(id)
}

fn main() {}
