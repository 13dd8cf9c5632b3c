//! A share has a percent sign.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
