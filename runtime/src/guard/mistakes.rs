//! What is wrong with a guard: every mistake at once, each in one sentence that says what to write instead.
//!
//! The checks of single values are here too, since each is used by several strategies. The ranges themselves are in
//! [`super::limits`].
//!
//! Invariant: a list that is not empty builds nothing.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::RangeInclusive;
use std::panic::Location;
use std::time::Duration;

use crate::declaration::limits::{LEAST_SHARE, LONGEST, LONGEST_NAME, can_stand_in_a_name};

/// Why a guard was not built; its Display is one line for each mistake.
///
/// ```
/// use std::time::Duration;
/// use watertight::Guard;
/// use watertight::guard::Bulkhead;
///
/// let error = Guard::named("doc-wrong").timeout(Duration::ZERO).bulkhead(Bulkhead::new("recs", 0)).build().unwrap_err();
/// assert_eq!(error.mistakes().len(), 2);
/// assert!(error.mistakes()[0].starts_with("`timeout` is 0ns: nothing can finish in no time"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    name: Cow<'static, str>,
    at: &'static Location<'static>,
    mistakes: Vec<String>,
}

impl BuildError {
    pub(super) fn new(name: Cow<'static, str>, at: &'static Location<'static>, mistakes: Vec<String>) -> Self {
        Self { name, at, mistakes }
    }

    /// What is wrong, a sentence each.
    pub fn mistakes(&self) -> &[String] {
        &self.mistakes
    }
}

impl Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mistake) in self.mistakes.iter().enumerate() {
            let line = if place == 0 { "" } else { "\n" };
            write!(f, "{line}guard `{}` ({}:{}): {mistake}", self.name, self.at.file(), self.at.line())?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildError {}

/// The mistakes found so far.
#[derive(Default)]
pub(super) struct Mistakes(Vec<String>);

impl Mistakes {
    /// What is wrong and why, then what to write.
    pub(super) fn add(&mut self, what: impl Display, remedy: impl Display) {
        self.0.push(format!("{what}; {remedy}"));
    }

    pub(super) fn finish(self) -> Result<(), Vec<String>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }

    /// A length of time in nanoseconds. `zero` says what none would mean here.
    pub(super) fn length(&mut self, key: &str, length: Duration, zero: &str) -> u64 {
        let nanos = u64::try_from(length.as_nanos()).ok().filter(|nanos| *nanos <= LONGEST);
        match nanos {
            Some(0) => self.add(format!("`{key}` is 0ns: {zero}"), "write a longer time, or leave it out"),
            None => self.add(
                format!("`{key}` is more than thirty years, beyond what a timer can hold"),
                "write a shorter time, or leave it out",
            ),
            Some(_) => {}
        }
        nanos.unwrap_or(LONGEST)
    }

    /// A name. Of whom, says `key`.
    pub(super) fn name(&mut self, key: &str, name: &str) {
        let what = if name.is_empty() {
            "is empty".to_owned()
        } else if name.len() > LONGEST_NAME {
            format!("has {} characters and {LONGEST_NAME} are the most", name.chars().count())
        } else if let Some(odd) = name.chars().find(|c| !can_stand_in_a_name(*c)) {
            format!("is {name:?}, and {odd:?} cannot stand in a name")
        } else {
            return;
        };
        self.add(format!("the name of the {key} {what}"), "write 1 to 64 letters, digits, `_`, `-` or `.`");
    }

    pub(super) fn count(&mut self, key: &str, count: u32, range: &RangeInclusive<u64>, remedy: &str) {
        if !range.contains(&u64::from(count)) {
            let (least, most) = (range.start(), range.end());
            self.add(format!("`{key}` is {count}: it has to be a number from {least} to {most}"), remedy);
        }
    }

    /// A share that opens a breaker.
    pub(super) fn share(&mut self, key: &str, share: f64) {
        if !(LEAST_SHARE..=1.0).contains(&share) {
            let what = format!("`{key}` is {share}: it has to be a share from {LEAST_SHARE} to 1");
            self.add(what, "write 0.5 for a half");
        }
    }

    /// A list that names causes: something, and nothing twice.
    pub(super) fn list<T: PartialEq + fmt::Debug>(&mut self, key: &str, list: &[T], nothing: &str) {
        if list.is_empty() {
            self.add(format!("the list of `{key}` is empty: {nothing}"), "leave `on` out, or name some");
        }
        for (place, cause) in list.iter().enumerate() {
            if list[..place].contains(cause) {
                self.add(format!("{cause:?} is in the list of `{key}` twice"), "remove one of the two");
            }
        }
    }
}
