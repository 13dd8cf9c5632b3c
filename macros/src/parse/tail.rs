//! `observe = "SHARE[/runs:N][/cap:DURATION]"`.
//!
//! The share comes first and is what the key is about; the rest bounds what it may cost the dependency.
//!
//! (`mode = observe` is another thing: it has strategies decide and not act. There is no mistaking the two in the grammar, since
//! this is a key with a share and that one a word without.)
//!
//! Invariant: a share is above nothing and at most everything; so are the runs.

use proc_macro2::Ident;
use syn::parse::ParseStream;

use super::figures::{Grammar, Reader};
use super::text;
use super::value::{self, nanos, share, whole};
use crate::diag::Errors;

/// Attempts that are left running at their limit.
#[derive(Clone, Copy)]
pub(crate) struct Tail {
    /// From 0 to 1.
    pub(crate) share: f64,
    pub(crate) runs: Option<u32>,
    /// Nanoseconds.
    pub(crate) cap: Option<u64>,
}

/// Below one in ten thousand nobody would live to see an estimate.
const LEAST: f64 = 0.000_1;
/// More bodies without a slot than that are no sample, but a second bulkhead without a bound worth the name.
const MOST_RUNS: u64 = 64;

const EXAMPLE: &str = "observe = \"2%\"";

const GRAMMAR: Grammar = Grammar {
    what: "this",
    options: &[("runs", "number"), ("cap", "duration")],
    flags: &[],
    never: &[("queue", "an attempt for which there is no place is cut off like any other, so there is no `/queue`")],
    remedy: "write \"2%\", then `/runs:4`, `/cap:3s`, both or neither",
    no_wait: "there is nothing to see in no time",
};

pub(super) fn read(key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<Tail> {
    let lit = text(key, input, EXAMPLE, errors)?;
    let text = value::in_one_piece(key, &lit, errors)?;
    let mut parts = text.split('/');
    let head = parts.next().unwrap_or_default();
    let mut reader = Reader::new(key, &lit, errors, &GRAMMAR);
    let share = reader.observed_share(head);
    let written = reader.options(parts);
    let runs = written.read("runs", |figure| reader.runs(figure));
    let cap = written.read("cap", |figure| reader.cap(figure));
    Some(Tail { share: share?, runs: runs.ok()?, cap: cap.ok()? }).filter(|_| written.all_known)
}

impl Reader<'_> {
    fn observed_share(&mut self, text: &str) -> Option<f64> {
        let read = share(text);
        match read {
            Some(share) if (LEAST..=1.0).contains(&share) => return read,
            Some(share) if share > 1.0 => {
                self.wrong("there are no more attempts than all of them", "write a share up to \"100%\"");
            }
            Some(_) => self.wrong(
                "of so few nothing would ever be seen",
                "write \"0.01%\" or more, \"2%\" for a start, or leave it out",
            ),
            None if text.parse::<f64>().is_ok() => self.wrong(
                format!("`{text}` could be a number, a percentage or a part of one"),
                format!("write \"{text}%\""),
            ),
            None => {
                self.wrong(format!("`{text}` is no share of the attempts"), "write a percentage, \"2%\" for a start");
            }
        }
        None
    }

    fn runs(&mut self, text: &str) -> Option<u32> {
        let runs = whole(text).filter(|runs| (1..=MOST_RUNS).contains(runs)).and_then(|runs| u32::try_from(runs).ok());
        if runs.is_none() {
            self.wrong(
                format!("`{text}` cannot be how many run on at once"),
                format!("write a whole number from 1 to {MOST_RUNS}: they come on top of the bulkhead's slots"),
            );
        }
        runs
    }

    fn cap(&mut self, text: &str) -> Option<u64> {
        let cap = nanos(text, "there is nothing to see in no time");
        cap.map_err(|(what, remedy)| self.wrong(format!("in `cap:{text}`, {what}"), remedy)).ok()
    }
}
