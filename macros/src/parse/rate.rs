//! `rate = "[NAME:]COUNT/UNIT[/burst:N][/wait:DURATION]"`.
//!
//! Read like a bulkhead's string, with the figure people write on paper in the middle: `"100/s"`, `"api:600/m"`. A word
//! in front and a colon share it between functions; a name alone joins one that is declared elsewhere. Between the two
//! stands a digit: what begins with one and has no colon is a count.
//!
//! Invariants
//! - A declared rate has 1 or more tokens, of which one comes in a microsecond at the fastest and within thirty years at
//!   the slowest, its whole burst included.

use std::fmt::Display;

use proc_macro2::Ident;
use syn::LitStr;
use syn::parse::ParseStream;

use super::text;
use super::value::{self, nanos, whole};
use crate::diag::{self, Errors};
use crate::limits::{LONGEST, SHORTEST_INTERVAL};

/// How often calls may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// `None`: the function's own.
    pub(crate) name: Option<String>,
    /// `None` joins.
    pub(crate) declared: Option<Declared>,
}

/// The figures of a rate that is declared here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) count: u32,
    /// Nanoseconds.
    pub(crate) unit: u64,
    pub(crate) burst: Option<u32>,
    /// Nanoseconds.
    pub(crate) wait: Option<u64>,
}

const EXAMPLE: &str = "rate = \"100/s\"";

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Rate> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let mut parts = text.split('/');
    let head = parts.next().unwrap_or_default();
    let mut reader = Reader { key, lit: &lit, errors };
    let (name, count) = match head.split_once(':') {
        Some((name, count)) => (Some(name), count),
        None if head.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => (None, head),
        None => {
            if parts.next().is_some() {
                let rest = &text[head.len()..];
                reader.wrong(
                    format!("`{head}` cannot be the number of tokens"),
                    format!(
                        "write \"100{rest}\", or \"{head}:100{rest}\" to give it a name; \"{head}\" alone joins one"
                    ),
                );
                return None;
            }
            let name = value::name(key, &lit, head, errors)?;
            return Some(Rate { name: Some(name), declared: None });
        }
    };
    let declared = reader.declared(count, parts);
    let name = match name.map(|name| value::name(key, &lit, name, errors)) {
        Some(name) => Some(name?),
        None => None,
    };
    Some(Rate { name, declared: Some(declared?) })
}

/// Reads the figures of one literal; every mistake lies on that literal, the smallest span there is.
struct Reader<'a> {
    key: &'a Ident,
    lit: &'a LitStr,
    errors: &'a mut Errors,
}

impl Reader<'_> {
    fn wrong(&mut self, what: impl Display, remedy: impl Display) {
        let what = format!("`{} = \"{}\"`: {what}", self.key, self.lit.value());
        self.errors.at(self.lit.span(), what, remedy);
    }

    fn declared<'a>(&mut self, count: &str, mut parts: impl Iterator<Item = &'a str>) -> Option<Declared> {
        let unit = match parts.next() {
            None | Some("") => {
                let digits = if count.is_empty() { "100" } else { count };
                self.wrong("it does not say in how long", format!("write \"{digits}/s\" or \"{digits}/m\""));
                return None;
            }
            Some(unit) => self.unit(count, unit),
        };
        let count = self.count(count);
        let (mut burst, mut wait) = (None, None);
        for option in parts {
            match option.split_once(':') {
                Some(("burst", _)) if burst.is_some() => self.wrong("`burst` is given twice", "keep one of the two"),
                Some(("wait", _)) if wait.is_some() => self.wrong("`wait` is given twice", "keep one of the two"),
                Some(("burst", number)) => burst = Some(self.burst(number)),
                Some(("wait", length)) => wait = Some(self.wait(length)),
                _ => {
                    self.unknown(option);
                    return None;
                }
            }
        }
        let (count, unit) = (count?, unit?);
        // Written but wrong is `Some(None)`: it has been reported.
        let burst = burst.map_or(Some(None), |burst| burst.map(Some))?;
        let wait = wait.map_or(Some(None), |wait| wait.map(Some))?;
        let interval = unit / u64::from(count);
        if interval < SHORTEST_INTERVAL {
            self.wrong(
                "that is more than a million a second, finer than this can tell apart",
                "write a lower rate, or leave it out: at that pace it limits nothing",
            );
            return None;
        }
        if u128::from(interval) * u128::from(burst.unwrap_or(count)) > u128::from(LONGEST) {
            self.wrong("it would take more than thirty years to fill up", "write a smaller `burst`, or a higher rate");
            return None;
        }
        Some(Declared { count, unit, burst, wait })
    }

    fn count(&mut self, text: &str) -> Option<u32> {
        match whole(text) {
            Some(0) => self.wrong(
                "no call could ever begin",
                "write how many may, 1 or more; to shut a function off, isolate its breaker",
            ),
            Some(count) if u32::try_from(count).is_ok() => return u32::try_from(count).ok(),
            _ if text.contains('.') => self.wrong(
                "a token cannot be had in parts",
                "write whole numbers and a longer unit: \"5/2s\" is two and a half a second",
            ),
            None if text.is_empty() => self.wrong("it does not say how many", "write \"NAME:100/s\""),
            _ => self.wrong(
                format!("`{text}` cannot be the number of tokens"),
                format!("write a whole number from 1 to {}: \"100/s\"", u32::MAX),
            ),
        }
        None
    }

    /// A unit alone, or a length of time.
    fn unit(&mut self, count: &str, text: &str) -> Option<u64> {
        let meant = match text {
            "sec" | "second" | "seconds" => Some("s"),
            "min" | "minute" | "minutes" => Some("m"),
            "hr" | "hour" | "hours" => Some("h"),
            "d" | "day" | "days" => Some("24h"),
            _ => None,
        };
        if let Some(meant) = meant {
            self.wrong(format!("`{text}` is no unit of time here"), format!("write \"{count}/{meant}\""));
            return None;
        }
        if text.starts_with("burst") || text.starts_with("wait") {
            self.wrong("it does not say in how long", format!("write \"{count}/s/{text}\" or \"{count}/m/{text}\""));
            return None;
        }
        let one = if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "1" };
        match nanos(&format!("{one}{text}"), "nothing comes in no time") {
            Ok(unit) => Some(unit),
            Err((what, _)) => {
                self.wrong(
                    format!("in `/{text}`, {what}"),
                    format!("write \"{count}/s\", \"{count}/m\" or \"{count}/10s\""),
                );
                None
            }
        }
    }

    fn burst(&mut self, text: &str) -> Option<u32> {
        let burst = whole(text).filter(|burst| *burst > 0).and_then(|burst| u32::try_from(burst).ok());
        if burst.is_none() {
            self.wrong(
                format!("`{text}` cannot be how many may begin at once"),
                "write a whole number, 1 or more: \"100/s/burst:10\"",
            );
        }
        burst
    }

    fn wait(&mut self, text: &str) -> Option<u64> {
        match nanos(text, "not to wait is what happens without it") {
            Ok(wait) => Some(wait),
            Err((what, remedy)) => {
                self.wrong(format!("in `wait:{text}`, {what}"), remedy);
                None
            }
        }
    }

    fn unknown(&mut self, option: &str) {
        let word = option.split(':').next().unwrap_or_default();
        let what = match word {
            "burst" => "`/burst` has no number".to_owned(),
            "wait" => "`/wait` has no duration".to_owned(),
            "queue" => "nobody is counted who waits for a token, so there is no `/queue`".to_owned(),
            "" => "there is nothing after a `/`".to_owned(),
            _ => format!("`{word}` is no part of a rate"),
        };
        let meant = match diag::did_you_mean(word, &["burst", "wait"]) {
            Some(meant) if meant != word => format!("did you mean `{meant}`? "),
            _ => String::new(),
        };
        self.wrong(what, format!("{meant}write \"100/s\", then `/burst:10`, `/wait:50ms`, both or neither"));
    }
}
