//! `hedge = "50ms"`, `hedge = "p95"` and `hedge(after = "p95", floor = "5ms")`.
//!
//! What is said is *when* a second attempt is started beside one that is still running: after a length of time, or after
//! what so many per cent of this function's own attempts take at most. How many there may be is not said: a third attempt
//! beside two slow ones helps against nothing that the second did not, so there is one, and the retry budget bounds them all.
//!
//! A percentile is written as it is spoken, `p95`. Below `p50` more calls than not would be made twice, which is another
//! thing than a hedge; `p100` is reached by no attempt at all.
//!
//! Invariants
//! - A length is at least a millisecond, the finest a timer can wait.
//! - `floor` stands beside a percentile alone.

use proc_macro2::Ident;
use syn::LitStr;
use syn::parse::{ParseStream, Parser};

use super::slot::Slot;
use super::{keys, rest, text, value};
use crate::diag::{self, Errors};
use crate::units::tenths;

/// When a second attempt is started beside the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hedge {
    pub(crate) after: After,
    /// Nanoseconds.
    pub(crate) floor: Option<u64>,
}

/// How long the first attempt runs alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// Nanoseconds.
    Fixed(u64),
    /// Tenths of a per cent.
    Percentile(u32),
}

const KEYS: [&str; 2] = ["after", "floor"];
const SHORT: &str = "hedge = \"p95\"` or `hedge = \"50ms\"";

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Hedge> {
    if !input.peek(syn::token::Paren) {
        let lit = text(key, input, SHORT, errors)?;
        return after(key, &lit, errors).map(|after| Hedge { after, floor: None });
    }
    let group = input.parse::<proc_macro2::Group>().ok()?;
    let (mut after, mut floor) = (Slot::default(), Slot::default());
    let all = |input: ParseStream<'_>| {
        keys(input, errors, |key, input, errors| match key.to_string().as_str() {
            "after" => {
                let lit = text(key, input, "after = \"p95\"", errors);
                after.set(key, lit.and_then(|lit| self::after(key, &lit, errors)), errors);
            }
            "floor" => {
                let lit = text(key, input, "floor = \"5ms\"", errors);
                floor.set(key, lit.and_then(|lit| length(key, &lit, errors)), errors);
            }
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `hedge(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        });
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    if !after.written() {
        errors.at(
            group.span_open(),
            "this does not say how long the first attempt runs alone",
            "write `hedge(after = \"p95\")`, or after what time: `hedge = \"50ms\"`",
        );
    }
    if let (Some(span), Some(After::Fixed(_))) = (floor.span(), after.get()) {
        errors.at(
            span,
            "a floor is for a percentile, which moves; this delay is fixed",
            "remove `floor`, or write `after = \"p95\"`",
        );
    }
    Some(Hedge { after: after.take()?, floor: floor.take() })
}

/// `"p95"` or `"50ms"`.
fn after(key: &Ident, lit: &LitStr, errors: &mut Errors) -> Option<After> {
    let text = lit.value();
    let mut wrong = |what: &str, remedy: String| {
        errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy);
        None
    };
    let bare = text.trim_end_matches('%').trim_end_matches("th").trim_start_matches(['p', 'P']);
    let meant = tenths(bare).filter(|tenths| (500..1_000).contains(tenths)).map(|_| bare.to_owned());
    if let Some(number) = text.strip_prefix('p') {
        return match tenths(number) {
            Some(500..1_000) => tenths(number).map(After::Percentile),
            Some(..500) => wrong(
                "more than half of all calls would be made twice",
                "write a percentile from p50 to p99.9, for instance \"p95\"".to_owned(),
            ),
            Some(_) => wrong(
                "no attempt is slower than all of them, so none would be hedged",
                "write a percentile from p50 to p99.9, for instance \"p99\"".to_owned(),
            ),
            None => wrong(
                "a percentile is a `p` and a number with at most one decimal",
                "write \"p95\" or \"p99.9\"".to_owned(),
            ),
        };
    }
    match meant {
        Some(number) if text == number => wrong(
            "that is neither a percentile nor a length of time, whose unit would have to be guessed",
            format!("write \"p{number}\" or \"{number}ms\""),
        ),
        Some(number) => wrong("a percentile is written with a small `p` in front", format!("write \"p{number}\"")),
        None => length(key, lit, errors).map(After::Fixed),
    }
}

/// A length that a timer can wait.
fn length(key: &Ident, lit: &LitStr, errors: &mut Errors) -> Option<u64> {
    const SHORTEST: u64 = 1_000_000;
    let nanos = value::duration(key, lit, errors)?;
    if nanos < SHORTEST {
        errors.at(
            lit.span(),
            format!("`{key} = \"{}\"`: no timer waits less than a millisecond", lit.value()),
            "write \"1ms\" or more",
        );
        return None;
    }
    Some(nanos)
}
