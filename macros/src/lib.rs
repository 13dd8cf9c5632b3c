//! The attribute of `watertight`. Use that crate: it re-exports the attribute, and its documentation holds the manual.
//!
//! In here: `attribute` is the whole way; tokens are read by `parse`, the rules between them are checked by `validate`, what is left is a `plan`, and
//! `expand` writes it out. `block` does that for every method of an `impl`. `recover` sees to it that the item survives
//! whatever goes wrong on the way.

mod attribute;
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

/// The attribute comes with the `watertight` crate, whose documentation holds its manual.
#[proc_macro_attribute]
pub fn resilient(attribute: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expansion(attribute.into(), item.into()).into()
}
