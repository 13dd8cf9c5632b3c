//! Arguments of a body that runs more than once.
//!
//! A body may consume what it was given. To run it again there has to be another one, so each argument that is held by
//! value is cloned for an attempt, and given away for the last. References are simply lent again. The one place where
//! this shows is an argument that cannot be cloned: the compiler then says so at that argument.
//!
//! `mut` belongs to the attempt and not to the call. Left in the signature it would be an unused `mut` (the signature's
//! variable is only cloned from), and a body that empties its vector would find it empty the second time. So the word
//! moves to the variable of the attempt, and every attempt starts from the original value.
//!
//! Which arguments there are is a question to the patterns alone. Types are asked one thing, whether they are
//! references, and only as far as the eye can see: an alias for `&mut T` is taken for a value and refused by the
//! compiler with a sentence that says what to do.
//!
//! Invariants
//! - No binding is listed twice, none is invented, and the receiver is not among them.
//! - A binding under `#[cfg]` carries that `#[cfg]` to every line that names it.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, FnArg, Pat, PatIdent, ReceiverKind, Signature, Stmt, Token, Type};

use super::paths::{Paths, local, ours};

/// One variable that the body may name.
pub(super) struct Binding {
    cfg: Vec<Attribute>,
    ident: Ident,
    mutability: Option<Token![mut]>,
    how: How,
}

/// How an attempt comes by its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// A value: cloned, or given away for the last.
    Give,
    /// A `&mut`: lent again.
    Lend,
}

/// The bindings of a signature; `mut` is taken out of it.
pub(super) fn of_signature(sig: &mut Signature) -> Vec<Binding> {
    let mut found = Vec::new();
    for arg in &mut sig.inputs {
        if let FnArg::Typed(arg) = arg {
            walk(&mut arg.pat, Some(&arg.ty), &cfg(&arg.attrs), &mut found);
        }
    }
    found
}

/// The bindings of what `async_trait` makes of a signature: references stay arguments, the rest is bound anew by the
/// statements in front of the body.
pub(super) fn of_async_trait(sig: &mut Signature, prelude: &mut [Stmt]) -> Vec<Binding> {
    let mut found = Vec::new();
    for arg in &mut sig.inputs {
        if let FnArg::Typed(arg) = arg {
            if matches!(peeled(&arg.ty), Type::Reference(_)) {
                walk(&mut arg.pat, Some(&arg.ty), &cfg(&arg.attrs), &mut found);
            }
        }
    }
    for stmt in prelude {
        if let Stmt::Local(stmt) = stmt {
            // Of its own making, and named by no body.
            let own = |name: &str| name == "__self" || name.starts_with("__arg");
            let own = matches!(&stmt.pat, Pat::Ident(pat) if own(&pat.ident.to_string()));
            if !own {
                walk(&mut stmt.pat, None, &cfg(&stmt.attrs), &mut found);
            }
        }
    }
    found
}

/// Whether the body may take the receiver along: it is absent, or a `&self` that can be copied.
pub(super) fn may_move(sig: &Signature) -> bool {
    sig.receiver().is_none_or(|receiver| match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none() && receiver.mutability.is_none(),
        ReceiverKind::Typed(_, ty) => {
            matches!(peeled(ty), Type::Reference(ty) if ty.mutability.is_none()) && receiver.mutability.is_none()
        }
        _ => false,
    })
}

fn cfg(attrs: &[Attribute]) -> Vec<Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).cloned().collect()
}

fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        Type::Paren(paren) => peeled(&paren.elem),
        _ => ty,
    }
}

/// Collects the bindings of `pat`, as far as possible with the type that belongs to each.
fn walk(pat: &mut Pat, ty: Option<&Type>, cfg: &[Attribute], found: &mut Vec<Binding>) {
    match (pat, ty.map(peeled)) {
        (Pat::Paren(paren), ty) => walk(&mut paren.pat, ty, cfg, found),
        (Pat::Tuple(tuple), Some(Type::Tuple(types)))
            if tuple.elems.len() == types.elems.len() && !tuple.elems.iter().any(|pat| matches!(pat, Pat::Rest(_))) =>
        {
            for (pat, ty) in tuple.elems.iter_mut().zip(&types.elems) {
                walk(pat, Some(ty), cfg, found);
            }
        }
        (Pat::Reference(reference), Some(Type::Reference(ty))) => walk(&mut reference.pat, Some(&ty.elem), cfg, found),
        (pat, ty) => {
            let how = match ty {
                Some(Type::Reference(ty)) => ty.mutability.map(|_| How::Lend),
                _ => Some(How::Give),
            };
            Collector { how, cfg, found }.visit_pat_mut(pat);
        }
    }
}

struct Collector<'a> {
    /// `None` behind a `&`, which is there for everyone.
    how: Option<How>,
    cfg: &'a [Attribute],
    found: &'a mut Vec<Binding>,
}

impl VisitMut for Collector<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        // `Unit: Unit` looks like a binding and is a path; the language's own casing tells them apart.
        let a_path = pat.subpat.is_none() && pat.ident.to_string().starts_with(char::is_uppercase);
        let how = match (&pat.by_ref, &pat.mutability) {
            (Some(_), mutability) => mutability.map(|_| How::Lend),
            // Moved on by the body, as `mut rest: &[u8]` is: each attempt needs its own.
            (None, Some(_)) => self.how.or(Some(How::Give)),
            (None, None) => self.how,
        };
        if let (Some(how), false) = (how, a_path) {
            let mutability = if pat.by_ref.is_none() { pat.mutability.take() } else { None };
            self.found.push(Binding { cfg: self.cfg.to_vec(), ident: pat.ident.clone(), mutability, how });
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }
}

impl Binding {
    /// Before the first attempt.
    pub(super) fn put_by(&self, paths: &Paths<'_>) -> TokenStream {
        if self.how != How::Give {
            return TokenStream::new();
        }
        let (cfg, ident, given, at) = (&self.cfg, &self.ident, self.given(), ours(self.ident.span()));
        let (new, quiet) = (paths.given(self.ident.span()), quiet(&self.ident));
        quote_spanned!(at=> #(#cfg)* #quiet let mut #given = #new::new(#ident);)
    }

    /// At the start of an attempt; `taken` when the body takes it along, otherwise it is rebound in the body.
    pub(super) fn hand_out(&self, call: &Ident, taken: bool) -> TokenStream {
        let (cfg, ident, at, quiet) = (&self.cfg, &self.ident, ours(self.ident.span()), quiet(&self.ident));
        let mutability = self.mutability.filter(|_| taken);
        let value = match self.how {
            How::Give => {
                let (given, call) = (self.given(), local(&call.to_string(), self.ident.span()));
                quote_spanned!(at=> #given.give(#call.is_last()))
            }
            How::Lend => quote_spanned!(at=> &mut *#ident),
        };
        quote!(#(#cfg)* #quiet let #mutability #ident = #value;)
    }

    /// In the body, when that borrows its surroundings: makes it own the argument, as `async move` would. Otherwise
    /// an argument that is `Send` but not `Sync` would cost the future its `Send`.
    pub(super) fn take_in(&self) -> TokenStream {
        let (cfg, ident, mutability, quiet) = (&self.cfg, &self.ident, &self.mutability, quiet(&self.ident));
        quote!(#(#cfg)* #quiet let #mutability #ident = #ident;)
    }

    fn given(&self) -> Ident {
        local(&format_ident!("__wt_given_{}", self.ident.unraw()).to_string(), self.ident.span())
    }
}

/// For lines that name the user's variables without being the user's. Never `unused_variables`: an argument that the
/// body does not read is reported by the compiler at these lines.
fn quiet(ident: &Ident) -> TokenStream {
    // `_argument` is named here and perhaps nowhere else.
    let underscored = ident.unraw().to_string().starts_with('_').then(|| quote!(clippy::used_underscore_binding,));
    quote!(#[allow(#underscored clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)])
}
