//! There is no limit to run on beyond.

use watertight::{Error, resilient};

#[resilient(observe = "2%", idempotent, bulkhead = "recs:8")]
async fn f() -> Result<u8, Error> {
    Ok(1)
}

fn main() {}
