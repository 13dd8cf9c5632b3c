//! A receiver is owned as well.

use watertight::{Error, resilient};

struct Shop;

impl Shop {
    #[resilient(timeout = "1s", idempotent, observe = "2%")]
    async fn f(&self) -> Result<u8, Error> {
        Ok(1)
    }
}

fn main() {}
