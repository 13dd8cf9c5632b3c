//! `fallback = PATH`, `= CLOSURE`, `= CALL` or `= last_good("DURATION"[, shared])`, and `fallback(…, on = …, limit = N)`.
//!
//! What is written is the user's own expression, and goes on as it is: whether it fits the function is a question of
//! types, which the compiler answers at that very place. One call is ours and not the user's: `last_good`, with the
//! greatest age as its argument. A function of that name is reached by a path, `self::last_good(..)`.
//!
//! One value is kept for the function. Where answers differ by argument, that would give one caller another's, so a
//! function that takes any says `shared`, which `validate` checks.
//!
//! The long form begins with what answers. `on` narrows what it answers for, in the words that retry and breaker use, and
//! `limit` for how many calls at once.
//!
//! Invariants
//! - An age leaves this file checked, like any duration.
//! - A list of words does not say one thing twice.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, ExprCall, ExprLit, Lit, Token};

use super::on::{Grammar, Kind, On};
use super::slot::Slot;
use super::{keys, number, one_line, rest, ungrouped, value};
use crate::diag::{self, Errors};
use crate::limits::MOST_SLOTS;

/// What answers when nothing else can.
#[derive(Clone)]
pub(crate) struct Fallback {
    /// A path, a closure or a call.
    pub(crate) value: Expr,
    /// The call is `last_good`, then.
    pub(crate) last_good: Option<LastGood>,
    pub(crate) terms: Terms,
}

/// What the long form says beside it.
#[derive(Clone, Default)]
pub(crate) struct Terms {
    /// What it answers for.
    pub(crate) on: Slot<On>,
    /// For how many calls at once.
    pub(crate) limit: Slot<u32>,
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

const EXAMPLE: &str = "fallback = path::to::function`, `fallback = stale(&user)` or `fallback = || Vec::new()";
const ON: Grammar = Grammar {
    words: &["error", "timeout", "refused", "full", "wait", "rate", "open"],
    kinds: &[Kind::Error, Kind::Timeout, Kind::Refused, Kind::Full, Kind::Wait, Kind::Rate, Kind::Open],
    example: "on = refused`, `on = [timeout, error]` or `on = AppError::is_outage",
    list_example: "on = [refused, timeout]",
    nothing: "`on` says what the fallback answers for, and nothing does",
    empty: ("an empty list answers for nothing", "leave `fallback` out, or name what it answers for: `[refused]`"),
    alone: true,
};
const KEYS: [&str; 2] = ["on", "limit"];

/// `fallback = PATH`, `= CLOSURE` or `= CALL`, or the long form.
pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Fallback> {
    if input.peek(syn::token::Paren) {
        return long(key, input, errors);
    }
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
        let _ = rest(input);
        errors.over(key, "`fallback` has nothing to answer with", format!("write `{EXAMPLE}`"));
        return None;
    }
    let (value, last_good) = answer(input, errors)?;
    Some(Fallback { value, last_good, terms: Terms::default() })
}

/// `fallback(…, on = …, limit = N)`.
fn long(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Fallback> {
    const BEGIN: &str = "write `fallback(path::to::function, on = refused)`";
    let group = input.parse::<proc_macro2::Group>().ok()?;
    let (mut begins, mut found) = (false, None);
    let mut terms = Terms::default();
    let all = |input: ParseStream<'_>| {
        let is_key = input.peek(syn::Ident) && input.peek2(Token![=]);
        begins = !(input.is_empty() || input.peek(Token![,]) || is_key);
        if begins {
            found = answer(input, errors);
            let junk = rest(input);
            if !junk.is_empty() {
                let shown = one_line(&junk);
                errors.over(&junk, format!("`{shown}` follows what answers"), "put a comma before what narrows it");
            }
            let _ = input.parse::<Option<Token![,]>>();
        }
        keys(input, errors, |key, input, errors| terms.key(key, input, errors));
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    if !begins {
        errors.over(key, "`fallback(..)` begins with what answers, and nothing does", BEGIN);
    }
    let (value, last_good) = found?;
    if let (Some(_), Some(limit)) = (last_good, terms.limit.span()) {
        let what = "`last_good` copies what it has and runs nothing, so there is nothing to limit";
        errors.at(limit, what, "leave `limit` out");
    }
    Some(Fallback { value, last_good, terms })
}

impl Terms {
    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "on" => {
                let on = ON.read(key, input, errors);
                if let Some(on) = &on {
                    said_twice(on, errors);
                }
                self.on.set(key, on, errors);
            }
            "limit" => {
                let instead = "write for how many calls at once it answers: limit = 8";
                let lit = number(key, input, "limit = 8", errors);
                let limit = lit.and_then(|lit| value::count(key, &lit, &(1..=MOST_SLOTS), instead, errors));
                self.limit.set(key, limit, errors);
            }
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `fallback(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }
}

/// `refused` is every refusal, so none of them has to be named beside it.
fn said_twice(on: &On, errors: &mut Errors) {
    if on.named(Kind::Refused).is_none() {
        return;
    }
    for (kind, word) in [(Kind::Full, "full"), (Kind::Wait, "wait"), (Kind::Rate, "rate"), (Kind::Open, "open")] {
        if let Some(span) = on.named(kind) {
            let what = format!("`{word}` is a refusal, and `refused` names them all");
            errors.at(span, what, format!("take out `{word}`, or `refused`"));
        }
    }
}

/// What answers, and whether it is ours.
fn answer(input: ParseStream<'_>, errors: &mut Errors) -> Option<(Expr, Option<LastGood>)> {
    let value = answering(input, EXAMPLE, errors)?;
    match &value {
        Expr::Call(call) if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("last_good")) => {
            let last_good = last_good(call, errors)?;
            Some((value, Some(last_good)))
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
        _ => Some((value, None)),
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
