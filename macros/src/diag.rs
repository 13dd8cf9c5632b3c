//! What a user reads when the attribute is wrong.
//!
//! A macro's errors are its most read documentation: most people meet the grammar by getting it wrong. So no stage
//! stops at the first mistake. Each one drops what it found into one list and reads on, and whoever made three
//! mistakes sees three messages after one compile, each under the text that has to change.
//!
//! Every message has two parts, and [`Errors::at`] takes them apart on purpose, since a single string would soon lose
//! the second: *what* is wrong together with the reason, then *the remedy*, which can be typed as it stands. A sentence
//! that only says "invalid value" cannot be written with this type without leaving an argument empty.
//!
//! Guesses ("did you mean") are made for words only, never for values: a wrong key has few possible meanings, a wrong
//! number has as many as there are numbers.
//!
//! Invariants
//! - A list that is not empty ends in an error; nothing that was found is ever dropped.
//! - A span given here belongs to the user's text, never to the whole attribute when a smaller one is known.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far, over all stages.
#[derive(Default)]
pub(crate) struct Errors(Option<syn::Error>);

impl Errors {
    /// Records one mistake at `span`: what is wrong and why, then what to write.
    pub(crate) fn at(&mut self, span: Span, what: impl Display, remedy: impl Display) {
        self.push(syn::Error::new(span, format!("{what}\n{remedy}")));
    }

    /// Like [`Errors::at`], underlining all of `tokens`.
    pub(crate) fn over(&mut self, tokens: &impl ToTokens, what: impl Display, remedy: impl Display) {
        self.push(syn::Error::new_spanned(tokens, format!("{what}\n{remedy}")));
    }

    /// Records a mistake that the parser has already put into words. The same sentence at the same place is said once,
    /// however many methods share the key it is about.
    pub(crate) fn push(&mut self, error: syn::Error) {
        let same = |other: syn::Error| {
            other.to_string() == error.to_string() && format!("{:?}", other.span()) == format!("{:?}", error.span())
        };
        match &mut self.0 {
            Some(all) if all.clone().into_iter().any(same) => {}
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The value, unless something was wrong.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, TokenStream> {
        match (self.0, value) {
            (None, Some(value)) => Ok(value),
            (Some(all), _) => Err(all.into_compile_error()),
            (None, None) => unreachable!("a stage gave up without saying why"),
        }
    }

    /// The messages, for the tests of one stage.
    #[cfg(test)]
    pub(crate) fn messages(self) -> Vec<String> {
        self.0.map_or_else(Vec::new, |all| all.into_iter().map(|error| error.to_string()).collect())
    }
}

/// The known word that `word` was probably meant to be.
pub(crate) fn did_you_mean<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let near = known.iter().map(|candidate| (distance(word, candidate), *candidate)).min()?;
    if near.0 <= 1 + near.1.len() / 4 {
        return Some(near.1);
    }
    // `circuit_breaker`, `retries`, `timeout_ms`: too far to be slips, too close to mean anything else.
    known.iter().find(|candidate| word.contains(**candidate) || shared_start(word, candidate) >= 4).copied()
}

/// The remedy for a key that does not exist.
pub(crate) fn known_keys(word: &str, known: &[&str]) -> String {
    match did_you_mean(word, known) {
        Some(meant) => format!("did you mean `{meant}`? The keys are {}", list(known)),
        None => format!("the keys are {}", list(known)),
    }
}

/// The known word from which `word` is one slip away: for places where other words are welcome too.
pub(crate) fn slip<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    known.iter().find(|candidate| distance(word, candidate) == 1).copied()
}

/// `"`a`, `b` and `c`"`.
pub(crate) fn list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

fn shared_start(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Levenshtein's distance, a swap of neighbours counting once.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1];
        for j in 0..b.len() {
            let change = row[j] + usize::from(a[i] != b[j]);
            let mut best = change.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                best = best.min(before[j - 1] + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}
