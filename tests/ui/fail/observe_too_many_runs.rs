//! A sample is small.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2%/runs:1000")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
