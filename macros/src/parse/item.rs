//! The function under the attribute.
//!
//! Only the head is parsed. The body is one group of tokens that is carried to its new place unread: a body that is
//! half typed still expands, the editor keeps completing in it, and every error the compiler finds in it points at the
//! user's own lines. Parsing it would gain nothing, since nothing in it is changed.
//!
//! The signature is parsed to be looked at and, in one case (`mut` under retry), to lose a word. It is never listed a
//! second time: patterns, `impl Trait`, lifetimes, receivers and `#[cfg]` on arguments work because nobody here has to
//! understand them.
//!
//! Invariants
//! - The tokens of the body occur once in the output and in their own brackets.
//! - What is not a function with a body is refused here, with a sentence that says where the attribute belongs.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, ReturnType, Safety, Signature, Token, Type, Visibility};

use super::shape::{self, Shape};
use crate::diag::Errors;

/// A function with a body, and where in it the asynchronous part lies.
pub(crate) struct Item {
    /// Attributes, visibility and `default`, as written.
    pub(crate) lead: TokenStream,
    pub(crate) sig: Signature,
    /// `#![…]` at the head of the body: at the head they have to stay.
    pub(crate) inner: TokenStream,
    pub(crate) shape: Shape,
}

impl Item {
    /// Reads the item, or says in `errors` why the attribute cannot stand on it. A function that is not async can be
    /// guarded if it `has_threads` of its own.
    pub(crate) fn read(tokens: TokenStream, has_threads: bool, errors: &mut Errors) -> Option<Self> {
        let mut tokens: Vec<TokenTree> = opened(tokens).into_iter().collect();
        let body = tokens.last().and_then(braces);
        if body.is_some() {
            tokens.pop();
        }
        let rest: TokenStream = tokens.into_iter().collect();
        let head = match head.parse2(rest.clone()) {
            Ok(head) => head,
            Err(error) => {
                not_a_function(&rest, &error, errors);
                return None;
            }
        };
        let (Some(body), None) = (body, head.semi) else {
            errors.over(
                &head.sig,
                format!("`{}` has no body here, so there is nothing to run", head.sig.ident),
                "put the attribute on the `impl`, where the body is, or on a method with a default body",
            );
            return None;
        };
        refuse_kinds(&head.sig, errors)?;
        let (inner, body) = without_inner_attributes(body);
        let shape = shape::find(&head.sig, body, has_threads, errors)?;
        let (attrs, before) = (&head.attrs, &head.before);
        Some(Self { lead: quote!(#(#attrs)* #before), sig: head.sig, inner, shape })
    }
}

/// Everything in front of the body.
pub(super) struct Head {
    pub(super) attrs: Vec<Attribute>,
    /// Visibility and `default`.
    pub(super) before: TokenStream,
    pub(super) sig: Signature,
    pub(super) semi: Option<Token![;]>,
}

pub(super) fn head(input: ParseStream<'_>) -> syn::Result<Head> {
    let attrs = input.call(Attribute::parse_outer)?;
    let mut before = input.parse::<Visibility>()?.into_token_stream();
    if input.peek(Token![default]) {
        input.parse::<Token![default]>()?.to_tokens(&mut before);
    }
    Ok(Head { attrs, before, sig: input.parse()?, semi: input.parse()? })
}

/// Takes off the invisible brackets that a `macro_rules` fragment comes in.
pub(super) fn opened(tokens: TokenStream) -> TokenStream {
    let mut trees = tokens.clone().into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => opened(group.stream()),
        _ => tokens,
    }
}

/// The braces that `tree` is, visibly or under invisible ones.
pub(super) fn braces(tree: &TokenTree) -> Option<Group> {
    let TokenTree::Group(group) = tree else { return None };
    match group.delimiter() {
        Delimiter::Brace => Some(group.clone()),
        Delimiter::None => {
            let mut inside = group.stream().into_iter();
            inside.next().as_ref().and_then(braces).filter(|_| inside.next().is_none())
        }
        _ => None,
    }
}

/// Splits `#![…]` off the body. A body without any stays the very group it was, both of its braces in place.
fn without_inner_attributes(body: Group) -> (TokenStream, Group) {
    let split = |input: ParseStream<'_>| Ok((input.call(Attribute::parse_inner)?, input.parse::<TokenStream>()?));
    match split.parse2(body.stream()) {
        Ok((inner, rest)) if !inner.is_empty() => {
            let mut opened = Group::new(Delimiter::Brace, rest);
            opened.set_span(body.span());
            (inner.iter().map(ToTokens::to_token_stream).collect(), opened)
        }
        _ => (TokenStream::new(), body),
    }
}

/// Says what else the item is.
fn not_a_function(head: &TokenStream, error: &syn::Error, errors: &mut Errors) {
    let words: Vec<TokenTree> = head.clone().into_iter().collect();
    let kind = words.iter().find_map(|tree| match tree {
        TokenTree::Ident(word) => {
            ["fn", "impl", "trait", "struct", "enum", "union", "mod", "static", "const", "type", "use", "let"]
                .into_iter()
                .find(|kind| word == kind)
                .map(|kind| (kind, word.span()))
        }
        _ => None,
    });
    match kind {
        Some(("trait", span)) => errors.at(
            span,
            "a trait has no calls of its own to protect",
            "put the attribute on the async functions of the `impl`, or on one with a default body",
        ),
        Some(("fn" | "const" | "impl", _))
            if words.iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == "fn")) =>
        {
            errors.push(error.clone());
        }
        Some((kind, span)) => errors.at(
            span,
            format!("`{kind}` declares something else than a function, and only a call can be protected"),
            "put the attribute on an `async fn`",
        ),
        None => errors.push(error.clone()),
    }
}

/// Functions that cannot be protected whatever their body.
fn refuse_kinds(sig: &Signature, errors: &mut Errors) -> Option<()> {
    if let Some(constness) = &sig.constness {
        errors.over(
            constness,
            "a `const fn` runs in the compiler, where there is nothing to wait for",
            "remove the attribute, or make it an `async fn`",
        );
        return None;
    }
    if let Some(abi) = &sig.abi {
        errors.over(
            abi,
            "an `extern` function is called from outside of any async runtime",
            "put the attribute on an `async fn` that it calls",
        );
        return None;
    }
    if let Safety::Safe(safe) = &sig.safety {
        errors.over(safe, "`safe fn` declares a foreign function", "put the attribute on an `async fn`");
        return None;
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && matches!(&**ty, Type::Never(_))
    {
        errors.over(
            ty,
            "a function that never returns has no answer to protect: its timeout could reach nobody",
            "put the attribute on the calls it makes; in an annotated `impl` block, write `#[resilient(skip)]` on it",
        );
        return None;
    }
    Some(())
}
