use std::rc::Rc;

use watertight::resilient;

#[resilient(isolate = "reports:4", timeout = "2s")]
async fn render(id: u64) -> Result<u64, watertight::Error> {
    let shared = Rc::new(id);
    tokio::task::yield_now().await;
    Ok(*shared)
}

fn main() {}
