//! The attribute's grammar: one line per key.
//!
//! ```text
//! attribute := key { "," key } [","]
//! key       := timeout = DURATION | deadline = DURATION
//!            | bulkhead = "NAME[:SLOTS[/queue:N][/wait:DURATION]]"
//!            | isolate = "NAME[:THREADS[/queue:N][/wait:DURATION]]"
//!            | breaker | breaker = "NAME" | breaker( … )
//!            | rate = "[NAME:]COUNT/UNIT[/burst:N][/wait:DURATION]" | rate = "NAME"
//!            | retry = N | retry(N, … )
//!            | hedge = "DURATION" | hedge = "pN" | hedge( … )
//!            | fallback = ANSWER | fallback(ANSWER, on = …, limit = N)
//!            | mode = observe | mode = enforce | mode(KEY = observe, … )
//!            | observe = "SHARE%[/runs:N][/cap:DURATION]"
//!            | key = EXPRESSION
//!            | guards = "POOL" | idempotent | name = "NAME" | crate = PATH
//! ANSWER    := PATH | CLOSURE | CALL | last_good("DURATION"[, shared])
//! ```
//!
//! On a method of an annotated `impl` block there is also `skip`, alone, and `KEY = off`, which takes a default of the
//! block away.
//!
//! Keys may stand in any order, since the order of the strategies is fixed: a reader of the attribute must not have to
//! know whether `retry, bulkhead` differs from `bulkhead, retry`. It does not.
//!
//! An unknown key is a mistake and not a warning. A misspelt `timeout` that is quietly ignored is a function without a
//! timeout, found out on the day it matters.
//!
//! Invariants
//! - [`KEYS`] is the list that users see in messages; a key that is read is in it, but for `skip`, which is no setting.
//! - Reading never fails as a whole: what was readable is in [`Args`], the rest is in the error list.

use proc_macro2::{Ident, Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Path, Token};

use super::breaker::{self, Breaker};
use super::bulkhead::{self, Bulkhead};
use super::fallback::{self, Fallback};
use super::hedge::{self, Hedge};
use super::isolate::{self, Threads};
use super::mode::{self, Mode};
use super::rate::{self, Rate};
use super::retry::{self, Retry};
use super::slot::Slot;
use super::tail::{self, Tail};
use super::{assigned, keys, rest, text, ungrouped, value};
use crate::diag::{self, Errors};

/// Every key, in the order of the pipeline from the outside in, then the ones that are no strategy.
pub(crate) const KEYS: [&str; 16] = [
    "fallback",
    "deadline",
    "retry",
    "hedge",
    "breaker",
    "rate",
    "bulkhead",
    "isolate",
    "timeout",
    "observe",
    "key",
    "mode",
    "guards",
    "idempotent",
    "name",
    "crate",
];

/// What was written between the attribute's brackets.
#[derive(Clone, Default)]
pub(crate) struct Args {
    /// Nanoseconds one attempt may take.
    pub(crate) timeout: Slot<u64>,
    /// Nanoseconds the whole call may take.
    pub(crate) deadline: Slot<u64>,
    pub(crate) bulkhead: Slot<Bulkhead>,
    pub(crate) isolate: Slot<Threads>,
    pub(crate) breaker: Slot<Breaker>,
    pub(crate) rate: Slot<Rate>,
    pub(crate) retry: Slot<Retry>,
    pub(crate) hedge: Slot<Hedge>,
    pub(crate) fallback: Slot<Fallback>,
    /// What selects a compartment, an expression over the arguments.
    pub(crate) key: Slot<Expr>,
    /// Which strategies only observe.
    pub(crate) mode: Slot<Mode>,
    /// The pool that the bulkhead stands in front of.
    pub(crate) guards: Slot<String>,
    /// Attempts that run on at their limit: the key `observe`.
    pub(crate) tail: Slot<Tail>,
    pub(crate) idempotent: Slot<()>,
    /// The site's name instead of the function's.
    pub(crate) name: Slot<String>,
    /// Where the runtime is found instead of `::watertight`.
    pub(crate) runtime: Slot<Path>,
    /// Leaves a method out of its block's attribute.
    pub(crate) skip: Slot<()>,
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

    /// Whether a strategy is named, rightly or wrongly.
    pub(crate) fn protect(&self) -> bool {
        self.timeout.written()
            || self.deadline.written()
            || self.bulkhead.written()
            || self.isolate.written()
            || self.breaker.written()
            || self.rate.written()
            || self.retry.written()
            || self.hedge.written()
            || self.fallback.written()
    }

    /// The places of all `KEY = off`.
    pub(crate) fn off(&self) -> impl Iterator<Item = Span> {
        let strategies = [self.fallback.off(), self.deadline.off(), self.retry.off(), self.breaker.off()];
        let others = [self.rate.off(), self.bulkhead.off(), self.isolate.off(), self.timeout.off()];
        let rest = [self.hedge.off(), self.key.off(), self.mode.off(), self.guards.off(), self.idempotent.off()];
        strategies.into_iter().chain(others).chain(rest).chain([self.tail.off()]).flatten()
    }

    /// What holds for a method that says this, in a block that says `defaults`. Of the name the block has only the
    /// first part, which is not a matter of one key.
    pub(crate) fn over(self, defaults: &Self) -> Self {
        Self {
            timeout: self.timeout.over(&defaults.timeout),
            deadline: self.deadline.over(&defaults.deadline),
            bulkhead: self.bulkhead.over(&defaults.bulkhead),
            isolate: self.isolate.over(&defaults.isolate),
            breaker: self.breaker.over(&defaults.breaker),
            rate: self.rate.over(&defaults.rate),
            retry: self.retry.over(&defaults.retry),
            hedge: self.hedge.over(&defaults.hedge),
            fallback: self.fallback.over(&defaults.fallback),
            key: self.key.over(&defaults.key),
            mode: self.mode.over(&defaults.mode),
            guards: self.guards.over(&defaults.guards),
            tail: self.tail.over(&defaults.tail),
            idempotent: self.idempotent.over(&defaults.idempotent),
            name: self.name,
            runtime: self.runtime.over(&defaults.runtime),
            skip: self.skip,
        }
    }

    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        let word = key.to_string();
        if taken_away(input) && self.turned_off(&word, key, errors) {
            let _ = rest(input);
            return;
        }
        match word.as_str() {
            "timeout" => self.timeout.set(key, length(key, input, "timeout = \"300ms\"", errors), errors),
            "deadline" => self.deadline.set(key, length(key, input, "deadline = \"2s\"", errors), errors),
            "bulkhead" => self.bulkhead.set(key, bulkhead::read(key, input, errors), errors),
            "isolate" => self.isolate.set(key, isolate::read(key, input, errors), errors),
            "breaker" => self.breaker.set(key, breaker::read(key, input, errors), errors),
            "rate" => self.rate.set(key, rate::read(key, input, errors), errors),
            "hedge" => self.hedge.set(key, hedge::read(key, input, errors), errors),
            "retry" => self.retry.set(key, retry::read(key, input, errors), errors),
            "fallback" => self.fallback.set(key, fallback::read(key, input, errors), errors),
            "key" => self.key.set(key, expression(key, input, errors), errors),
            "mode" => self.mode.set(key, mode::read(key, input, errors), errors),
            "guards" => self.guards.set(key, pool(key, input, errors), errors),
            "observe" => self.tail.set(key, tail::read(key, input, errors), errors),
            "idempotent" => self.idempotent.set(key, flag(key, input, errors), errors),
            "name" => self.name.set(key, site_name(key, input, errors), errors),
            "crate" => self.runtime.set(key, runtime(key, input, errors), errors),
            "skip" => self.skip.set(key, flag(key, input, errors), errors),
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of this attribute");
                let remedy = match diag::slip(unknown, &["skip"]) {
                    Some(_) => "did you mean `skip`? It leaves a method out of its block's attribute".to_owned(),
                    None => diag::known_keys(unknown, &KEYS),
                };
                errors.at(key.span(), what, remedy);
            }
        }
    }

    /// `KEY = off`, if `word` can be.
    fn turned_off(&mut self, word: &str, key: &Ident, errors: &mut Errors) -> bool {
        match word {
            "timeout" => self.timeout.set_off(key, errors),
            "deadline" => self.deadline.set_off(key, errors),
            "bulkhead" => self.bulkhead.set_off(key, errors),
            "isolate" => self.isolate.set_off(key, errors),
            "breaker" => self.breaker.set_off(key, errors),
            "rate" => self.rate.set_off(key, errors),
            "retry" => self.retry.set_off(key, errors),
            "hedge" => self.hedge.set_off(key, errors),
            "fallback" => self.fallback.set_off(key, errors),
            "key" => self.key.set_off(key, errors),
            "mode" => self.mode.set_off(key, errors),
            "guards" => self.guards.set_off(key, errors),
            "observe" => self.tail.set_off(key, errors),
            "idempotent" => self.idempotent.set_off(key, errors),
            _ => return false,
        }
        true
    }
}

/// Whether `= off` is all there is.
fn taken_away(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    let off = ahead.parse::<Token![=]>().and_then(|_| ahead.parse::<Ident>()).is_ok_and(|word| word == "off");
    off && (ahead.is_empty() || ahead.peek(Token![,]))
}

/// `= "300ms"`.
fn length(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<u64> {
    let lit = text(key, input, example, errors)?;
    value::duration(key, &lit, errors)
}

/// `key = EXPRESSION`.
fn expression(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Expr> {
    const EXAMPLE: &str = "key = tenant_id` or `key = (user.tenant, region)";
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
        let _ = rest(input);
        errors.over(key, "`key` has nothing to tell callers apart by", format!("write `{EXAMPLE}`"));
        return None;
    }
    match input.parse::<Expr>().map(ungrouped) {
        Ok(Expr::Lit(value)) => {
            let what = "a literal is the same for every call, so there would be one compartment";
            errors.over(&value, what, format!("write `{EXAMPLE}`, without quotes"));
            None
        }
        Ok(value) => Some(value),
        Err(error) => {
            let _ = rest(input);
            errors.at(error.span(), format!("`key`: {error}"), format!("write `{EXAMPLE}`"));
            None
        }
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

/// `guards = "POOL"`.
fn pool(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<String> {
    let lit = text(key, input, "guards = \"pg\"", errors)?;
    let name = lit.value();
    if let Some((pool, size)) = name.split_once(':') {
        errors.at(
            lit.span(),
            format!("`{key} = \"{name}\"`: the pool's size is not said here, since all functions share it"),
            format!("write \"{pool}\", and `watertight::declare_pool(\"{pool}\", {size})` where the pool is made"),
        );
        return None;
    }
    value::name(key, &lit, &name, errors)
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
