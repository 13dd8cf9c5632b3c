//! The whole way of an attribute: read, held against the rules, written out, and the item kept whatever happens.
//!
//! It is on tokens that a test and a fuzzer can make too; the compiler's own exist in a macro that runs and nowhere else.
//!
//! Invariant: every token stream has an expansion; none panics.

use proc_macro2::TokenStream;

use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::block::Block;
use crate::parse::item::Item;
use crate::{block, expand, recover, validate};

/// The whole way, on tokens that a test can make too.
pub(crate) fn expansion(attribute: TokenStream, item: TokenStream) -> TokenStream {
    recover::guarded(item, |item| {
        let mut errors = Errors::default();
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
