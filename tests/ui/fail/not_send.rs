use std::rc::Rc;

use watertight::resilient;

#[resilient(timeout = "300ms", retry = 1)]
async fn get(id: u64) -> Result<u64, watertight::Error> {
    let shared = Rc::new(id);
    tokio::task::yield_now().await;
    Ok(*shared)
}

fn caller() {
    tokio::spawn(get(1));
}

fn main() {}
