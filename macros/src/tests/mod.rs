//! What the macro promises about its own text: the grammar value by value, the messages, the shapes of the output.
//!
//! That the output compiles, and behaves, is shown where there is a runtime to compile it against.

mod block;
#[path = "../../../fuzz/src/attribute.rs"]
mod corpus;
mod expansion;
mod grammar;
mod limits;
mod messages;
mod settings;
mod strategies;
mod tail;

use proc_macro2::TokenStream;
use quote::quote;

use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::item::Item;
use crate::plan::Plan;
use crate::validate::{stands_alone, validate};

/// Tokens from text. In tests only, since text has no spans.
fn tokens(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("no tokens: {text}: {error}"))
}

/// The plan for an attribute on a small function, or the messages.
fn plan(attribute: &str) -> Result<Plan, Vec<String>> {
    plan_on(
        attribute,
        &quote!(
            async fn get(id: u64) -> Result<u8, Error> {
                body().await
            }
        )
        .to_string(),
    )
}

/// The plan for an attribute on `item`, or the messages.
fn plan_on(attribute: &str, item: &str) -> Result<Plan, Vec<String>> {
    let mut errors = Errors::default();
    let args = Args::read(tokens(attribute), &mut errors);
    stands_alone(&args, &mut errors);
    let item = Item::read(tokens(item), args.isolate.written(), &mut errors);
    match validate(args, item, &mut errors) {
        Some(plan) if errors.is_empty() => Ok(plan),
        _ => Err(errors.messages()),
    }
}
