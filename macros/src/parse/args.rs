//! The attribute's grammar: one line per key.
//!
//! ```text
//! attribute := key { "," key } [","]
//! key       := timeout = DURATION | deadline = DURATION
//!            | bulkhead = "NAME[:SLOTS[/queue:N][/wait:DURATION]]"
//!            | breaker | breaker = "NAME" | breaker( … )
//!            | retry = N | retry(N, … )
//!            | fallback = PATH_OR_CLOSURE
//!            | idempotent | name = "NAME" | crate = PATH
//! ```
//!
//! Keys may stand in any order, since the order of the strategies is fixed: a reader of the attribute must not have to
//! know whether `retry, bulkhead` differs from `bulkhead, retry`. It does not.
//!
//! An unknown key is a mistake and not a warning. A misspelt `timeout` that is quietly ignored is a function without a
//! timeout, found out on the day it matters.
//!
//! Invariants
//! - [`KEYS`] is the list that users see in messages; a key that is read is in it.
//! - Reading never fails as a whole: what was readable is in [`Args`], the rest is in the error list.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Path, Token};

use super::breaker::{self, Breaker};
use super::bulkhead::{self, Bulkhead};
use super::retry::{self, Retry};
use super::slot::Slot;
use super::{assigned, callable_here, keys, rest, text, value};
use crate::diag::{self, Errors};

/// Every key, in the order of the pipeline from the outside in, then the ones that are no strategy.
pub(crate) const KEYS: [&str; 9] =
    ["fallback", "deadline", "retry", "breaker", "bulkhead", "timeout", "idempotent", "name", "crate"];

/// What was written between the attribute's brackets.
#[derive(Default)]
pub(crate) struct Args {
    /// Nanoseconds one attempt may take.
    pub(crate) timeout: Slot<u64>,
    /// Nanoseconds the whole call may take.
    pub(crate) deadline: Slot<u64>,
    pub(crate) bulkhead: Slot<Bulkhead>,
    pub(crate) breaker: Slot<Breaker>,
    pub(crate) retry: Slot<Retry>,
    /// A path or a closure.
    pub(crate) fallback: Slot<Expr>,
    pub(crate) idempotent: Slot<()>,
    /// The site's name instead of the function's.
    pub(crate) name: Slot<String>,
    /// Where the runtime is found instead of `::watertight`.
    pub(crate) runtime: Slot<Path>,
}

impl Args {
    /// Reads the whole attribute, recording in `errors` whatever cannot be used.
    pub(crate) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut args = Self::default();
        let all = |input: ParseStream<'_>| {
            keys(input, errors, |key, input, errors| args.key(key, input, errors));
            Ok(())
        };
        if let Err(error) = all.parse2(tokens) {
            errors.push(error);
        }
        args
    }

    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "timeout" => self.timeout.set(key, length(key, input, "timeout = \"300ms\"", errors), errors),
            "deadline" => self.deadline.set(key, length(key, input, "deadline = \"2s\"", errors), errors),
            "bulkhead" => self.bulkhead.set(key, bulkhead::read(key, input, errors), errors),
            "breaker" => self.breaker.set(key, breaker::read(key, input, errors), errors),
            "retry" => self.retry.set(key, retry::read(key, input, errors), errors),
            "fallback" => self.fallback.set(key, fallback(key, input, errors), errors),
            "idempotent" => self.idempotent.set(key, flag(key, input, errors), errors),
            "name" => self.name.set(key, site_name(key, input, errors), errors),
            "crate" => self.runtime.set(key, runtime(key, input, errors), errors),
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of this attribute");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }
}

/// `= "300ms"`.
fn length(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<u64> {
    let lit = text(key, input, example, errors)?;
    value::duration(key, &lit, errors)
}

/// `fallback = PATH_OR_CLOSURE`.
fn fallback(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Expr> {
    const EXAMPLE: &str = "fallback = path::to::function` or `fallback = || Vec::new()";
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
    if let Ok(Expr::Call(call)) = input.fork().parse::<Expr>() {
        if matches!(&*call.func, Expr::Path(path) if path.path.is_ident("last_good")) {
            let _ = rest(input);
            errors.over(
                &call,
                "`last_good(..)` is reserved but not there yet",
                "write `fallback = path` with a function that finds an answer",
            );
            return None;
        }
    }
    let value = callable_here(key, input, EXAMPLE, errors)?;
    match &value {
        Expr::Closure(closure) if closure.inputs.len() > 1 => {
            let second = &closure.inputs[1];
            errors.over(
                second,
                "a fallback is given one thing at most, the failure it answers for",
                "write `|| ..` or `|failure| ..`",
            );
            None
        }
        _ => Some(value),
    }
}

/// A key that stands alone.
fn flag(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<()> {
    let found = rest(input);
    if found.is_empty() {
        return Some(());
    }
    errors.over(&found, format!("`{key}` takes no value: it is there or it is not"), format!("write `{key}`"));
    None
}

/// `name = "NAME"`.
fn site_name(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<String> {
    let lit = text(key, input, "name = \"recs.fetch\"", errors)?;
    value::name(key, &lit, &lit.value(), errors)
}

/// `crate = PATH`.
fn runtime(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Path> {
    const EXAMPLE: &str = "crate = ::renamed";
    let found = assigned(key, input, EXAMPLE, errors)?;
    let path = Path::parse_mod_style.parse2(found.clone()).ok();
    if path.is_none() {
        errors.over(
            &found,
            "`crate` takes the path under which the `watertight` crate is found here, without quotes",
            format!("write `{EXAMPLE}` or `crate = crate::facade::watertight`"),
        );
    }
    path
}
