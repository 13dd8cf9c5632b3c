//! `retry = N` and `retry(N, backoff = "MIN..MAX", on = …, budget = …)`.
//!
//! `N` counts the *further* attempts, so `retry = 2` runs the body three times at most. Zero is refused: it reads like
//! a decision and is the absence of one.
//!
//! `on` says what is tried again. Alone, a predicate narrows the default, the body's own errors. A list names
//! everything: whatever is not in it is not retried. `error` is the body's own `Err`; the other words are the
//! refusals, which are left alone unless named, since a refused call comes back into the very queue that was full.
//!
//! Invariants
//! - `MIN` is never above `MAX`.
//! - A list has at most one predicate and no word twice.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitInt, LitStr, Token};

use super::slot::Slot;
use super::value::{nanos, per_second, share};
use super::{assigned, callable_here, keys, number_in, rest, text, text_in, value};
use crate::diag::{self, Errors};

/// Which failed attempts are followed by another.
#[derive(Clone)]
pub(crate) struct Retry {
    pub(crate) times: u32,
    pub(crate) details: Details,
}

/// The keys of the long form.
#[derive(Clone, Default)]
pub(crate) struct Details {
    /// Nanoseconds, least and most.
    pub(crate) backoff: Slot<(u64, u64)>,
    pub(crate) on: Slot<On>,
    pub(crate) budget: Slot<Budget>,
}

/// The shared allowance.
#[derive(Clone)]
pub(crate) enum Budget {
    /// So many retries per call, and so many a second on top.
    Share(f64, f64),
    Off,
}

/// What is tried again.
#[derive(Clone, Default)]
pub(crate) struct On {
    pub(crate) predicate: Option<Expr>,
    /// `None` for a lone predicate: the defaults stay.
    pub(crate) kinds: Option<Vec<(Kind, Span)>>,
}

/// A word of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Error,
    Timeout,
    Full,
    Wait,
    Rate,
}

const WORDS: [&str; 5] = ["error", "timeout", "full", "wait", "rate"];
const KEYS: [&str; 3] = ["backoff", "on", "budget"];
const ON: &str = "on = AppError::is_transient`, `on = |error| error.is_transient()` or `on = [error, timeout]";

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Retry> {
    if !input.peek(syn::token::Paren) {
        let value = assigned(key, input, "retry = 2", errors)?;
        let times = times(key, &number_in(key, value, "retry = 2", errors)?, errors)?;
        return Some(Retry { times, details: Details::default() });
    }
    let group = input.parse::<proc_macro2::Group>().ok()?;
    let mut many = None;
    let mut details = Details::default();
    let all = |input: ParseStream<'_>| {
        if input.peek(LitInt) || input.peek(LitStr) || input.peek(Token![-]) {
            many = Some(number_in(key, rest(input), "retry(2, ..)", errors));
            let _ = input.parse::<Option<Token![,]>>();
        }
        keys(input, errors, |key, input, errors| details.key(key, input, errors));
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    let Some(many) = many else {
        let what = "`retry(..)` begins with the number of further attempts, and there is none";
        errors.at(group.span_open(), what, "write `retry(2, backoff = \"50ms..2s\")`");
        return None;
    };
    Some(Retry { times: times(key, &many?, errors)?, details })
}

/// Further attempts.
fn times(key: &Ident, lit: &LitInt, errors: &mut Errors) -> Option<u32> {
    if lit.base10_parse::<u64>().is_ok_and(|times| times == 0) {
        errors.at(
            lit.span(),
            "`retry = 0` tries nothing again",
            "leave the key out, or write 1 or more; `retry = off` takes away what the `impl` block says",
        );
        return None;
    }
    let instead = "write how many further attempts there may be: retry = 2";
    value::count(key, lit, &(1..=100), instead, errors)
}

impl Details {
    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "backoff" => self.backoff.set(key, backoff(key, input, errors), errors),
            "budget" => self.budget.set(key, budget(key, input, errors), errors),
            "on" => self.on.set(key, on(key, input, errors), errors),
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `retry(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }
}

/// `backoff = "50ms..2s"`.
fn backoff(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<(u64, u64)> {
    let lit = text(key, input, "backoff = \"50ms..2s\"", errors)?;
    let text = lit.value();
    let mut wrong = |what: String, remedy: String| {
        errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy);
        None
    };
    let Some((least, most)) = text.split_once("..") else {
        let what = "there is one duration, and a fixed pause brings all callers back at the same time".to_owned();
        return wrong(what, "write the first pause and the longest one: \"50ms..2s\"".to_owned());
    };
    let zero = "without a pause the next attempt meets the same failure";
    match (nanos(least, zero), nanos(most, zero)) {
        (Ok(from), Ok(to)) if from > to => wrong(
            "the first pause is longer than the longest one".to_owned(),
            format!("write them the other way round: \"{most}..{least}\""),
        ),
        (Ok(from), Ok(to)) => Some((from, to)),
        (Err((what, remedy)), _) => wrong(format!("in `{least}`, {what}"), remedy),
        (_, Err((what, remedy))) => wrong(format!("in `{most}`, {what}"), remedy),
    }
}

/// `budget = "10%+5/s"` or `budget = off`.
fn budget(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Budget> {
    const EXAMPLE: &str = "budget = \"10%\"`, `budget = \"10%+5/s\"` or `budget = off";
    let given = assigned(key, input, EXAMPLE, errors)?;
    if syn::parse2::<Ident>(given.clone()).is_ok_and(|word| word == "off") {
        return Some(Budget::Off);
    }
    let lit = text_in(key, given, EXAMPLE, errors)?;
    let text = lit.value();
    let (part, granted) = text.split_once('+').unwrap_or((&text, "1/s"));
    let (what, remedy) = match (share(part), per_second(granted)) {
        (Some(part), _) if part > 1.0 => ("more than one retry per call is no budget", "write `budget = off`"),
        (Some(_), Some(granted)) if granted > 1e6 => ("a million a second is no budget", "write `budget = off`"),
        (Some(0.0), Some(0.0)) => ("nothing would ever be retried", "leave `retry` out, or allow some"),
        (Some(part), Some(granted)) => return Some(Budget::Share(part, granted)),
        (None, _) => ("the retries per call have to be a percentage", "write \"10%\" or \"10%+5/s\""),
        (_, None) => ("the retries granted on top have to be a rate per second", "write \"10%+5/s\""),
    };
    errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy);
    None
}

/// `on = predicate` or `on = [ … ]`.
fn on(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<On> {
    if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
        let _ = rest(input);
        errors.over(key, "`on` says what is tried again, and nothing does", format!("write `{ON}`"));
        return None;
    }
    if !input.peek(syn::token::Bracket) {
        let predicate = callable_here(key, input, ON, errors)?;
        if let Some(word) = kind_like(&predicate) {
            let what = format!("`{word}` alone would be taken for a predicate");
            errors.over(&predicate, what, format!("write `on = [{word}]`"));
            return None;
        }
        return Some(On { predicate: Some(predicate), kinds: None });
    }
    let group = input.parse::<proc_macro2::Group>().ok()?;
    if group.stream().is_empty() {
        errors.over(&group, "an empty list retries nothing", "leave `retry` out, or name what is retried: `[error]`");
        return None;
    }
    let mut found = On { predicate: None, kinds: Some(Vec::new()) };
    let all = |input: ParseStream<'_>| {
        while !input.is_empty() {
            entry(key, input, &mut found, errors);
            let _ = rest(input);
            let _ = input.parse::<Option<Token![,]>>();
        }
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    Some(found)
}

/// One entry of the list: a word, or the predicate.
fn entry(key: &Ident, input: ParseStream<'_>, found: &mut On, errors: &mut Errors) {
    let Some(expr) = callable_here(key, input, "on = [error, timeout]", errors) else { return };
    let span = expr.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let word = kind_like(&expr);
    let kinds = found.kinds.get_or_insert_with(Vec::new);
    if let Some(kind) = word.and_then(kind) {
        if kinds.iter().any(|(known, _)| *known == kind) {
            errors.over(&expr, "this word is in the list twice", "remove one of the two");
        }
        kinds.push((kind, span));
    } else if let Some(meant) = bare(&expr).and_then(|word| diag::slip(&word, &WORDS)) {
        let word = bare(&expr).unwrap_or_default();
        let what = format!("`{word}` is none of the words {}", diag::list(&WORDS));
        errors.over(&expr, what, format!("did you mean `{meant}`? A predicate of that name is `self::{word}`"));
    } else if found.predicate.is_some() {
        let what = "there is a predicate in this list already, and two would have to be combined by guessing";
        errors.over(&expr, what, "write one closure that calls both");
    } else {
        found.predicate = Some(expr);
    }
}

/// The single identifier that `expr` is.
fn bare(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

/// The word of the list that `expr` is.
fn kind_like(expr: &Expr) -> Option<&'static str> {
    let word = bare(expr)?;
    WORDS.iter().find(|known| **known == word).copied()
}

fn kind(word: &str) -> Option<Kind> {
    let kinds = [Kind::Error, Kind::Timeout, Kind::Full, Kind::Wait, Kind::Rate];
    WORDS.iter().zip(kinds).find(|(known, _)| **known == word).map(|(_, kind)| kind)
}
