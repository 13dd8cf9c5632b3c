//! What a setting says: a figure of one kind, as it is read and as it is written.
//!
//! Invariant: what a value is written as is read as that value.

use std::fmt;

use crate::base::text::exact;
use crate::strategies::breaker::Window;
use crate::strategies::hedge::After;
use crate::strategies::rate::Figures;
use crate::strategies::retry::Allowance;

/// A setting's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value {
    /// Whether a strategy is asked.
    Enabled(bool),
    /// Whether it only observes.
    Observes(bool),
    /// Nanoseconds.
    Length(u64),
    Whole(u32),
    /// From 0 to 1.
    Share(f64),
    Window(Window),
    Pauses {
        first: u64,
        cap: u64,
    },
    After(After),
    Allowance(Allowance),
    Rate(Figures),
    Force(Force),
}

/// What a breaker is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Force {
    Open,
    /// Lets everything through, as if it were not there.
    Closed,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| format!("{}%", (share * 1e8).round() / 1e6);
        match self {
            Self::Enabled(on) => write!(f, "{on}"),
            Self::Observes(true) => f.write_str("\"observe\""),
            Self::Observes(false) => f.write_str("\"enforce\""),
            Self::Whole(number) | Self::Window(Window::Calls(number)) => write!(f, "{number}"),
            Self::Share(share) => write!(f, "\"{}\"", percent(share)),
            Self::Length(nanos) | Self::Window(Window::Time(nanos)) | Self::After(After::Fixed(nanos)) => {
                write!(f, "\"{}\"", exact(*nanos))
            }
            Self::Pauses { first, cap } => write!(f, "\"{}..{}\"", exact(*first), exact(*cap)),
            Self::After(After::Percentile(tenths)) => write!(f, "\"p{}\"", f64::from(*tenths) / 10.0),
            Self::Allowance(Allowance { per_call, per_second }) => {
                write!(f, "\"{}+{per_second}/s\"", percent(per_call))
            }
            Self::Rate(Figures { count, unit, burst }) => {
                write!(f, "\"{count}/{}", unit_of(*unit))?;
                if burst == count { f.write_str("\"") } else { write!(f, "/burst:{burst}\"") }
            }
            Self::Force(Force::Open) => f.write_str("\"open\""),
            Self::Force(Force::Closed) => f.write_str("\"closed\""),
        }
    }
}

/// `s` for one second, `10s` for ten.
fn unit_of(nanos: u64) -> String {
    let unit = exact(nanos);
    match unit.strip_prefix('1').filter(|bare| bare.starts_with(char::is_alphabetic)) {
        Some(bare) => bare.to_owned(),
        None => unit,
    }
}

/// A value as it stands in a file, an environment variable or a form, before anybody knows what it should be.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(not(feature = "settings"), allow(dead_code))] // some are only ever found in a file
pub(crate) enum Raw {
    Text(String),
    Whole(i64),
    Decimal(f64),
    Flag(bool),
    /// A list, a date.
    Other(&'static str),
}

impl Raw {
    /// What a word means where nothing else says what it is.
    pub(crate) fn word(text: &str) -> Self {
        let text = text.trim();
        let bare = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        match (bare, text) {
            (Some(bare), _) => Self::Text(bare.to_owned()),
            (None, "true") => Self::Flag(true),
            (None, "false") => Self::Flag(false),
            (None, text) => text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::Whole),
        }
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Decimal(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Other(what) => f.write_str(what),
        }
    }
}
