//! What runs on does so in another task.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2%")]
async fn f() -> Result<u8, Error> {
    let held = std::rc::Rc::new(1);
    std::future::ready(()).await;
    Ok(*held)
}

fn main() {}
