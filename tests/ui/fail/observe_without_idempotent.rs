//! What runs on may write.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", observe = "2%")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
