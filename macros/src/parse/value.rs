//! Literals with units: durations, shares, counts and names.
//!
//! A bare `300` after `timeout =` has been read as seconds, milliseconds and microseconds by different libraries, and
//! the wrong reading is found in production. So a duration is a string that carries its unit, and a number without one
//! is refused rather than guessed. Everything is reduced here, at compile time, to integers: nanoseconds, counts,
//! shares. At run time nothing is left to parse and nothing to fail.
//!
//! The bounds belong to the values themselves and are checked here; rules *between* keys live in `validate`.
//!
//! Invariants
//! - What a text means is decided in `units`, which the runtime has too.
//! - The text of the user is quoted back in every message.

use std::ops::RangeInclusive;

use proc_macro2::Ident;
use syn::{LitInt, LitStr};

use crate::diag::Errors;
use crate::limits::{LONGEST_NAME, can_stand_in_a_name};
pub(crate) use crate::units::{nanos, per_second, share, whole};

/// The text of a literal such as `"recs:8/queue:16"`, which has no space in it.
pub(super) fn in_one_piece(key: &Ident, lit: &LitStr, errors: &mut Errors) -> Option<String> {
    let text = lit.value();
    if !text.contains(char::is_whitespace) {
        return Some(text);
    }
    let closed: String = text.split_whitespace().collect();
    errors.at(lit.span(), format!("`{key} = \"{text}\"`: there is a space in it"), format!("write \"{closed}\""));
    None
}

/// A duration literal, in nanoseconds.
pub(crate) fn duration(key: &Ident, lit: &LitStr, errors: &mut Errors) -> Option<u64> {
    let text = lit.value();
    let zero = match key.to_string().as_str() {
        "cooldown" => "a breaker that closes at once protects nothing",
        _ => "nothing can finish in no time, so every call would fail",
    };
    match nanos(&text, zero) {
        Ok(nanos) => Some(nanos),
        Err((what, remedy)) => {
            errors.at(lit.span(), format!("`{key} = \"{text}\"`: {what}"), remedy);
            None
        }
    }
}

/// A whole number within `range`; `why` says what the bounds protect and `instead` what to write.
pub(crate) fn count(
    key: &Ident,
    lit: &LitInt,
    range: &RangeInclusive<u64>,
    instead: &str,
    errors: &mut Errors,
) -> Option<u32> {
    let value = lit.base10_parse::<u64>().ok().filter(|value| range.contains(value));
    if value.is_none() {
        let (least, most) = (range.start(), range.end());
        errors.at(lit.span(), format!("`{key} = {lit}`: it has to be a whole number from {least} to {most}"), instead);
    }
    value.and_then(|value| u32::try_from(value).ok())
}

/// A name that can be a metric label, a key in a settings file and an argument in a shell.
pub(crate) fn name(key: &Ident, lit: &LitStr, name: &str, errors: &mut Errors) -> Option<String> {
    let what = if name.is_empty() {
        "the name is empty".to_owned()
    } else if name.len() > LONGEST_NAME {
        format!("the name has {} characters and {LONGEST_NAME} are the most", name.chars().count())
    } else if let Some(odd) = name.chars().find(|c| !can_stand_in_a_name(*c)) {
        format!("{odd:?} cannot stand in a name")
    } else {
        return Some(name.to_owned());
    };
    errors.at(
        lit.span(),
        format!("`{key} = \"{}\"`: {what}", lit.value()),
        "write 1 to 64 letters, digits, `_`, `-` or `.`; the name is shown on dashboards and used in settings",
    );
    None
}
