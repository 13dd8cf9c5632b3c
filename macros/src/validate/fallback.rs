//! The rules of `fallback`.
//!
//! What it answers for has to be able to happen, and what it kept for one caller must not be told to another.
//!
//! Two things follow from how it is narrowed. A refusal that it does not answer for reaches the caller, so the return type has
//! to carry it. And where nothing of the function can refuse, the only refusal left is that of a deadline around it: a
//! function whose fallback would not answer for that takes no notice of it, as one without a fallback does.

use proc_macro2::Span;
use syn::{Expr, Pat, Type};

use super::{Has, names_what_is_there};
use crate::diag::Errors;
use crate::parse::args::Args;
use crate::parse::fallback::Fallback as Parsed;
use crate::parse::item::Item;
use crate::parse::on::{Kind, On};
use crate::plan::{Fallback, Passes};

/// What one caller was told must not be told to another who asked for something else.
pub(super) fn answers_another(args: &Args, item: &Item, errors: &mut Errors) {
    if let Some(last_good) = args.fallback.get().and_then(|fallback| fallback.last_good)
        && !last_good.shared
        && !args.key.written()
        && !item.sig.inputs.is_empty()
    {
        errors.at(
            last_good.at,
            "one answer is kept for the function, so a caller could be given the answer to another's question",
            "add `key = EXPRESSION` to keep one for each key, write `last_good(\"60s\", shared)` if every caller may see the same, or name a function",
        );
    }
}

/// What is around it.
pub(super) struct Around {
    pub(super) has: Has,
    pub(super) breaker: bool,
    pub(super) key: bool,
    /// The key through which a call can be refused or cut off.
    pub(super) refuses: Option<Span>,
    /// It stands on the whole block, for methods with other keys.
    pub(super) inherited: bool,
}

pub(super) fn decide(fallback: Parsed, around: &Around, errors: &mut Errors) -> Fallback {
    let on = fallback.terms.on.take().unwrap_or_default();
    if !around.inherited {
        can_happen(&on, around, errors);
    }
    let limit = fallback.terms.limit.take();
    let narrowed = limit.is_some() || on.kinds.is_some() || on.predicate.is_some();
    let passes = limit.is_some() || !answers_for_ours(&on);
    let mut kinds = on.kinds.map(|kinds| kinds.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>());
    // A predicate speaks about errors, so it stands for the word as well.
    if let (Some(kinds), Some(_)) = (&mut kinds, &on.predicate)
        && !kinds.contains(&Kind::Error)
    {
        kinds.push(Kind::Error);
    }
    let keyed = around.key && fallback.last_good.is_some_and(|last_good| !last_good.shared);
    let unrefused = around.refuses.is_none() && takes_the_error(&fallback.value);
    Fallback {
        value: fallback.value,
        last_good: fallback.last_good.map(|last_good| last_good.nanos),
        keyed,
        kinds,
        predicate: on.predicate,
        limit,
        passes: match (narrowed, passes && around.refuses.is_some()) {
            (false, _) => Passes::Nothing,
            (true, false) => Passes::Errors,
            (true, true) => Passes::Refusals,
        },
        unrefused,
        errors_alone: unrefused || (passes && around.refuses.is_none()),
    }
}

/// Whether it answers for whatever watertight does to a call.
fn answers_for_ours(on: &On) -> bool {
    on.kinds.is_none() || (on.named(Kind::Timeout).is_some() && on.named(Kind::Refused).is_some())
}

/// Whether it is a closure that says to take something, and not the failure. What a path takes is not known here.
fn takes_the_error(value: &Expr) -> bool {
    let Expr::Closure(closure) = value else { return false };
    let Some(Pat::Type(input)) = closure.inputs.first() else { return false };
    let Type::Path(path) = &*input.ty else { return true };
    path.path.segments.last().is_some_and(|last| last.ident != "Failure")
}

/// A word for what never happens looks like an answer and is none.
fn can_happen(on: &On, around: &Around, errors: &mut Errors) {
    names_what_is_there(on, around.has, errors);
    if let (Some(span), false) = (on.named(Kind::Open), around.breaker) {
        errors.at(
            span,
            "`open` is a breaker's refusal, and this function has none",
            "add `breaker`, or take `open` out of the list",
        );
    }
    if around.refuses.is_some() || answers_for_ours(on) {
        return;
    }
    for (kind, word) in [(Kind::Timeout, "timeout"), (Kind::Refused, "refused")] {
        if let Some(span) = on.named(kind) {
            errors.at(
                span,
                format!("nothing here refuses a call or cuts it off, so there would be no `{word}` to answer for"),
                format!("add `timeout = \"300ms\"`, or name `error` in place of `{word}`"),
            );
        }
    }
}
