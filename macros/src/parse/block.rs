//! An `impl` block under the attribute.
//!
//! A repository or a client has ten methods behind one dependency, and the same attribute ten times is nine chances to
//! forget one. So the block can carry it: what it says holds for every async method inside, and a method's own attribute
//! has the last word, key by key.
//!
//! The methods' own attributes are found by name and taken out, since they must not be expanded a second time. What is
//! not an async method is passed on unread. Where that cannot be told, the answer is an error and never a method that
//! looks guarded and is not: methods made by a macro inside of the block are not there yet when the attribute runs.
//!
//! Invariants
//! - Putting all members back between the braces gives the block that was read, but for the methods' own attributes.
//! - The body of a method is not looked at here.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, GenericParam, Ident, ImplItem, Meta, Token};

use super::item::{Head, braces, head, opened};
use super::one_line;
use crate::diag::Errors;

/// The name by which an attribute is known for ours.
const OWN: &str = "resilient";

/// An `impl` block, cut into its members.
pub(crate) struct Block {
    /// Everything in front of the braces.
    pub(crate) lead: TokenStream,
    pub(crate) braces: Group,
    /// `#![…]` at the head of the block.
    pub(crate) inner: TokenStream,
    pub(crate) members: Vec<Member>,
    /// Whether all of the members could be read.
    complete: bool,
}

/// One thing inside of the braces.
pub(crate) enum Member {
    /// A constant, a type, a function that is not async.
    Other(TokenStream),
    Method(Method),
}

/// A method that the attribute is about.
pub(crate) struct Method {
    pub(crate) ident: Ident,
    /// What its own attribute says between the brackets, if it has one.
    pub(crate) own: Option<TokenStream>,
    /// The method without that attribute.
    pub(crate) tokens: TokenStream,
}

impl Block {
    /// Reads `item` as an `impl` block; `None` if it is none.
    pub(crate) fn read(item: TokenStream, errors: &mut Errors) -> Option<Self> {
        let mut lead: Vec<TokenTree> = opened(item).into_iter().collect();
        let braces = lead.last().and_then(braces)?;
        lead.pop();
        let lead: TokenStream = lead.into_iter().collect();
        is_impl.parse2(lead.clone()).ok().filter(|is| *is)?;
        let mut block = Self { lead, braces, inner: TokenStream::new(), members: Vec::new(), complete: true };
        let all = |input: ParseStream<'_>| {
            block.inner = input.call(Attribute::parse_inner)?.iter().map(ToTokens::to_token_stream).collect();
            while !input.is_empty() {
                block.members.push(member(input, errors)?);
            }
            Ok(())
        };
        if let Err(error) = all.parse2(block.braces.stream()) {
            errors.push(error);
            block.complete = false;
        }
        Some(block)
    }

    /// The block around `members`.
    pub(crate) fn around(&self, members: &TokenStream) -> TokenStream {
        let (lead, inner) = (&self.lead, &self.inner);
        let mut braces = Group::new(self.braces.delimiter(), quote!(#inner #members));
        braces.set_span(self.braces.span());
        quote!(#lead #braces)
    }
}

/// What is left to emit when something was wrong: an `impl` block without its methods' attributes, which mean something
/// else, or a mistake, once the block's own is gone; anything else as it is.
pub(crate) fn without_own(item: TokenStream) -> TokenStream {
    // Said already; only the members are wanted.
    let mut unheard = Errors::default();
    let Some(block) = Block::read(item.clone(), &mut unheard).filter(|block| block.complete) else { return item };
    let bare = block.members.iter().map(|member| match member {
        Member::Other(tokens) => tokens,
        Member::Method(method) => &method.tokens,
    });
    block.around(&bare.cloned().collect())
}

/// Whether `lead` is the head of an `impl` block. `fn f() -> impl Future` has the word too, so it has to come first.
fn is_impl(lead: ParseStream<'_>) -> syn::Result<bool> {
    lead.call(Attribute::parse_outer)?;
    lead.parse::<Option<Token![default]>>()?;
    lead.parse::<Option<Token![unsafe]>>()?;
    let is = lead.peek(Token![impl]);
    lead.parse::<TokenStream>()?;
    Ok(is)
}

fn member(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Member> {
    let ahead = input.fork();
    match head(&ahead) {
        Ok(head) => {
            input.advance_to(&ahead);
            function(head, input, errors)
        }
        Err(error) => other(input, errors).map_err(|_| error),
    }
}

/// A method, once its head has been read.
fn function(head: Head, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Member> {
    let (mut own, mut attrs) = (None, Vec::new());
    for attr in head.attrs {
        if conditional(&attr) {
            errors.over(
                &attr,
                "the attribute on the block has been read before this `cfg_attr` is decided",
                "put `#[cfg(..)]` on two versions of the method, or the method into a block of its own",
            );
            continue;
        }
        if attr.path().segments.last().is_none_or(|last| last.ident != OWN) {
            attrs.push(attr);
            continue;
        }
        let said = match &attr.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) => TokenStream::new(),
            Meta::NameValue(pair) => {
                let shown = one_line(&pair.value.to_token_stream());
                errors.over(
                    &pair.value,
                    format!("`= {shown}` is not how this attribute is written"),
                    "write the keys in brackets: `#[resilient(timeout = \"300ms\")]`",
                );
                TokenStream::new()
            }
        };
        if own.replace(said).is_some() {
            errors.over(&attr, "this method has the attribute twice", "write all keys into one");
        }
    }
    let (before, sig, semi) = (&head.before, &head.sig, &head.semi);
    let body = if semi.is_none() { Some(input.parse::<TokenTree>()?) } else { None };
    let tokens = quote!(#(#attrs)* #before #sig #semi #body);
    let by_async_trait =
        |param: &GenericParam| matches!(param, GenericParam::Lifetime(param) if param.lifetime.ident == "async_trait");
    if own.is_some() || sig.asyncness.is_some() || sig.generics.params.iter().any(by_async_trait) {
        return Ok(Member::Method(Method { ident: sig.ident.clone(), own, tokens }));
    }
    Ok(Member::Other(tokens))
}

/// Anything that is no function.
fn other(input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Member> {
    let item = input.parse::<ImplItem>()?;
    let attrs = match &item {
        ImplItem::Macro(made) => {
            errors.over(
                &made.mac.path,
                "what this macro makes is not seen by the attribute on the block, and would not be protected",
                "put the macro into an `impl` block of its own, and the attribute into the macro",
            );
            &made.attrs[..]
        }
        ImplItem::Const(constant) => &constant.attrs,
        ImplItem::Type(alias) => &alias.attrs,
        _ => &[],
    };
    if let Some(own) = attrs.iter().find(|attr| attr.path().segments.last().is_some_and(|last| last.ident == OWN)) {
        errors.over(own, "this is no function, and only a call can be protected", "put the attribute on an `async fn`");
    }
    Ok(Member::Other(item.into_token_stream()))
}

/// Whether `attr` is `cfg_attr(.., resilient(..))`.
fn conditional(attr: &Attribute) -> bool {
    let Meta::List(list) = &attr.meta else { return false };
    list.path.is_ident("cfg_attr")
        && list.tokens.clone().into_iter().any(|tree| matches!(tree, TokenTree::Ident(word) if word == OWN))
}
