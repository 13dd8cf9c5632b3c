//! A thread cannot be observed.

use watertight::{Error, resilient};

#[resilient(isolate = "reports:4", timeout = "1s", idempotent, observe = "2%")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
