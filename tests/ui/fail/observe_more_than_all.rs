//! More than all.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "200%")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
