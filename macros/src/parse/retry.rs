//! `retry = N` and `retry(N, backoff = "MIN..MAX", on = …, abort = …, max_duration = …, budget = …)`.
//!
//! `N` counts the *further* attempts, so `retry = 2` runs the body three times at most. Zero is refused: it reads like
//! a decision and is the absence of one.
//!
//! `on` says what is tried again. Alone, a predicate narrows the default, the body's own errors. A list names
//! everything: whatever is not in it is not retried. `error` is the body's own `Err`; the other words are the
//! refusals, which are left alone unless named, since a refused call comes back into the very queue that was full.
//!
//! `abort` has the last word: an error that it names is final, whatever `on` says.
//!
//! Invariants
//! - The number of further attempts comes first, and is there.

use proc_macro2::Ident;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, LitInt, LitStr, Token};

use super::backoff::{self, Backoff};
use super::on::{Grammar, Kind, On};
use super::slot::Slot;
use super::value::{per_second, share};
use super::{assigned, callable, keys, number_in, rest, text, text_in, value};
use crate::diag::{self, Errors};
use crate::limits::{MOST_PER_SECOND, MOST_RETRIES};

/// Which failed attempts are followed by another.
#[derive(Clone)]
pub(crate) struct Retry {
    pub(crate) times: u32,
    pub(crate) details: Details,
}

/// The keys of the long form.
#[derive(Clone, Default)]
pub(crate) struct Details {
    pub(crate) backoff: Slot<Backoff>,
    pub(crate) on: Slot<On>,
    /// Which of the body's errors are final.
    pub(crate) abort: Slot<Expr>,
    /// Nanoseconds.
    pub(crate) max_duration: Slot<u64>,
    pub(crate) budget: Slot<Budget>,
}

/// The shared allowance.
#[derive(Clone)]
pub(crate) enum Budget {
    /// So many retries per call, and so many a second on top.
    Share(f64, f64),
    /// The same, shared with whoever names it.
    Named(String, f64, f64),
    /// Declared elsewhere under this name.
    Join(String),
    Off,
}

const ON: Grammar = Grammar {
    words: &["error", "timeout", "full", "wait", "rate", "open"],
    kinds: &[Kind::Error, Kind::Timeout, Kind::Full, Kind::Wait, Kind::Rate, Kind::Open],
    example: "on = AppError::is_transient`, `on = |error| error.is_transient()` or `on = [error, timeout]",
    list_example: "on = [error, timeout]",
    nothing: "`on` says what is tried again, and nothing does",
    empty: ("an empty list retries nothing", "leave `retry` out, or name what is retried: `[error]`"),
    alone: false,
};
const KEYS: [&str; 5] = ["backoff", "on", "abort", "max_duration", "budget"];
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
    value::count(key, lit, &(1..=MOST_RETRIES), instead, errors)
}

impl Details {
    fn key(&mut self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) {
        match key.to_string().as_str() {
            "backoff" => self.backoff.set(key, backoff::read(key, input, errors), errors),
            "budget" => self.budget.set(key, budget(key, input, errors), errors),
            "on" => self.on.set(key, ON.read(key, input, errors), errors),
            "abort" => {
                let example = "abort = AppError::is_final` or `abort = |error| error.is_final()";
                let abort = callable(key, input, example, errors);
                self.abort.set(key, abort, errors);
            }
            "max_duration" => {
                let lit = text(key, input, "max_duration = \"3s\"", errors);
                let length = lit.and_then(|lit| value::duration(key, &lit, errors));
                self.max_duration.set(key, length, errors);
            }
            unknown => {
                let _ = rest(input);
                let what = format!("`{unknown}` is no key of `retry(..)`");
                errors.at(key.span(), what, diag::known_keys(unknown, &KEYS));
            }
        }
    }
}

/// `budget = "10%+5/s"`, `budget = "NAME:10%"`, `budget = "NAME"` or `budget = off`.
fn budget(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Budget> {
    const EXAMPLE: &str = "budget = \"10%\"`, `budget = \"10%+5/s\"` or `budget = off";
    let given = assigned(key, input, EXAMPLE, errors)?;
    if syn::parse2::<Ident>(given.clone()).is_ok_and(|word| word == "off") {
        return Some(Budget::Off);
    }
    let lit = text_in(key, given, EXAMPLE, errors)?;
    let text = lit.value();
    let is_name = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let (name, figures) = match text.split_once(':') {
        Some((name, figures)) => (Some(name), figures),
        None if is_name => return value::name(key, &lit, &text, errors).map(Budget::Join),
        None => (None, text.as_str()),
    };
    let name = match name.map(|name| value::name(key, &lit, name, errors)) {
        Some(None) => return None,
        name => name.flatten(),
    };
    let (part, granted) = figures.split_once('+').unwrap_or((figures, "1/s"));
    let (what, remedy) = match (share(part), per_second(granted)) {
        (Some(part), _) if part > 1.0 => ("more than one retry per call is no budget", "write `budget = off`"),
        (Some(_), Some(granted)) if granted > MOST_PER_SECOND => {
            ("a million a second is no budget", "write `budget = off`")
        }
        (Some(0.0), Some(0.0)) => ("nothing would ever be retried", "leave `retry` out, or allow some"),
        (Some(part), Some(granted)) => {
            return Some(match name {
                Some(name) => Budget::Named(name, part, granted),
                None => Budget::Share(part, granted),
            });
        }
        (None, _) => ("the retries per call have to be a percentage", "write \"10%\" or \"10%+5/s\""),
        (_, None) => ("the retries granted on top have to be a rate per second", "write \"10%+5/s\""),
    };
    errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy);
    None
}
