//! # The strip of recommendations
//!
//! Two functions, one body, and one line between them. That line is the whole experiment: compare `bare` and
//! `annotated` in the table the main job prints, then look for any other difference here.
//!
//! The body's fault is an everyday one. It needs the database once, before it needs the vendor, and keeps the
//! connection until the end of the scope, vendor call included. With a vendor that answers in 50 ms nobody will ever
//! notice.
//!
//! Invariants:
//! * the annotation is the only difference between the two functions;
//! * [`annotation`] reads the line out of this file, so what is reported is what was compiled.

use serde_json::Value;
use watertight::resilient;

use super::{AppError, Shop, data};

/// Something else to buy, as the vendor put it.
pub type Rec = Value;

/// The strip with nothing above it.
///
/// # Errors
/// The database's or the vendor's.
pub async fn recommendations_bare(shop: &Shop, user: i64) -> Result<Vec<Rec>, AppError> {
    ask(shop, user).await
}

/// The strip under the annotation.
///
/// # Errors
/// None that reach the caller: the fallback answers.
#[resilient(timeout = "300ms", bulkhead = "recs:8/queue:16", fallback = empty_vec, retry = 2)]
pub async fn recommendations(shop: &Shop, user: i64) -> Result<Vec<Rec>, AppError> {
    ask(shop, user).await
}

fn empty_vec() -> Vec<Rec> {
    Vec::new()
}

async fn ask(shop: &Shop, user: i64) -> Result<Vec<Rec>, AppError> {
    let visit = shop.asking.enter();
    let mut connection = shop.connection().await?;
    let viewed = data::viewed(&mut connection, user).await?;
    let recs = shop.ask_vendor(&viewed).await?; // `connection` is still alive here
    visit.answered();
    Ok(recs)
}

/// The annotation, and the line it stands on.
pub fn annotation() -> (usize, &'static str) {
    let mut lines = include_str!("recs.rs").lines().enumerate();
    let found = lines.find(|(_, line)| line.starts_with("#[resilient("));
    found.map_or((0, ""), |(above, line)| (above + 1, line))
}
