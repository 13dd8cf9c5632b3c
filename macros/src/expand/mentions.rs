//! Which of the function's variables a fallback names.
//!
//! `fallback = stale(&user)` runs after the body, and the body would have taken `user` along. What the fallback names
//! therefore stays behind: the body borrows it where it can, and with retry is given a copy of its own each time. The
//! question is put to the tokens and not to the syntax, since a variable can stand inside of a macro's brackets or of a
//! format string. Too many are found where a closure's parameter has the name of an argument; that costs a borrow, or a
//! copy, and no error.
//!
//! Invariant: a name that the fallback uses is never missed.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Expr;
use syn::ext::IdentExt;

/// The tokens of a fallback, as a place to look for names in.
pub(super) struct Mentions(TokenStream);

impl Mentions {
    /// The names in all of these; none in a path, which names no variable.
    pub(super) fn of<'a>(all: impl Iterator<Item = &'a Expr>) -> Self {
        Self(all.filter(|it| !matches!(it, Expr::Path(_))).map(ToTokens::to_token_stream).collect())
    }

    /// Whether `name` is one of them.
    pub(super) fn has(&self, name: &Ident) -> bool {
        names(&self.0, &name.unraw().to_string())
    }

    /// Whether the receiver is.
    pub(super) fn has_self(&self) -> bool {
        names(&self.0, "self")
    }
}

fn names(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|tree| match tree {
        TokenTree::Group(group) => names(&group.stream(), name),
        TokenTree::Ident(word) => word.unraw() == name,
        TokenTree::Literal(text) => text.to_string().contains(&format!("{{{name}")),
        TokenTree::Punct(_) => false,
    })
}

/// `self` as it is called inside of what `async_trait` made.
pub(super) fn in_async_trait(tokens: TokenStream) -> TokenStream {
    let renamed = |tree: TokenTree| match tree {
        TokenTree::Ident(word) if word == "self" => Ident::new("__self", word.span()).into(),
        TokenTree::Group(group) => {
            let mut inside = Group::new(group.delimiter(), in_async_trait(group.stream()));
            inside.set_span(group.span());
            inside.into()
        }
        other => other,
    };
    tokens.into_iter().map(renamed).collect()
}
