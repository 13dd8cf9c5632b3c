//! # The work of the service that runs alone
//!
//! What `cargo run --release -- service` does for `/work`, without and with an attribute line. It stands among the lab's, since
//! the bare one is wrong on purpose.
//!
//! Invariants:
//! * the two differ in the attribute line.

use watertight::resilient;

use super::frame::Variant;
use super::service::{Desk, Done};

#[resilient(timeout = "300ms", bulkhead = "by-hand:8/queue:16")]
async fn by_hand(desk: &Desk) -> Done {
    desk.work().await
}

const SOURCE: &str = include_str!("by_hand.rs");
/// Nothing above it.
pub const BARE: Variant = Variant::bare("bare", |desk| Box::pin(desk.work()));
/// Under the attribute.
pub const GUARDED: Variant = Variant::guarded("guarded", SOURCE, "by_hand", |desk| Box::pin(by_hand(desk)));
