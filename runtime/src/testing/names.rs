//! From a name, as a test writes it, to one guarded function.
//!
//! A name that fits nothing must not be taken in silence: a fault on a misspelt function never strikes, and the test that
//! set it passes for no reason. Nor may a name that fits two be taken for one of them.

use std::fmt;

use crate::catalogue::{self, Entry};

/// How many names a message lists.
const SHOWN: usize = 6;

/// A name that does not stand for exactly one guarded function.
///
/// Both its Display and its Debug are the sentence, so that a test that unwraps it says what to write.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotOne {
    /// What was asked for.
    pub asked: String,
    /// The functions that bear the name or, where none does, those that were probably meant: path, file and line.
    pub candidates: Vec<String>,
    /// Whether the candidates bear the name.
    pub is_ambiguous: bool,
}

impl fmt::Display for NotOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, candidates, is_ambiguous } = self;
        let some = candidates.iter().take(SHOWN).map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        let more = candidates.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if *is_ambiguous {
            return write!(
                f,
                "`{asked}` stands for several guarded functions: {some}{more}; write more of the path, or give one a \
                 name of its own with `name = \"..\"`"
            );
        }
        write!(f, "no guarded function is called `{asked}`")?;
        if candidates.is_empty() { Ok(()) } else { write!(f, "; did you mean {some}{more}?") }
    }
}

impl fmt::Debug for NotOne {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for NotOne {}

/// The function of a name: its own, or as much of its path in front of it as tells it from others.
pub(super) fn find(asked: &str) -> Result<Entry, NotOne> {
    let all = catalogue::entries();
    let paths: Vec<String> = all.iter().map(path).collect();
    let fits = |path: &str| path.strip_suffix(asked).is_some_and(|before| before.is_empty() || before.ends_with("::"));
    let found: Vec<Entry> = all.iter().zip(&paths).filter(|(_, path)| fits(path)).map(|(entry, _)| *entry).collect();
    match found[..] {
        [one] => Ok(one),
        [] => Err(NotOne { asked: asked.to_owned(), candidates: near(asked, &all, &paths), is_ambiguous: false }),
        _ => {
            let candidates = found.iter().map(|entry| entry.declaration.identity.to_string()).collect();
            Err(NotOne { asked: asked.to_owned(), candidates, is_ambiguous: true })
        }
    }
}

fn path(entry: &Entry) -> String {
    let identity = &entry.declaration.identity;
    format!("{}::{}", identity.module, identity.name)
}

/// What was probably meant, the nearest first; where nothing is near, everything there is.
fn near(asked: &str, all: &[Entry], paths: &[String]) -> Vec<String> {
    let own = asked.rsplit("::").next().unwrap_or(asked);
    let mut distances: Vec<_> = all
        .iter()
        .zip(paths)
        .map(|(entry, path)| (strsim::damerau_levenshtein(own, entry.declaration.identity.name), path.clone()))
        .collect();
    distances.sort();
    // A slip or two, more in a long name; and of those only the ones about as near as the nearest.
    let nearest = distances.first().map_or(0, |(distance, _)| *distance);
    let bound = (1 + own.chars().count() / 4).min(nearest + 1);
    let close: Vec<_> = distances.into_iter().filter(|(it, _)| *it <= bound).map(|(_, path)| path).collect();
    if close.is_empty() { paths.to_vec() } else { close }
}
