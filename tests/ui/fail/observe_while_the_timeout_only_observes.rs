//! Nothing is cut off.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2%", mode = observe)]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
