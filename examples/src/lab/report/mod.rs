//! # Four ways to show one result
//!
//! Text for who ran it, JSON for who computes with it, one page for who reads it, markdown for the repository. All are made
//! from the same [`Finished`] values, and none of them measures.
//!
//! Invariants:
//! * a shortened or interrupted run says so in each;
//! * the verdicts stand in each, those that did not hold like those that did.

mod json;
mod markdown;
mod page;
mod plot;
mod text;

pub use json::document;
pub use markdown::markdown;
pub use page::page;
pub use text::text;

use super::Finished;

/// What has to be said about the run at large; empty for a full one.
fn caveat(finished: &Finished) -> &'static str {
    match (finished.outcome.partial, finished.quick) {
        (true, _) => "Interrupted: the figures cover what was measured until then, and decide nothing.",
        (false, true) => {
            "Quick run: shortened, so the figures are rough; where a claim is judged milder than in a full run, it says so."
        }
        (false, false) => "",
    }
}

/// How a claim stands.
fn word(held: bool) -> &'static str {
    if held { "held" } else { "did not hold" }
}
