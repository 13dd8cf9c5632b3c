//! Where a value comes from.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::Moment;

/// Where a value in force comes from. Its Display is a few words: `watertight.toml:12`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// The attribute, or the builder of a guard.
    Code,
    /// A settings file.
    File {
        /// As it was named.
        path: Arc<str>,
        /// Counted from 1.
        line: u32,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        variable: Arc<str>,
    },
    /// An override of this process, made while it runs.
    Live(Lease),
}

/// Who made an override, when, and when it ends by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// Who, as they said.
    pub by: Arc<str>,
    /// When it was made.
    pub(crate) since: Moment,
    /// By tokio's clock; `None` lasts until it is taken back.
    pub(crate) until: Option<Moment>,
}

impl Lease {
    /// How long ago it was made, by tokio's clock.
    pub fn age(&self) -> Duration {
        Duration::from_nanos(Moment::now().since(self.since))
    }

    /// What is left of it; `None` where it has no end.
    pub fn remaining(&self) -> Option<Duration> {
        self.until.map(|until| Duration::from_nanos(until.since(Moment::now())))
    }
}

impl Origin {
    /// The word used in JSON and on the dashboard.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::File { .. } => "file",
            Self::Environment { .. } => "environment",
            Self::Live(_) => "override",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code => f.write_str("code"),
            Self::File { path, line } => write!(f, "{path}:{line}"),
            Self::Environment { variable } => write!(f, "${variable}"),
            Self::Live(Lease { by, .. }) => write!(f, "override by {by}"),
        }
    }
}
