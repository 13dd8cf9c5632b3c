//! The cap lies beyond the limit.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2%/cap:500ms")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
