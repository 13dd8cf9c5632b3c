//! The rule, the decisions, and both together in a fleet of a thousand.

// The numbers of a model are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap, clippy::cast_lossless)]

mod decisions;
mod model;
mod script;
mod simulator;

use std::sync::Arc;

use super::decide::Reading;
use super::store::{Ask, Claim};

fn claim(limit: &str, whole: u32, held: u32, want: u32) -> Claim {
    Claim { limit: limit.into(), whole, held, want }
}

fn ask(process: &str, number: u64, claims: Vec<Claim>) -> Ask {
    Ask { process: process.into(), number, lease: 1_000, dice: 0, leaves: false, claims }
}

fn reading(whole: u32, share: u32, running: u32, peak: u32, pressed: bool) -> Reading {
    Reading { limit: Arc::from("recs"), whole, share, running, peak, pressed }
}
