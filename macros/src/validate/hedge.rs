//! Rules about hedging: two bodies at once.
//!
//! A retry runs the body again when it has ended; a hedge runs it a second time while the first is still at it. So what is
//! right for the one is not enough for the other. A retry may be right for a write whose error says that nothing was written;
//! a hedge is not, since nobody has said anything yet when it starts. And a `&mut` can be lent to one body after another, but
//! not to two.
//!
//! Invariant: what passes here is expanded to two bodies that own or share all they name.

use proc_macro2::Span;
use syn::visit_mut::{self, VisitMut};
use syn::{FnArg, PatIdent, ReceiverKind, Signature, Type};

use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::hedge::{After, Hedge};
use crate::parse::item::Item;
use crate::parse::mode::{Mode, Strategy};

/// What the hedge asks of the other keys and of the function.
pub(super) fn fits(args: &Args, item: Option<&Item>, function: Span, errors: &mut Errors) {
    let (Some(key), Some(hedge)) = (args.hedge.blame(function), args.hedge.get()) else { return };
    if !args.idempotent.written() {
        errors.at(
            key,
            "a hedge runs the body a second time while the first may still be writing, and would write twice",
            "add the key `idempotent` if running twice does no harm, or leave `hedge` out",
        );
    }
    if args.isolate.written() {
        errors.at(
            key,
            "the attempt that loses is dropped at once, and a thread that blocks cannot be taken back",
            "leave `hedge` or `isolate` out",
        );
    }
    let observes = |mode: &Mode| Strategy::ALL.iter().any(|(strategy, _)| mode.observes(*strategy));
    if let Some(mode) = args.mode.span().filter(|_| args.mode.get().is_some_and(observes)) {
        errors.at(
            mode,
            "what only observes follows one attempt at a time, and a hedged one is two",
            "leave `hedge` out while you observe, or enforce what is observed",
        );
    }
    is_in_time(*hedge, key, args, errors);
    if let Some(item) = item {
        shares(&item.sig, errors);
    }
}

/// A second attempt that is due after the first must have ended is never made.
fn is_in_time(hedge: Hedge, key: Span, args: &Args, errors: &mut Errors) {
    let soonest = match hedge.after {
        After::Fixed(nanos) => nanos,
        After::Percentile(_) => hedge.floor.unwrap_or(0),
    };
    for (limit, word) in [(args.timeout.get(), "timeout"), (args.deadline.get(), "deadline")] {
        if limit.is_some_and(|limit| soonest >= *limit) {
            errors.at(
                key,
                format!("the first attempt is cut off by the `{word}` before this hedge is due"),
                format!("write a shorter delay, or a longer `{word}`"),
            );
            return;
        }
    }
}

/// Two bodies share the receiver and what is borrowed.
fn shares(sig: &Signature, errors: &mut Errors) {
    if let Some(receiver) = sig.receiver() {
        let shared = match &receiver.kind {
            ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
            ReceiverKind::Typed(_, ty) => matches!(peeled(ty), Type::Reference(ty) if ty.mutability.is_none()),
            _ => false,
        };
        if !shared || receiver.mutability.is_some() {
            errors.over(
                receiver,
                "`hedge` runs two bodies at once, and both would need this receiver for themselves",
                "write `&self`, or leave `hedge` out",
            );
        }
    }
    for arg in &sig.inputs {
        let FnArg::Typed(arg) = arg else { continue };
        let mut exclusive = Exclusive(None);
        exclusive.visit_pat_mut(&mut arg.pat.clone());
        let what = "`hedge` runs two bodies at once, and both would need this `&mut` for themselves";
        let remedy = "take it by value or as `&`, return what was written to it, or leave `hedge` out";
        match (is_lent(&arg.ty), exclusive.0) {
            (true, _) => errors.over(&arg.ty, what, remedy),
            (false, Some(span)) => errors.at(span, what, remedy),
            (false, None) => {}
        }
    }
}

/// Whether the eye can see a `&mut` in an argument's type: the whole of it, or a part of a tuple.
fn is_lent(ty: &Type) -> bool {
    match peeled(ty) {
        Type::Reference(reference) => reference.mutability.is_some(),
        Type::Tuple(tuple) => tuple.elems.iter().any(is_lent),
        _ => false,
    }
}

fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        Type::Paren(paren) => peeled(&paren.elem),
        _ => ty,
    }
}

/// The place of a `&mut` that `ref mut` makes.
struct Exclusive(Option<Span>);

impl VisitMut for Exclusive {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_some() && pat.mutability.is_some() && self.0.is_none() {
            self.0 = Some(pat.ident.span());
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }
}
