use watertight::resilient;

#[resilient(isolate = "reports:4", timeout = "2s")]
async fn render(title: &str) -> Result<String, watertight::Error> {
    Ok(title.to_owned())
}

fn main() {}
