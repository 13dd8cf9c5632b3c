//! The attribute of `watertight`. Use that crate: it re-exports the attribute, and its documentation holds the manual.
//!
//! In here: tokens are read by `parse`, the rules between them are checked by `validate`, what is left is a `plan`, and
//! `expand` writes it out. `block` does that for every method of an `impl`. `recover` sees to it that the item survives
//! whatever goes wrong on the way.

mod block;
mod diag;
mod expand;
mod limits;
mod parse;
mod plan;
mod recover;
#[cfg(test)]
mod tests;
mod units;
mod validate;

use proc_macro::TokenStream;

use crate::parse::args::Args;
use crate::parse::block::Block;
use crate::parse::item::Item;

/// The attribute comes with the `watertight` crate, whose documentation holds its manual.
#[proc_macro_attribute]
pub fn resilient(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expansion(attribute.into(), item.into()).into()
}

/// The whole way, on tokens that a test can make too.
fn expansion(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    recover::guarded(item, |item| {
        let mut errors = diag::Errors::default();
        let args = Args::read(attribute, &mut errors);
        if let Some(block) = Block::read(item.clone(), &mut errors) {
            let guarded = block::guard(&args, &block, &mut errors);
            return errors.finish(guarded);
        }
        validate::stands_alone(&args, &mut errors);
        let item = Item::read(item, args.isolate.written(), &mut errors);
        let plan = validate::validate(args, item, &mut errors);
        errors.finish(plan).map(expand::expand)
    })
}
