//! `breaker`, `breaker = "NAME"` and `breaker(…)`.
//!
//! The bare word is the form to reach for: the defaults are the ones that stop a dead dependency and leave a rare
//! error alone. A name alone joins a breaker that is declared elsewhere, as with bulkheads. The long form declares one,
//! with every key optional.
//!
//! Only what was *written* leaves this file; the defaults live in the runtime, in one place, where the settings file
//! can show them.
//!
//! Invariants
//! - Every number here lies in its own range; that `min_calls` fits into `window` is a rule between two keys and is
//!   checked in `validate`.

use proc_macro2::{Ident, Span};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitStr, Token};

use super::on::{Grammar, Kind, On};
use super::slot::Slot;
use super::{assigned, callable, keys, number, number_in, rest, text, value};
use crate::diag::{self, Errors};
use crate::limits::{LEAST_SHARE, LONGEST_WINDOW, MOST_CALLS, MOST_PROBES, SHORTEST_WINDOW};

/// When calls are refused because the last ones failed.
#[derive(Clone)]
pub(crate) enum Breaker {
    /// Declared elsewhere under this name.
    Join(String),
    /// Declared here; boxed, since the other form is one string.
    Declare(Box<Declared>),
}

/// What the long form says. The bare word is one with nothing written.
#[derive(Clone, Default)]
pub(crate) struct Declared {
    pub(crate) name: Slot<String>,
    pub(crate) window: Slot<Window>,
    pub(crate) failures: Slot<f64>,
    pub(crate) min_calls: Slot<(u32, Span)>,
    /// Nanoseconds.
    pub(crate) slow: Slot<u64>,
    pub(crate) slow_rate: Slot<f64>,
    /// Nanoseconds.
    pub(crate) cooldown: Slot<u64>,
    pub(crate) probes: Slot<u32>,
    /// What counts as a failure.
    pub(crate) on: Slot<On>,
    /// Which of the body's errors never do.
    pub(crate) skip: Slot<Expr>,
}

/// What is judged together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    Calls(u32),
    /// Nanoseconds.
    Time(u64),
}

const ON: Grammar = Grammar {
    words: &["error", "timeout", "full", "wait"],
    kinds: &[Kind::Error, Kind::Timeout, Kind::Full, Kind::Wait],
    example: "on = AppError::is_outage`, `on = |error| error.is_outage()`, `on = [error, timeout]` or `on = any",
    list_example: "on = [error, timeout]",
    nothing: "`on` says what is a failure, and nothing does",
    empty: ("an empty list counts nothing", "leave `on` out, or name what counts: `[error, timeout]`"),
    alone: false,
};

const KEYS: [&str; 10] =
    ["name", "window", "failures", "min_calls", "slow", "slow_rate", "cooldown", "probes", "on", "skip"];

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Breaker> {
    if input.is_empty() || input.peek(Token![,]) {
        return Some(Breaker::Declare(Box::default()));
    }
    if !input.peek(syn::token::Paren) {
        let lit = text(key, input, "breaker`, `breaker = \"NAME\"` or `breaker(window = 100)", errors)?;
        return value::name(key, &lit, &lit.value(), errors).map(Breaker::Join);
    }
    let group = input.parse::<proc_macro2::Group>().ok()?;
    if group.stream().is_empty() {
        errors.over(&group, "these brackets are empty", "write `breaker` alone for the defaults");
        return None;
    }
    let mut declared = Declared::default();
    let all = |input: ParseStream<'_>| {
        keys(input, errors, |key, input, errors| declared.key(key, input, errors));
        Ok(())
    };
    if let Err(error) = all.parse2(group.stream()) {
        errors.push(error);
    }
    Some(Breaker::Declare(Box::new(declared)))
}

impl Declared {
    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "name" => {
                let lit = text(key, input, "name = \"recs\"", errors);
                let name = lit.and_then(|lit| value::name(key, &lit, &lit.value(), errors));
                self.name.set(key, name, errors);
            }
            "window" => self.window.set(key, window(key, input, errors), errors),
            "failures" => self.failures.set(key, failures(key, input, "failed", errors), errors),
            "min_calls" => {
                let lit = number(key, input, "min_calls = 20", errors);
                let instead = "write how many calls there must be before any judgement: min_calls = 20";
                let min_calls = lit.and_then(|lit| {
                    let calls = value::count(key, &lit, &(1..=MOST_CALLS), instead, errors)?;
                    Some((calls, lit.span()))
                });
                self.min_calls.set(key, min_calls, errors);
            }
            "slow" => {
                let lit = text(key, input, "slow = \"200ms\"", errors);
                let slow = lit.and_then(|lit| value::duration(key, &lit, errors));
                self.slow.set(key, slow, errors);
            }
            "slow_rate" => self.slow_rate.set(key, failures(key, input, "slow", errors), errors),
            "cooldown" => {
                let lit = text(key, input, "cooldown = \"5s\"", errors);
                let cooldown = lit.and_then(|lit| value::duration(key, &lit, errors));
                self.cooldown.set(key, cooldown, errors);
            }
            "probes" => {
                let lit = number(key, input, "probes = 1", errors);
                let instead = "write how many trial calls are let through after the cooldown: probes = 1";
                let probes = lit.and_then(|lit| value::count(key, &lit, &(1..=MOST_PROBES), instead, errors));
                self.probes.set(key, probes, errors);
            }
            "on" => self.on.set(key, ON.read(key, input, errors), errors),
            "skip" => {
                let example = "skip = AppError::is_not_found` or `skip = |error| error.is_not_found()";
                let skip = callable(key, input, example, errors);
                self.skip.set(key, skip, errors);
            }
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `breaker(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }
}

/// `window = 100`, or `window = "10s"`.
fn window(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Window> {
    let given = assigned(key, input, "window = 100", errors)?;
    let Ok(lit) = syn::parse2::<LitStr>(given.clone()) else {
        let lit = number_in(key, given, "window = 100", errors)?;
        let instead = "write how many of the last calls are judged together: window = 100";
        return value::count(key, &lit, &(1..=MOST_CALLS), instead, errors).map(Window::Calls);
    };
    let nanos = value::duration(key, &lit, errors)?;
    if (SHORTEST_WINDOW..=LONGEST_WINDOW).contains(&nanos) {
        return Some(Window::Time(nanos));
    }
    errors.at(
        lit.span(),
        format!("`{key} = \"{}\"`: it has to be from 100ms to 1h", lit.value()),
        "write for how long results are judged together: window = \"10s\"",
    );
    None
}

/// `failures = "50%"`, as a share.
fn failures(key: &Ident, input: ParseStream<'_>, kind: &str, errors: &mut Errors) -> Option<f64> {
    let lit = text(key, input, &format!("{key} = \"50%\""), errors)?;
    let text = lit.value();
    let share = value::share(&text);
    if share.is_some_and(|share| (LEAST_SHARE..=1.0).contains(&share)) {
        return share;
    }
    let what = match share {
        Some(0.0) if kind == "failed" => "at 0% it would open without a single failure".to_owned(),
        Some(0.0) => format!("at 0% it would open without a single {kind} call"),
        Some(_) => "it has to be from 0.1% to 100%".to_owned(),
        None if text.starts_with('-') => "a share cannot be negative".to_owned(),
        None => "it has to be a number and a percent sign, without a space".to_owned(),
    };
    errors.at(
        lit.span(),
        format!("`{key} = \"{text}\"`: {what}"),
        format!("write the share of {kind} calls that opens it: \"50%\""),
    );
    None
}
