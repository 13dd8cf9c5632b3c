//! Figures with units, read from text: lengths of time, shares, rates per second, percentiles.
//!
//! An attribute has them in a literal, a settings file in a string, an environment variable in a word; whoever has learned
//! one reads the others, so there is one reader. The crate of the attribute and the runtime cannot share a module, so this
//! file stands in both, letter for letter, and a test holds the copies equal.
//!
//! Invariants: no floating point touches a duration, `"1.5s"` is exactly 1 500 000 000 ns; zero never leaves this file as a
//! duration, nor anything above thirty years: the first would fail every call, the second lies beyond what a timer can hold.

use super::limits::LONGEST;

/// The units of a duration and their length in nanoseconds. Both signs for micro are on keyboards.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// `NUMBER` and unit without a space, in nanoseconds; else what is wrong and what to write. `zero` says what a duration
/// of nothing would mean here.
pub(crate) fn nanos(text: &str, zero: &str) -> Result<u64, (String, String)> {
    let wrong = |what: String, remedy: String| Err((what, remedy));
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        let what = match text.chars().next() {
            None => "the duration is empty",
            Some('-') => "a duration cannot be negative",
            Some(_) => "a duration starts with its number",
        };
        return wrong(what.into(), "write a number and a unit: \"300ms\", \"1.5s\", \"2m\"".into());
    }
    if unit.is_empty() {
        let what = "the unit is missing, and seconds and milliseconds are a thousand apart".to_owned();
        return wrong(what, format!("write \"{number}ms\" or \"{number}s\""));
    }
    let Some(&(_, length)) = UNITS.iter().find(|(name, _)| *name == unit) else {
        return wrong_unit(number, unit);
    };
    let Some(nanos) = scale(number, length) else {
        let what = format!("`{number}` is not a number this can count exactly (a nanosecond is the finest step)");
        return wrong(what, "write a whole or decimal number and a unit: \"300ms\", \"1.5s\"".into());
    };
    if nanos == 0 {
        return wrong(zero.to_owned(), "write a longer time, or leave it out".into());
    }
    if nanos > u128::from(LONGEST) {
        let what = "that is more than thirty years, beyond what a timer can hold".to_owned();
        return wrong(what, "write a shorter time, or leave it out".into());
    }
    u64::try_from(nanos).or_else(|_| wrong("too long".into(), "write a shorter time".into()))
}

/// Names the reason why `unit` is none, from the commonest slips.
fn wrong_unit(number: &str, unit: &str) -> Result<u64, (String, String)> {
    let known = "the units are ns, us, ms, s, m and h".to_owned();
    let bare = unit.trim();
    if bare != unit {
        let bare = if bare.is_empty() { "ms" } else { bare };
        return Err(("there is a space in it".into(), format!("write it in one piece: \"{number}{bare}\"")));
    }
    let meant = match bare.to_ascii_lowercase().as_str() {
        "msec" | "msecs" | "milli" | "millis" | "millisecond" | "milliseconds" | "ms" => "ms",
        "sec" | "secs" | "second" | "seconds" | "s" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hr" | "hrs" | "hour" | "hours" | "h" => "h",
        "usec" | "micros" | "microseconds" => "us",
        "d" | "day" | "days" | "w" | "week" | "weeks" | "y" | "year" | "years" => {
            return Err((format!("`{unit}` is no unit; {known}"), "write it in hours: \"24h\" is a day".into()));
        }
        _ if bare.contains(|c: char| c.is_ascii_digit()) => {
            return Err((
                "it has more than one number".into(),
                "write one number and one unit: \"90s\", not \"1m30s\"".into(),
            ));
        }
        _ => return Err((format!("`{unit}` is no unit; {known}"), format!("write \"{number}ms\" or \"{number}s\""))),
    };
    Err((format!("`{unit}` is no unit; {known}"), format!("write \"{number}{meant}\"")))
}

/// `number * length`, exactly; `None` when it is no number or has a part finer than one.
fn scale(number: &str, length: u128) -> Option<u128> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.contains('.') || part.len() > 15 || whole.len() > 20 {
        return None;
    }
    let finest = 10_u128.pow(u32::try_from(part.len()).ok()?);
    let part = part.parse::<u128>().ok()? * length;
    part.is_multiple_of(finest).then_some(whole.parse::<u128>().ok()? * length + part / finest)
}

/// Digits only: `parse` alone would take `+8`.
pub(crate) fn whole(text: &str) -> Option<u64> {
    if text.chars().all(|c| c.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// `"50%"` as 0.5, or `None` when the text is nothing of the kind.
pub(crate) fn share(text: &str) -> Option<f64> {
    decimal(text.strip_suffix('%')?).map(|percent| percent / 100.0)
}

/// `"5/s"` as 5.0, or `None` when the text is nothing of the kind.
pub(crate) fn per_second(text: &str) -> Option<f64> {
    decimal(text.strip_suffix("/s")?)
}

/// A plain decimal number: digits, at most one point with digits on both sides.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let framed = !text.starts_with('.') && !text.ends_with('.');
    if plain && framed { text.parse().ok() } else { None }
}

/// `95` as 950 and `99.9` as 999; at most one decimal.
pub(crate) fn tenths(number: &str) -> Option<u32> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.len() <= 3 && text.chars().all(|c| c.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() != 1 {
        return None;
    }
    Some(whole.parse::<u32>().ok()? * 10 + part.parse::<u32>().ok()?)
}
