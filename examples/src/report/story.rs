//! # What happened, in a few sentences
//!
//! A table convinces whoever knows what to look for. The sentences say what to look for, with this run's own figures;
//! if the outage failed to happen (too few visitors to fill the pool, say), they say that instead of telling the usual
//! story over unusual numbers.
//!
//! Invariants:
//! * no figure in here that is not in the table;
//! * the last sentence names the file and line to open.

use super::words::{count, share};
use crate::outage::{Outage, Run};
use crate::pool;
use crate::shop::{Variant, recs};

/// Below this share of good answers the cart counts as down.
const DOWN: f64 = 50.0;

/// The sentences.
pub fn tell(outage: &Outage) -> String {
    let mut said = Vec::new();
    if outage.partial {
        said.push("PARTIAL: interrupted, the figures cover what was measured until then.".to_owned());
    }
    said.extend(outage.runs.iter().map(|run| match run.variant {
        Variant::Bare => bare(run),
        Variant::Annotated => annotated(run),
    }));
    let (line, text) = recs::annotation();
    said.push(format!("The two shops differ in one line, examples/src/shop/recs.rs:{line}\n    {text}"));
    said.join("\n")
}

fn cart(run: &Run) -> Option<f64> {
    run.route("/cart").success()
}

fn bare(run: &Run) -> String {
    let cart_share = share(cart(run));
    match cart(run) {
        None => "Bare: ended before the cart was asked.".to_owned(),
        Some(percent) if percent < DOWN => format!(
            "Bare: {} calls to a vendor that never answered held {} of {} pooled connections, and /cart, which does \
             not know the vendor, was down to {}.",
            count(run.vendor.requests),
            pool::SIZE as usize - run.idle.low().unwrap_or_default(),
            pool::SIZE,
            cart_share,
        ),
        Some(_) => format!(
            "Bare: /cart kept {cart_share}, so the outage did not spread; it takes more visitors than the pool has \
             connections, and more than a moment."
        ),
    }
}

fn annotated(run: &Run) -> String {
    let product = share(run.route("/product").success());
    let fallback: u64 = run.functions.iter().map(|fates| fates.fallback_used).sum();
    let lag = if run.vendor.peak > run.asking_peak {
        format!(
            " (the vendor says {}: it counts a call we cut off until the closed socket reaches it)",
            run.vendor.peak
        )
    } else {
        String::new()
    };
    format!(
        "Annotated: with the same vendor, load and pool, /cart stood at {} and /product at {}; {} pages came with an \
         empty strip, and the vendor was asked by at most {} at once{lag}.",
        share(cart(run)),
        product,
        count(fallback),
        count(run.asking_peak),
    )
}
