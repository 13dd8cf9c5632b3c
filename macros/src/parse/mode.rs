//! `mode = observe`, `mode = enforce` and `mode(bulkhead = observe, …)`.
//!
//! One key for all strategies, and not a word inside of each: whoever rolls out looks at one place to see what is live,
//! and whoever is done deletes one key. A `bulkhead = "recs:8/observe"` would hide the same fact in a literal, and a
//! `breaker(mode = observe)` would need the long form where the bare word was enough. The list reads as a list of
//! settings, `KEY = VALUE`, since `mode(bulkhead)` says neither which mode is meant nor that the rest is enforced.
//!
//! On a method of a block the key replaces the block's as a whole, like every other: in a block that observes,
//! `mode(retry = observe)` on a method enforces all but its retries, and `mode = off` is `mode = enforce`.
//!
//! A fallback has no mode. It refuses nothing and cuts nothing off; it answers for what failed, and a function that only
//! observes fails by its own errors alone.
//!
//! Invariant: a strategy is in the list once.

use proc_macro2::{Ident, Span};
use syn::Token;
use syn::parse::{ParseStream, Parser};

use super::{assigned, keys, one_line, rest};
use crate::diag::{self, Errors};

/// Which strategies observe.
#[derive(Clone)]
pub(crate) enum Mode {
    /// All, or none.
    Whole { observes: bool },
    /// Those that are named; each with its place.
    Each(Vec<(Strategy, Span)>),
}

/// A strategy that can refuse, cut off or try again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    Deadline,
    Retry,
    Breaker,
    Rate,
    Bulkhead,
    Timeout,
}

impl Strategy {
    /// Each with its key, in the order of the pipeline.
    pub(crate) const ALL: [(Self, &'static str); 6] = [
        (Self::Deadline, "deadline"),
        (Self::Retry, "retry"),
        (Self::Breaker, "breaker"),
        (Self::Rate, "rate"),
        (Self::Bulkhead, "bulkhead"),
        (Self::Timeout, "timeout"),
    ];

    /// Its key.
    pub(crate) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(known, _)| *known == self).map_or("", |(_, word)| word)
    }
}

impl Mode {
    pub(crate) fn observes(&self, strategy: Strategy) -> bool {
        match self {
            Self::Whole { observes } => *observes,
            Self::Each(each) => each.iter().any(|(named, _)| *named == strategy),
        }
    }
}

const EXAMPLE: &str = "mode = observe` or `mode(bulkhead = observe)";

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Mode> {
    if input.is_empty() || input.peek(Token![,]) {
        errors.over(key, "`mode` says neither which mode nor whose", format!("write `{EXAMPLE}`"));
        return None;
    }
    if !input.peek(syn::token::Paren) {
        return word(key, input, EXAMPLE, errors).map(|observes| Mode::Whole { observes });
    }
    let group = input.parse::<proc_macro2::Group>().ok()?;
    if group.stream().is_empty() {
        errors.over(&group, "these brackets are empty", "name what observes: `mode(bulkhead = observe)`");
        return None;
    }
    let (mut each, mut seen) = (Vec::new(), Vec::<Strategy>::new());
    let all = |input: ParseStream<'_>| {
        keys(input, errors, |key, input, errors| {
            let Some(strategy) = strategy(key, errors) else {
                let _ = rest(input);
                return;
            };
            let observes = word(key, input, &format!("{key} = observe"), errors);
            if seen.contains(&strategy) {
                let what = format!("`{key}` is given twice, and only one of the two could hold");
                return errors.at(key.span(), what, "keep one and remove the other");
            }
            seen.push(strategy);
            if observes == Some(true) {
                each.push((strategy, key.span()));
            }
        });
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    Some(Mode::Each(each))
}

/// The strategy that a key in the list is.
fn strategy(key: &Ident, errors: &mut Errors) -> Option<Strategy> {
    let word = key.to_string();
    if let Some((strategy, _)) = Strategy::ALL.iter().find(|(_, known)| *known == word) {
        return Some(*strategy);
    }
    let known = Strategy::ALL.map(|(_, word)| word);
    if word == "fallback" {
        errors.at(
            key.span(),
            "a fallback refuses nothing, so it has no mode: it answers for what failed",
            "take it out of the list",
        );
        return None;
    }
    errors.at(key.span(), format!("`{word}` is no strategy that has a mode"), diag::known_keys(&word, &known));
    None
}

/// `= observe` or `= enforce`: whether it observes.
fn word(key: &Ident, input: ParseStream<'_>, example: &str, errors: &mut Errors) -> Option<bool> {
    let value = assigned(key, input, example, errors)?;
    let shown = one_line(&value);
    match shown.as_str() {
        "observe" => return Some(true),
        "enforce" => return Some(false),
        _ => {}
    }
    let bare = shown.trim_matches('"');
    let what = format!("`{key} = {shown}`: a mode is one of the words `observe` and `enforce`");
    let remedy = match diag::did_you_mean(bare, &["observe", "enforce"]) {
        Some(meant) => format!("write `{key} = {meant}`"),
        None => format!("write `{example}`"),
    };
    errors.over(&value, what, remedy);
    None
}
