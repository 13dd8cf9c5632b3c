//! The body owns what it works with.

use watertight::{Error, resilient};

#[resilient(timeout = "1s", idempotent, observe = "2%")]
async fn f(name: &str) -> Result<usize, Error> {
    Ok(name.len())
}

fn main() {}
