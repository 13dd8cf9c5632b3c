//! The rules of `key`.
//!
//! A key without anything that is kept by it, a key that is the same for every call, a total of nothing: each compiles and
//! does not do what its author had in mind.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;

use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::bulkhead::Slots;
use crate::parse::item::Item;
use crate::parse::shape::Kind;

pub(super) fn fit(args: &Args, item: Option<&Item>, function: Span, errors: &mut Errors) {
    let declared = args.bulkhead.get().and_then(|bulkhead| bulkhead.declared.as_ref());
    let Some(key) = args.key.blame(function) else {
        if let (Some(bulkhead), Some(_)) = (args.bulkhead.blame(function), declared.and_then(|it| it.total)) {
            errors.at(
                bulkhead,
                "`total` bounds all keys together, and this function has no `key`",
                "add `key = EXPRESSION`, or write the total as the slots",
            );
        }
        return;
    };
    let kept = args.fallback.get().and_then(|fallback| fallback.last_good).is_some_and(|last_good| !last_good.shared);
    if !args.bulkhead.written() && !args.rate.written() && !kept {
        errors.at(
            key,
            "nothing of this function is kept by key",
            "add `bulkhead = \"NAME:SLOTS\"`, `rate = \"100/s\"` or `fallback = last_good(\"60s\")`, or leave `key` out",
        );
    }
    if declared.is_some_and(|declared| matches!(declared.slots, Slots::Auto { .. })) {
        errors.at(
            key,
            "slots that are found by measuring are those of the dependency, and a key has none of its own to measure",
            "write the number of slots for each key, or leave `key` out",
        );
    }
    if let (Some(value), Some(item)) = (args.key.get(), item)
        && !names_an_argument(&value.to_token_stream(), item)
    {
        errors.at(
            key,
            "`key` names no argument of the function, so it is the same for every call",
            "write an expression over the arguments: `key = tenant_id`",
        );
    }
}

/// Whether any word of `value` is bound by the signature, or the receiver.
fn names_an_argument(value: &TokenStream, item: &Item) -> bool {
    let mut bound = item.sig.inputs.to_token_stream();
    if let Kind::AsyncTrait(prelude) = &item.shape.kind {
        bound.extend(prelude.iter().map(ToTokens::to_token_stream));
    }
    let bound = words(&bound);
    words(value).iter().any(|word| word == "self" || bound.contains(word))
}

fn words(tokens: &TokenStream) -> Vec<String> {
    let of_one = |tree: TokenTree| match tree {
        TokenTree::Group(group) => words(&group.stream()),
        TokenTree::Ident(word) => vec![word.unraw().to_string()],
        // `format!("{tenant}")` names one as well.
        TokenTree::Literal(text) => {
            let text = text.to_string();
            text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
        }
        TokenTree::Punct(_) => Vec::new(),
    };
    tokens.clone().into_iter().flat_map(of_one).collect()
}
