use watertight::resilient;

#[resilient(isolate = "reports:4", timeout = "2s")]
async fn render<T: ToString + Send>(title: T) -> Result<String, watertight::Error> {
    Ok(title.to_string())
}

fn main() {}
