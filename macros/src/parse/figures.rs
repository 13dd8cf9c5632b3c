//! The figures in one string: `HEAD/WORD:FIGURE/WORD:FIGURE`.
//!
//! Bulkheads, rates and threads are written alike, and whoever has learned one string reads the others. So their options
//! are taken apart here, once: which words there are, what each is followed by, and what is said of one that is unknown,
//! given twice or left without a figure. What a figure may be is for each of the three to say.
//!
//! Invariants
//! - Every mistake lies on the literal, the smallest span there is.
//! - A figure that is written and wrong has been reported, and is told apart from one that is absent.

use std::fmt::Display;

use proc_macro2::Ident;
use syn::LitStr;

use super::value::nanos;
use crate::diag::{self, Errors};

/// What may follow the head of such a string.
pub(super) struct Grammar {
    /// What the string is one of, as in "no part of a bulkhead".
    pub(super) what: &'static str,
    /// Each word, and what follows its colon.
    pub(super) options: &'static [(&'static str, &'static str)],
    /// Words that stand alone.
    pub(super) flags: &'static [&'static str],
    /// Words that people try, and why there are none.
    pub(super) never: &'static [(&'static str, &'static str)],
    /// How to write it.
    pub(super) remedy: &'static str,
    /// Why a wait of no time is wrong.
    pub(super) no_wait: &'static str,
}

/// Reads the figures of one literal.
pub(super) struct Reader<'a> {
    key: &'a Ident,
    lit: &'a LitStr,
    errors: &'a mut Errors,
    grammar: &'static Grammar,
}

/// A figure was written and is none; it has been reported.
#[derive(Debug)]
pub(super) struct Wrong;

/// The options that were written, as text.
pub(super) struct Written<'a> {
    options: Vec<(&'a str, &'a str)>,
    flags: Vec<&'a str>,
    /// None of them was unknown.
    pub(super) all_known: bool,
}

impl<'a> Written<'a> {
    pub(super) fn get(&self, word: &str) -> Option<&'a str> {
        self.options.iter().find(|(known, _)| *known == word).map(|(_, figure)| *figure)
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.get(word).is_some()
    }

    /// Whether a word that stands alone was written.
    pub(super) fn says(&self, word: &str) -> bool {
        self.flags.contains(&word)
    }

    /// A word's figure, if it was written.
    pub(super) fn read<T>(&self, word: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Wrong> {
        self.get(word).map(|figure| read(figure).ok_or(Wrong)).transpose()
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(key: &'a Ident, lit: &'a LitStr, errors: &'a mut Errors, grammar: &'static Grammar) -> Self {
        Self { key, lit, errors, grammar }
    }

    pub(super) fn wrong(&mut self, what: impl Display, remedy: impl Display) {
        let what = format!("`{} = \"{}\"`: {what}", self.key, self.lit.value());
        self.errors.at(self.lit.span(), what, remedy);
    }

    /// Takes the options apart.
    pub(super) fn options<'t>(&mut self, parts: impl Iterator<Item = &'t str>) -> Written<'t> {
        let mut written = Written { options: Vec::new(), flags: Vec::new(), all_known: true };
        for option in parts {
            match option.split_once(':') {
                None if written.says(option) => self.wrong(format!("`{option}` is given twice"), "keep one of the two"),
                None if self.grammar.flags.contains(&option) => written.flags.push(option),
                Some((word, _)) if written.has(word) => {
                    self.wrong(format!("`{word}` is given twice"), "keep one of the two");
                }
                Some((word, figure)) if self.grammar.options.iter().any(|(known, _)| *known == word) => {
                    written.options.push((word, figure));
                }
                _ => {
                    self.unknown(option);
                    written.all_known = false;
                }
            }
        }
        written
    }

    fn unknown(&mut self, option: &str) {
        let Grammar { what, options, flags, never, remedy, .. } = self.grammar;
        let word = option.split(':').next().unwrap_or_default();
        let named =
            |list: &[(&'static str, &'static str)]| list.iter().find(|(known, _)| *known == word).map(|it| it.1);
        let wrong = match (named(options), named(never)) {
            (Some(figure), _) => format!("`/{word}` has no {figure}"),
            (_, Some(why)) => why.to_owned(),
            _ if flags.contains(&word) => format!("`/{word}` stands alone and takes no figure"),
            _ if word.is_empty() => "there is nothing after a `/`".to_owned(),
            _ => format!("`{word}` is no part of {what}"),
        };
        let words: Vec<&str> = options.iter().map(|(word, _)| *word).chain(flags.iter().copied()).collect();
        let meant = match diag::did_you_mean(word, &words) {
            Some(meant) if meant != word => format!("did you mean `{meant}`? "),
            _ => String::new(),
        };
        self.wrong(wrong, format!("{meant}{remedy}"));
    }

    /// Whether somebody is to wait where there is no queue, which is reported.
    pub(super) fn waits_without_queue(&mut self, written: &Written<'_>, queue: &Result<Option<u32>, Wrong>) -> bool {
        let no_queue = !written.has("queue") || matches!(queue, Ok(Some(0)));
        let wrong = written.has("wait") && written.all_known && no_queue;
        if wrong {
            self.wrong(
                "nobody waits where there is no queue",
                "add `/queue:N`, the number of callers that may wait, or remove `/wait`",
            );
        }
        wrong
    }

    /// A wait, in nanoseconds.
    pub(super) fn wait(&mut self, text: &str) -> Option<u64> {
        let wait = nanos(text, self.grammar.no_wait);
        wait.map_err(|(what, remedy)| self.wrong(format!("in `wait:{text}`, {what}"), remedy)).ok()
    }
}
