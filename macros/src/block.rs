//! One attribute for every async method of an `impl` block.
//!
//! Each method is planned and expanded by itself, as if the attribute that holds for it had been written on it: a site
//! of its own, figures of its own, and state that is shared only where it has a name. Nothing in here expands anything;
//! it only works out which words hold for which method.
//!
//! Invariants
//! - A method that is not guarded has said so (`skip`), or is not async.
//! - A mistake on the block is told once, not once per method.

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt;

use crate::diag::Errors;
use crate::expand;
use crate::parse::args::Args;
use crate::parse::block::{Block, Member, Method};
use crate::parse::item::Item;
use crate::parse::slot::Slot;
use crate::validate::{stands_alone, validate};

/// The block with its methods guarded, as far as nothing is wrong.
pub(crate) fn guard(defaults: &Args, block: &Block, errors: &mut Errors) -> Option<TokenStream> {
    stands_alone(defaults, errors);
    let mut members = TokenStream::new();
    let mut guarded = false;
    for member in &block.members {
        match member {
            Member::Other(tokens) => members.extend(tokens.clone()),
            Member::Method(method) => match settings(defaults, method, errors) {
                Setting::Skip => members.extend(method.tokens.clone()),
                Setting::Guard(args) => {
                    guarded = true;
                    let item = Item::read(method.tokens.clone(), args.isolate.written(), errors);
                    if let Some(plan) = validate(*args, item, errors).filter(|_| errors.is_empty()) {
                        members.extend(expand::expand(plan));
                    }
                }
            },
        }
    }
    if !guarded && errors.is_empty() {
        errors.at(
            Span::call_site(),
            "there is no async method in this block that this could protect",
            "remove the attribute, or make the methods `async`",
        );
    }
    errors.is_empty().then(|| block.around(&members))
}

/// What is to become of a method.
enum Setting {
    Skip,
    Guard(Box<Args>),
}

fn settings(defaults: &Args, method: &Method, errors: &mut Errors) -> Setting {
    let own = method.own.clone().map_or_else(Args::default, |own| Args::read(own, errors));
    if let Some(skip) = own.skip.span() {
        if own.protect() || own.mode.written() || own.idempotent.written() || own.name.written() {
            errors.at(
                skip,
                "this method is skipped, and its other keys would do nothing",
                "remove `skip`, or the rest",
            );
        }
        return Setting::Skip;
    }
    let own_name = own.name.written();
    let mut args = own.over(defaults);
    if !args.protect() && defaults.protect() && errors.is_empty() {
        errors.at(
            method.ident.span(),
            format!("every default of the block is taken away from `{}`, so nothing protects it", method.ident),
            "write `#[resilient(skip)]` on it",
        );
    }
    if let (Some(prefix), false) = (defaults.name.get(), own_name) {
        args.name = Slot::default();
        args.name.set(&method.ident, Some(format!("{prefix}.{}", method.ident.unraw())), errors);
    }
    Setting::Guard(Box::new(args))
}
