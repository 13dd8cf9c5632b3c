//! `fallback = PATH`, `= CLOSURE`, `= CALL` or `= last_good("DURATION"[, shared])`.
//!
//! What is written is the user's own expression, and goes on as it is: whether it fits the function is a question of
//! types, which the compiler answers at that very place. One call is ours and not the user's: `last_good`, with the
//! greatest age as its argument. A function of that name is reached by a path, `self::last_good(..)`.
//!
//! One value is kept for the function. Where answers differ by argument, that would give one caller another's, so a
//! function that takes any says `shared`, which `validate` checks.
//!
//! Invariant: an age leaves this file checked, like any duration.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::ParseStream;
use syn::{Expr, ExprCall, ExprLit, Lit, Token};

use super::{one_line, rest, ungrouped, value};
use crate::diag::Errors;

/// What answers when nothing else can.
#[derive(Clone)]
pub(crate) struct Fallback {
    /// A path, a closure or a call.
    pub(crate) value: Expr,
    /// The call is `last_good`, then.
    pub(crate) last_good: Option<LastGood>,
}

/// The most recent success as an answer.
#[derive(Clone, Copy)]
pub(crate) struct LastGood {
    /// The oldest that will do, in nanoseconds.
    pub(crate) nanos: u64,
    /// Whether every caller may see the same answer.
    pub(crate) shared: bool,
    /// Where the age stands.
    pub(crate) at: Span,
}

/// `fallback = PATH`, `= CLOSURE` or `= CALL`.
pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Fallback> {
    const EXAMPLE: &str = "fallback = path::to::function`, `fallback = stale(&user)` or `fallback = || Vec::new()";
    if input.peek(syn::token::Paren) {
        let _ = rest(input);
        errors.over(
            key,
            "`fallback(..)`, which narrows what the fallback answers for, is reserved but not there yet",
            "write `fallback = path`; it answers for every failure of the call",
        );
        return None;
    }
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
        let _ = rest(input);
        errors.over(key, "`fallback` has nothing to answer with", format!("write `{EXAMPLE}`"));
        return None;
    }
    let value = answering(input, EXAMPLE, errors)?;
    match &value {
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("last_good")) => {
            let last_good = last_good(call, errors)?;
            Some(Fallback { value, last_good: Some(last_good) })
        }
        Expr::Closure(closure) if closure.inputs.len() > 1 => {
            let second = &closure.inputs[1];
            errors.over(
                second,
                "a fallback is given one thing at most, the failure it answers for",
                "write `|| ..` or `|failure| ..`",
            );
            None
        }
        _ => Some(Fallback { value, last_good: None }),
    }
}

/// `last_good("60s")` or `last_good("60s", shared)`.
fn last_good(call: &ExprCall, errors: &mut Errors) -> Option<LastGood> {
    const REMEDY: &str = "write `fallback = last_good(\"60s\")`; a function of that name is `self::last_good`";
    let (age, shared) = match call.args.iter().collect::<Vec<_>>()[..] {
        [Expr::Lit(ExprLit { lit: Lit::Str(age), .. })] => (age, false),
        [Expr::Lit(ExprLit { lit: Lit::Str(age), .. }), Expr::Path(word)] if word.path.is_ident("shared") => {
            (age, true)
        }
        [] => {
            errors.over(call, "`last_good()` does not say how old a success may be", REMEDY);
            return None;
        }
        _ => {
            let what =
                "`last_good(..)` takes how old a success may be, as a string with its unit, and the word `shared`";
            errors.over(call, what, REMEDY);
            return None;
        }
    };
    let text = age.value();
    match value::nanos(&text, "only an answer of this very moment would do, and there is none") {
        Ok(nanos) => Some(LastGood { nanos, shared, at: age.span() }),
        Err((what, remedy)) => {
            errors.at(age.span(), format!("`last_good(\"{text}\")`: {what}"), remedy);
            None
        }
    }
}

/// What a fallback may be: something to call, or a call.
fn answering(input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<Expr> {
    match input.parse::<Expr>().map(ungrouped) {
        Ok(value @ (Expr::Path(_) | Expr::Closure(_) | Expr::Call(_) | Expr::MethodCall(_))) => return Some(value),
        Ok(value) => {
            let shown = one_line(&value.to_token_stream());
            let what =
                format!("`fallback = {shown}` is neither a path nor a closure nor a call, so nothing can be asked");
            let remedy = match value {
                Expr::Lit(_) | Expr::Macro(_) => format!("write `fallback = || {shown}`"),
                _ => format!("write `{example}`"),
            };
            errors.over(&value, what, remedy);
        }
        Err(error) => {
            let _ = rest(input);
            errors.at(error.span(), format!("`fallback`: {error}"), format!("write `{example}`"));
        }
    }
    None
}
