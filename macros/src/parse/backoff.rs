//! `backoff = "MIN..MAX"` and `backoff(CURVE, first = …, cap = …, factor = …, jitter = …)`.
//!
//! The short form is the one to reach for: exponential, doubling, full jitter. The long form names the curve first, and
//! every other key is optional.
//!
//! Invariants
//! - `MIN` is never above `MAX`, nor `first` above `cap`.
//! - A key that the curve has no use for is a mistake and not ignored.

use proc_macro2::{Ident, Span};
use syn::parse::{ParseStream, Parser};
use syn::{LitFloat, LitInt, Token};

use super::slot::Slot;
use super::value::nanos;
use super::{assigned, keys, rest, text, text_in};
use crate::diag::{self, Errors};
use crate::limits::MOST_FACTOR;

/// How long the pauses are. In nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Backoff {
    /// Doubling from the first to the longest.
    Range(u64, u64),
    Curved {
        curve: Curve,
        first: Option<u64>,
        cap: Option<u64>,
        jitter: Option<Jitter>,
    },
}

/// How they grow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Curve {
    Constant,
    Linear,
    Fibonacci,
    /// The factor, where it was written.
    Exponential(Option<f64>),
    Decorrelated,
}

/// How they are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jitter {
    Full,
    Equal,
    None,
    Within(u64),
}

const CURVES: [&str; 5] = ["exponential", "constant", "linear", "fibonacci", "decorrelated"];
const KEYS: [&str; 4] = ["first", "cap", "factor", "jitter"];
const EXAMPLE: &str = "backoff(exponential, first = \"50ms\", cap = \"2s\")";
const JITTER: &str = "jitter = full`, `jitter = equal`, `jitter = none` or `jitter = \"20ms\"";
const ZERO: &str = "without a pause the next attempt meets the same failure";

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Backoff> {
    if input.peek(syn::token::Paren) { curved(input, errors) } else { range(key, input, errors) }
}

/// `= "50ms..2s"`.
fn range(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Backoff> {
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
    match (nanos(least, ZERO), nanos(most, ZERO)) {
        (Ok(from), Ok(to)) if from > to => wrong(
            "the first pause is longer than the longest one".to_owned(),
            format!("write them the other way round: \"{most}..{least}\""),
        ),
        (Ok(from), Ok(to)) => Some(Backoff::Range(from, to)),
        (Err((what, remedy)), _) => wrong(format!("in `{least}`, {what}"), remedy),
        (_, Err((what, remedy))) => wrong(format!("in `{most}`, {what}"), remedy),
    }
}

#[derive(Default)]
struct Written {
    first: Slot<u64>,
    cap: Slot<u64>,
    factor: Slot<f64>,
    jitter: Slot<Jitter>,
}

/// `(exponential, …)`.
fn curved(input: ParseStream<'_>, errors: &mut Errors) -> Option<Backoff> {
    let group = input.parse::<proc_macro2::Group>().ok()?;
    let (mut curve, mut written) = (None, Written::default());
    let all = |input: ParseStream<'_>| {
        if input.peek(syn::Ident) && !input.peek2(Token![=]) {
            let word = input.parse::<Ident>()?;
            curve = Some(self::curve(&word, errors));
            let _ = input.parse::<Option<Token![,]>>();
        }
        keys(input, errors, |key, input, errors| written.key(key, input, errors));
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    let Some(curve) = curve else {
        let what = format!("`backoff(..)` begins with one of {}, and there is none", diag::list(&CURVES));
        errors.at(group.span_open(), what, format!("write `{EXAMPLE}`"));
        return None;
    };
    written.fits(curve?, errors)
}

fn curve(word: &Ident, errors: &mut Errors) -> Option<Curve> {
    let curves = [Curve::Exponential(None), Curve::Constant, Curve::Linear, Curve::Fibonacci, Curve::Decorrelated];
    let text = word.to_string();
    let known = CURVES.iter().zip(curves).find(|(known, _)| **known == text).map(|(_, curve)| curve);
    if known.is_none() {
        let remedy = match diag::did_you_mean(&text, &CURVES) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("write one of {}", diag::list(&CURVES)),
        };
        errors.at(word.span(), format!("`{text}` is no way for pauses to grow"), remedy);
    }
    known
}

impl Written {
    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "first" => self.first.set(key, length(key, input, "first = \"50ms\"", errors), errors),
            "cap" => self.cap.set(key, length(key, input, "cap = \"2s\"", errors), errors),
            "factor" => self.factor.set(key, factor(key, input, errors), errors),
            "jitter" => self.jitter.set(key, jitter(key, input, errors), errors),
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `backoff(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }

    /// Whether the curve has a use for every key, and the keys for each other.
    fn fits(self, curve: Curve, errors: &mut Errors) -> Option<Backoff> {
        let mut useless = |span: Option<Span>, what: &str, remedy: &str| {
            if let Some(span) = span {
                errors.at(span, what, remedy);
            }
            span.is_some()
        };
        let is_exponential = matches!(curve, Curve::Exponential(_));
        let wrong = [
            useless(
                self.factor.span().filter(|_| !is_exponential),
                "only exponential pauses are multiplied",
                "remove `factor`, or write `backoff(exponential, ..)`",
            ),
            useless(
                self.cap.span().filter(|_| curve == Curve::Constant),
                "constant pauses do not grow, so there is nothing to cap",
                "remove `cap`, or let them grow: `backoff(exponential, ..)`",
            ),
            useless(
                self.jitter.span().filter(|_| curve == Curve::Decorrelated),
                "decorrelated pauses are drawn already",
                "remove `jitter`, or write `backoff(exponential, ..)`",
            ),
        ];
        if let (Some(first), Some(cap), Some(span)) = (self.first.get(), self.cap.get(), self.cap.span())
            && first > cap
        {
            errors.at(
                span,
                "the longest pause is shorter than the first one",
                "write a longer `cap`, or a shorter `first`",
            );
            return None;
        }
        let curve = if is_exponential { Curve::Exponential(self.factor.take()) } else { curve };
        let (first, cap, jitter) = (self.first.take(), self.cap.take(), self.jitter.take());
        (!wrong.contains(&true)).then_some(Backoff::Curved { curve, first, cap, jitter })
    }
}

fn length(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<u64> {
    let lit = text(key, input, example, errors)?;
    in_text(key, &lit, errors)
}

fn in_text(key: &Ident, lit: &syn::LitStr, errors: &mut Errors) -> Option<u64> {
    let text = lit.value();
    let zero = if key == "jitter" { "that moves nothing" } else { ZERO };
    nanos(&text, zero)
        .map_err(|(what, remedy)| errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy))
        .ok()
}

/// `factor = 2.0`.
fn factor(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<f64> {
    let given = assigned(key, input, "factor = 2.0", errors)?;
    let float = syn::parse2::<LitFloat>(given.clone()).ok().and_then(|lit| lit.base10_parse::<f64>().ok());
    let whole = || syn::parse2::<LitInt>(given.clone()).ok().and_then(|lit| lit.base10_parse::<u32>().ok());
    let factor = float.or_else(|| whole().map(f64::from)).filter(|factor| (1.0..=MOST_FACTOR).contains(factor));
    if factor.is_none() {
        errors.over(
            &given,
            format!("`{key} = {given}`: it has to be a number from 1.0 to 100.0"),
            "write `factor = 2.0`",
        );
    }
    factor
}

/// `jitter = full`.
fn jitter(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Jitter> {
    let given = assigned(key, input, JITTER, errors)?;
    if let Ok(word) = syn::parse2::<Ident>(given.clone()) {
        return match word.to_string().as_str() {
            "full" => Some(Jitter::Full),
            "equal" => Some(Jitter::Equal),
            "none" => Some(Jitter::None),
            other => {
                errors.at(word.span(), format!("`{other}` is no jitter"), format!("write `{JITTER}`"));
                None
            }
        };
    }
    let lit = text_in(key, given, JITTER, errors)?;
    in_text(key, &lit, errors).map(Jitter::Within)
}
