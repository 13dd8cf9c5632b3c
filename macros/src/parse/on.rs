//! `on = predicate`, `on = [ … ]` and `on = any`: which failures a key is about.
//!
//! A predicate alone narrows the default. A list names everything: what is not in it is not meant. `error` is the body's
//! own `Err`; the other words are timeouts and refusals, and each key has its own words. `any` is all of them, and every
//! `Err` whatever its class. A fallback is narrowed by one word more often than not, so there it may stand alone.
//!
//! Invariants
//! - A list has at most one predicate and no word twice.
//! - A word is never taken for a predicate.

use proc_macro2::{Ident, Span};
use quote::ToTokens;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token};

use super::{callable_here, rest};
use crate::diag::{self, Errors};

/// What is meant.
#[derive(Clone, Default)]
pub(crate) struct On {
    pub(crate) predicate: Option<Expr>,
    /// `None` for a lone predicate: the defaults stay.
    pub(crate) kinds: Option<Vec<(Kind, Span)>>,
    /// The place of `any`.
    pub(crate) any: Option<Span>,
}

/// A word of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Error,
    Timeout,
    Full,
    Wait,
    Rate,
    Open,
    /// Every refusal.
    Refused,
}

/// What one key may say, and what its messages show.
pub(super) struct Grammar {
    pub(super) words: &'static [&'static str],
    pub(super) kinds: &'static [Kind],
    pub(super) example: &'static str,
    pub(super) list_example: &'static str,
    /// What it means that nothing is said, and what to write instead.
    pub(super) nothing: &'static str,
    pub(super) empty: (&'static str, &'static str),
    /// Whether a word may stand without brackets.
    pub(super) alone: bool,
}

impl Grammar {
    /// Everything behind the key.
    pub(super) fn read(&self, key: &Ident, input: ParseStream<'_>, errors: &mut Errors) -> Option<On> {
        if input.parse::<Option<Token![=]>>().ok().flatten().is_none() || input.is_empty() || input.peek(Token![,]) {
            let _ = rest(input);
            errors.over(key, self.nothing, format!("write `{}`", self.example));
            return None;
        }
        if !input.peek(syn::token::Bracket) {
            let predicate = callable_here(key, input, self.example, errors)?;
            if bare(&predicate).is_some_and(|word| word == "any") {
                return Some(On { any: Some(place(&predicate)), ..On::default() });
            }
            if let Some(word) = self.word(&predicate) {
                if let (true, Some(kind)) = (self.alone, self.kind(word)) {
                    return Some(On { kinds: Some(vec![(kind, place(&predicate))]), ..On::default() });
                }
                let what = format!("`{word}` alone would be taken for a predicate");
                errors.over(&predicate, what, format!("write `on = [{word}]`"));
                return None;
            }
            if self.alone && self.is_slip(&predicate, errors) {
                return None;
            }
            return Some(On { predicate: Some(predicate), ..On::default() });
        }
        let group = input.parse::<proc_macro2::Group>().ok()?;
        if group.stream().is_empty() {
            errors.over(&group, self.empty.0, self.empty.1);
            return None;
        }
        let mut found = On { kinds: Some(Vec::new()), ..On::default() };
        let all = |input: ParseStream<'_>| {
            while !input.is_empty() {
                self.entry(key, input, &mut found, errors);
                let _ = rest(input);
                let _ = input.parse::<Option<Token![,]>>();
            }
            Ok(())
        };
        if let Err(error) = all.parse2(group.stream()) {
            errors.push(error);
        }
        Some(found)
    }

    /// One entry of the list: a word, or the predicate.
    fn entry(&self, key: &Ident, input: ParseStream<'_>, found: &mut On, errors: &mut Errors) {
        let Some(expr) = callable_here(key, input, self.list_example, errors) else { return };
        let word = self.word(&expr);
        let kinds = found.kinds.get_or_insert_with(Vec::new);
        if let Some(kind) = word.and_then(|word| self.kind(word)) {
            if kinds.iter().any(|(known, _)| *known == kind) {
                errors.over(&expr, "this word is in the list twice", "remove one of the two");
            }
            kinds.push((kind, place(&expr)));
        } else if bare(&expr).is_some_and(|word| word == "any") {
            errors.over(&expr, "`any` is everything there is, so it stands alone", format!("write `{key} = any`"));
        } else if self.is_slip(&expr, errors) {
            // Said.
        } else if found.predicate.is_some() {
            let what = "there is a predicate in this list already, and two would have to be combined by guessing";
            errors.over(&expr, what, "write one closure that calls both");
        } else {
            found.predicate = Some(expr);
        }
    }

    /// Whether `expr` is all but one of the words, which is then said.
    fn is_slip(&self, expr: &Expr, errors: &mut Errors) -> bool {
        let Some(word) = bare(expr) else { return false };
        let Some(meant) = diag::slip(&word, self.words) else { return false };
        let what = format!("`{word}` is none of the words {}", diag::list(self.words));
        errors.over(expr, what, format!("did you mean `{meant}`? A predicate of that name is `self::{word}`"));
        true
    }

    /// The word of the list that `expr` is.
    fn word(&self, expr: &Expr) -> Option<&'static str> {
        let word = bare(expr)?;
        self.words.iter().find(|known| **known == word).copied()
    }

    fn kind(&self, word: &str) -> Option<Kind> {
        self.words.iter().zip(self.kinds).find(|(known, _)| **known == word).map(|(_, kind)| *kind)
    }
}

impl On {
    /// The place of a word, if it was said.
    pub(crate) fn named(&self, kind: Kind) -> Option<Span> {
        self.kinds.as_ref().and_then(|kinds| kinds.iter().find(|(named, _)| *named == kind)).map(|found| found.1)
    }
}

/// The single identifier that `expr` is.
fn bare(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

fn place(expr: &Expr) -> Span {
    expr.to_token_stream().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}
