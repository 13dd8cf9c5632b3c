//! `rate = "[NAME:]COUNT/UNIT[/burst:N][/wait:DURATION][/fleet]"`.
//!
//! Read like a bulkhead's string, with the figure people write on paper in the middle: `"100/s"`, `"api:600/m"`. A word
//! in front and a colon share it between functions; a name alone joins one that is declared elsewhere. Between the two
//! stands a digit: what begins with one and has no colon is a count.
//!
//! Invariants
//! - A declared rate has 1 or more tokens, of which one comes in a microsecond at the fastest and within thirty years at
//!   the slowest, its whole burst included.

use proc_macro2::Ident;
use syn::parse::ParseStream;

use super::figures::{Grammar, Reader};
use super::text;
use super::value::{self, nanos, whole};
use crate::diag::Errors;
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
    /// Whether the figures are those of all processes together.
    pub(crate) fleet: bool,
}

const EXAMPLE: &str = "rate = \"100/s\"";

const GRAMMAR: Grammar = Grammar {
    what: "a rate",
    options: &[("burst", "number"), ("wait", "duration")],
    flags: &["fleet"],
    never: &[("queue", "nobody is counted who waits for a token, so there is no `/queue`")],
    remedy: "write \"100/s\", then `/burst:10`, `/wait:50ms`, both or neither",
    no_wait: "not to wait is what happens without it",
};

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Rate> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let mut parts = text.split('/');
    let head = parts.next().unwrap_or_default();
    let mut reader = Reader::new(key, &lit, errors, &GRAMMAR);
    let (name, count) = match head.split_once(':') {
        Some((name, count)) => (Some(name), count),
        None if head.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => (None, head),
        None => {
            if parts.next().is_some() {
                let rest = if text[head.len()..] == *"/fleet" { "/s/fleet" } else { &text[head.len()..] };
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
    let declared = reader.tokens(count, parts);
    let name = match name.map(|name| value::name(key, &lit, name, errors)) {
        Some(name) => Some(name?),
        None => None,
    };
    Some(Rate { name, declared: Some(declared?) })
}

impl Reader<'_> {
    fn tokens<'a>(&mut self, count: &str, mut parts: impl Iterator<Item = &'a str>) -> Option<Declared> {
        let unit = match parts.next() {
            None | Some("") => {
                let digits = if count.is_empty() { "100" } else { count };
                self.wrong("it does not say in how long", format!("write \"{digits}/s\" or \"{digits}/m\""));
                return None;
            }
            Some(unit) => self.unit(count, unit),
        };
        let count = self.count(count);
        let written = self.options(parts);
        if !written.all_known {
            return None;
        }
        let burst = written.read("burst", |figure| self.burst(figure));
        let wait = written.read("wait", |figure| self.wait(figure));
        let (count, unit, burst, wait) = (count?, unit?, burst.ok()?, wait.ok()?);
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
        Some(Declared { count, unit, burst, wait, fleet: written.says("fleet") })
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
        if ["burst", "wait", "fleet"].iter().any(|word| text.starts_with(word)) {
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
}
