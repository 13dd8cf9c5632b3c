//! The attribute of `watertight`. Use that crate: it re-exports the attribute, and its documentation holds the manual.
//!
//! In here: tokens are read by `parse`, the rules between them are checked by `validate`, what is left is a `plan`, and
//! `expand` writes it out. `recover` sees to it that the function survives whatever goes wrong on the way.

mod diag;
mod expand;
mod parse;
mod plan;
mod recover;
#[cfg(test)]
mod tests;
mod validate;

use proc_macro::TokenStream;

/// Guards an async function: deadline, retry, breaker, bulkhead, timeout, fallback.
///
/// The manual, one heading per key with its grammar, defaults and examples, is in the documentation of the
/// `watertight` crate.
#[proc_macro_attribute]
pub fn resilient(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expansion(attribute.into(), item.into()).into()
}

/// The whole way, on tokens that a test can make too.
fn expansion(attribute: proc_macro2::TokenStream, item: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
    recover::guarded(item, |item| {
        let mut errors = diag::Errors::default();
        let args = parse::args::Args::read(attribute, &mut errors);
        let item = parse::item::Item::read(item, &mut errors);
        let plan = validate::validate(args, item, &mut errors);
        errors.finish(plan).map(expand::expand)
    })
}
