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
//! An argument that the fallback names has to outlive the body. With retry every attempt gets a clone of it, the last one
//! too. Without retry there is nothing to clone it for: it stays where it is, and a body that only looks at it borrows
//! it. A body that consumes it leaves nothing for the fallback, which the compiler says at the fallback.
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

use super::mentions::Mentions;
use super::paths::{Paths, local, ours};
use crate::parse::shape::Kind;

/// One variable that the body may name.
pub(super) struct Binding {
    cfg: Vec<Attribute>,
    ident: Ident,
    mutability: Option<Token![mut]>,
    how: How,
    /// The fallback names it.
    kept: bool,
}

/// How an attempt comes by its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// A value: cloned, or given away for the last.
    Give,
    /// A `&mut`: lent again.
    Lend,
}

/// What the fallback names, and what follows from that.
pub(super) struct Kept<'a> {
    pub(super) mentions: &'a Mentions,
    /// Whether it stays where it is, `mut` and all, as it does for a body that runs once.
    pub(super) in_place: bool,
}

/// The bindings of a function, whoever made it async; `mut` is taken out of its patterns.
pub(super) fn of(sig: &mut Signature, kind: &mut Kind, kept: &Kept<'_>) -> Vec<Binding> {
    match kind {
        Kind::AsyncTrait(prelude) => of_async_trait(sig, prelude, kept),
        _ => of_signature(sig, kept),
    }
}

/// For a body that runs once and leaves arguments behind: the bindings that it takes along all the same. `None` if it
/// can take along everything.
pub(super) fn but_for(sig: &mut Signature, kind: &mut Kind, mentions: &Mentions) -> Option<Vec<Binding>> {
    let (mut stripped, mut rebound) = (sig.clone(), kind.clone());
    let mut bindings = of(&mut stripped, &mut rebound, &Kept { mentions, in_place: true });
    if !leaves(sig, &bindings, mentions) {
        return None;
    }
    // Its own statements may have moved any of them already.
    if matches!(kind, Kind::Steps) {
        return Some(Vec::new());
    }
    (*sig, *kind) = (stripped, rebound);
    bindings.retain(|binding| !binding.kept);
    Some(bindings)
}

/// For a body that owns all it names: the bindings, if any of them is needed again, by a further attempt or by a fallback
/// that names it. Otherwise the body takes along what there is.
pub(super) fn for_thread(sig: &mut Signature, kind: &mut Kind, mentions: &Mentions, again: bool) -> Vec<Binding> {
    let (mut stripped, mut rebound) = (sig.clone(), kind.clone());
    let bindings = of(&mut stripped, &mut rebound, &Kept { mentions, in_place: false });
    // Its own statements may have moved any of them already.
    let needed = !matches!(kind, Kind::Steps) && (again || bindings.iter().any(|binding| binding.kept));
    if !needed {
        return Vec::new();
    }
    (*sig, *kind) = (stripped, rebound);
    bindings
}

/// Whether the fallback names something that the body does not share with it.
pub(super) fn leaves(sig: &Signature, bindings: &[Binding], mentions: &Mentions) -> bool {
    let receiver = mentions.has_self() && !may_move(sig);
    receiver || bindings.iter().any(|binding| binding.kept)
}

fn of_signature(sig: &mut Signature, kept: &Kept<'_>) -> Vec<Binding> {
    let mut found = Vec::new();
    for arg in &mut sig.inputs {
        if let FnArg::Typed(arg) = arg {
            walk(&mut arg.pat, Some(&arg.ty), &cfg(&arg.attrs), kept, &mut found);
        }
    }
    found
}

/// The bindings of what `async_trait` makes of a signature: references stay arguments, the rest is bound anew by the
/// statements in front of the body.
fn of_async_trait(sig: &mut Signature, prelude: &mut [Stmt], kept: &Kept<'_>) -> Vec<Binding> {
    let mut found = Vec::new();
    for arg in &mut sig.inputs {
        if let FnArg::Typed(arg) = arg
            && matches!(peeled(&arg.ty), Type::Reference(_))
        {
            walk(&mut arg.pat, Some(&arg.ty), &cfg(&arg.attrs), kept, &mut found);
        }
    }
    for stmt in prelude {
        if let Stmt::Local(stmt) = stmt {
            // Of its own making, and named by no body.
            let own = |name: &str| name == "__self" || name.starts_with("__arg");
            let own = matches!(&stmt.pat, Pat::Ident(pat) if own(&pat.ident.to_string()));
            if !own {
                walk(&mut stmt.pat, None, &cfg(&stmt.attrs), kept, &mut found);
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

/// Whether a type is one of the language's own that are copied, so that each attempt has its own without being given it.
fn is_primitive(ty: &Type) -> bool {
    const NAMES: [&str; 16] = [
        "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128",
        "usize",
    ];
    matches!(ty, Type::Path(ty) if ty.qself.is_none() && ty.path.get_ident().is_some_and(|name| NAMES.iter().any(|known| name == known)))
}

fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        Type::Paren(paren) => peeled(&paren.elem),
        _ => ty,
    }
}

/// Collects the bindings of `pat`, as far as possible with the type that belongs to each.
fn walk(pat: &mut Pat, ty: Option<&Type>, cfg: &[Attribute], kept: &Kept<'_>, found: &mut Vec<Binding>) {
    match (pat, ty.map(peeled)) {
        (Pat::Paren(paren), ty) => walk(&mut paren.pat, ty, cfg, kept, found),
        (Pat::Tuple(tuple), Some(Type::Tuple(types)))
            if tuple.elems.len() == types.elems.len() && !tuple.elems.iter().any(|pat| matches!(pat, Pat::Rest(_))) =>
        {
            for (pat, ty) in tuple.elems.iter_mut().zip(&types.elems) {
                walk(pat, Some(ty), cfg, kept, found);
            }
        }
        (Pat::Reference(reference), Some(Type::Reference(ty))) => {
            walk(&mut reference.pat, Some(&ty.elem), cfg, kept, found);
        }
        (pat, ty) => {
            let how = match ty {
                Some(Type::Reference(ty)) => ty.mutability.map(|_| How::Lend),
                Some(ty) if is_primitive(ty) => None,
                _ => Some(How::Give),
            };
            Collector { how, cfg, kept, found }.visit_pat_mut(pat);
        }
    }
}

struct Collector<'a> {
    /// `None` behind a `&`, which is there for everyone.
    how: Option<How>,
    cfg: &'a [Attribute],
    kept: &'a Kept<'a>,
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
            let kept = self.kept.mentions.has(&pat.ident);
            let stays = pat.by_ref.is_some() || (kept && self.kept.in_place);
            let mutability = if stays { None } else { pat.mutability.take() };
            // The alternatives of a pattern bind the same names.
            if self.found.iter().any(|binding| binding.ident == pat.ident) {
                return;
            }
            self.found.push(Binding { cfg: self.cfg.to_vec(), ident: pat.ident.clone(), mutability, how, kept });
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }
}

/// Who knows whether the attempt about to begin is the call's last.
#[derive(Clone, Copy)]
pub(super) enum Last {
    /// The call.
    Call,
    /// Whoever asks for the attempt: it is in a variable.
    Told,
}

impl Binding {
    /// Before the first attempt.
    pub(super) fn put_by(&self, paths: &Paths<'_>) -> TokenStream {
        if self.how != How::Give {
            return TokenStream::new();
        }
        let (cfg, ident, given, at) = (&self.cfg, &self.ident, self.given(), ours(self.ident.span()));
        let (new, quiet) = (paths.given(self.ident.span()), named(&self.ident));
        quote_spanned!(at=> #(#cfg)* #quiet let mut #given = #new::new(#ident);)
    }

    /// At the start of an attempt; `taken` when the body takes it along, otherwise it is rebound in the body.
    pub(super) fn hand_out(&self, last: Last, taken: bool) -> TokenStream {
        let (cfg, ident, at, quiet) = (&self.cfg, &self.ident, ours(self.ident.span()), quiet(&self.ident));
        let mutability = self.mutability.filter(|_| taken);
        let value = match self.how {
            How::Give => {
                let given = self.given();
                let [call, is_last] = ["__wt_call", "__wt_is_last"].map(|name| local(name, self.ident.span()));
                match last {
                    _ if self.kept => quote_spanned!(at=> #given.give_if(false)),
                    Last::Call => quote_spanned!(at=> #given.give(&#call)),
                    Last::Told => quote_spanned!(at=> #given.give_if(#is_last)),
                }
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

    /// After the last attempt, for the fallback that names it.
    pub(super) fn leave(&self) -> TokenStream {
        if !self.kept || self.how != How::Give {
            return TokenStream::new();
        }
        let (cfg, ident, given, at) = (&self.cfg, &self.ident, self.given(), ours(self.ident.span()));
        let quiet = quiet(&self.ident);
        // Named once more, in case that it is a closure's parameter that the fallback means.
        quote_spanned!(at=> #(#cfg)* #quiet let #ident = #given.left(); #(#cfg)* let _ = &#ident;)
    }

    fn given(&self) -> Ident {
        local(&format_ident!("__wt_given_{}", self.ident.unraw()).to_string(), self.ident.span())
    }
}

/// For lines that name one of the user's variables and bind none: an `_argument` is named here and perhaps nowhere else.
fn named(ident: &Ident) -> Option<TokenStream> {
    ident.unraw().to_string().starts_with('_').then(|| quote!(#[allow(clippy::used_underscore_binding)]))
}

/// For lines that name the user's variables without being the user's. Never `unused_variables`: an argument that the
/// body does not read is reported by the compiler at these lines.
fn quiet(ident: &Ident) -> TokenStream {
    // `_argument` is named here and perhaps nowhere else.
    let underscored = ident.unraw().to_string().starts_with('_').then(|| quote!(clippy::used_underscore_binding,));
    quote!(#[allow(#underscored clippy::shadow_reuse, clippy::shadow_same, clippy::shadow_unrelated)])
}
