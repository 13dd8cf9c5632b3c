//! What is wrong with settings, as sentences.
//!
//! Invariant: a mistake says where it stands, what is wrong, and what to write instead.

use std::fmt;

use super::origin::Origin;

/// One mistake in settings. Its Display is one line: where, what is wrong, what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistake {
    /// Where it stands.
    pub origin: Origin,
    /// What was written: the setting and its value, where it got as far.
    pub setting: String,
    /// What is wrong with it.
    pub what: String,
    /// What to write instead.
    pub remedy: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { origin, setting, what, remedy } = self;
        if !matches!(origin, Origin::Live(_)) {
            write!(f, "{origin}: ")?;
        }
        if !setting.is_empty() {
            write!(f, "`{setting}`: ")?;
        }
        write!(f, "{what}; {remedy}")
    }
}

/// All that is wrong with a settings file, the environment, or an override; nothing of it has been applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mistakes {
    /// Each of them, in the order in which they stand.
    pub all: Vec<Mistake>,
}

impl Mistakes {
    pub(super) fn one(
        origin: Origin,
        setting: impl Into<String>,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let (setting, what, remedy) = (setting.into(), what.into(), remedy.into());
        Self { all: vec![Mistake { origin, setting, what, remedy }] }
    }

    /// Fine if there is none.
    pub(super) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.all.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, mistake) in self.all.iter().enumerate() {
            write!(f, "{}{mistake}", if place == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
