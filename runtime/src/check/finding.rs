//! What a check has found, as sentences and as data.
//!
//! Invariant: a finding's sentence says what is wrong, where, and what to write instead.

use std::fmt;

use crate::call::Identity;
use crate::settings::SiteInForce;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// Two functions declare one name with different figures.
    Conflict,
    /// A name is joined that no function declares, or a pool guarded that was not declared.
    Undeclared,
    /// A name is used with a key by some and without by others.
    KeyedByHalf,
    /// Bulkheads have more slots than the pool they guard has connections.
    Oversized,
    /// A function may ask again as often as it likes, and nothing but chance says how often that is.
    Unbudgeted,
    /// A call can take longer than its deadline, or the one around it, allows.
    Overlong,
    /// A call may have no end.
    Unbounded,
    /// Everything that has a bulkhead has the same one.
    SharedByAll,
    /// A limit is that of all processes together, and this one has joined no others.
    Alone,
    /// Errors are retried, and nobody has said which of them are worth it or that trying twice does no harm.
    Unclassified,
    /// A settings file, or the environment, has mistakes, and nothing of it is in force.
    Rejected,
}

impl Problem {
    /// Every problem.
    pub const ALL: [Self; 11] = [
        Self::Conflict,
        Self::Undeclared,
        Self::KeyedByHalf,
        Self::Oversized,
        Self::Unbudgeted,
        Self::Overlong,
        Self::Unbounded,
        Self::SharedByAll,
        Self::Alone,
        Self::Unclassified,
        Self::Rejected,
    ];

    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Undeclared => "undeclared",
            Self::KeyedByHalf => "keyed_by_half",
            Self::Oversized => "oversized",
            Self::Unbudgeted => "unbudgeted",
            Self::Overlong => "overlong",
            Self::Unbounded => "unbounded",
            Self::SharedByAll => "shared_by_all",
            Self::Alone => "alone",
            Self::Unclassified => "unclassified",
            Self::Rejected => "rejected",
        }
    }
}

/// One thing to change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub problem: Problem,
    /// `"bulkhead"`, `"isolate"`, `"breaker"`, `"rate"`, `"budget"`, `"pool"`, `"hedge"`, `"deadline"`, `"timeout"`,
    /// `"retry"` or `"settings"`.
    pub strategy: &'static str,
    /// The name in question; what is a function's own has that of its function.
    pub name: &'static str,
    /// The functions concerned, in the order of module and line; where pools contradict, the places that declare them.
    pub sites: Vec<Identity>,
    /// What holds now, and what to write instead.
    pub remedy: String,
}

#[cfg(feature = "json")]
impl Finding {
    pub(crate) fn json(&self) -> serde_json::Value {
        let site = |it: &Identity| serde_json::json!({ "function": it.name, "module": it.module, "file": it.file, "line": it.line });
        serde_json::json!({
            "problem": self.problem.as_str(),
            "strategy": self.strategy,
            "name": self.name,
            "sites": self.sites.iter().map(site).collect::<Vec<_>>(),
            "remedy": self.remedy,
            "text": self.to_string(),
        })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, strategy, name, sites, remedy } = self;
        match problem {
            // It has its places in it, line by line.
            Problem::Rejected => return write!(f, "{strategy} were read and not applied: {remedy}"),
            Problem::Conflict => write!(f, "{strategy} `{name}` is declared with different figures by ")?,
            Problem::KeyedByHalf => write!(f, "{strategy} `{name}` is used with a `key` by some and without by ")?,
            Problem::Undeclared if *strategy == "pool" => {
                write!(f, "pool `{name}` was not declared, and is guarded by ")?;
            }
            Problem::Undeclared => write!(f, "{strategy} `{name}` is joined, and declared nowhere, by ")?,
            Problem::Oversized => write!(f, "{strategy} `{name}` is smaller than what guards it, by ")?,
            Problem::Unbudgeted => write!(f, "{strategy} of `{name}` has no budget, at ")?,
            Problem::Overlong => write!(f, "{strategy} is shorter than what `{name}` can take, at ")?,
            Problem::Unbounded => write!(f, "{strategy} of `{name}` is missing, and a call can wait for ever, at ")?,
            Problem::SharedByAll => write!(f, "{strategy} `{name}` is the only one, shared by ")?,
            Problem::Alone => {
                write!(f, "{strategy} `{name}` is for all processes of a fleet, and this one has joined none, at ")?;
            }
            Problem::Unclassified => {
                write!(f, "{strategy} of `{name}` has tried errors again that nobody has classified, at ")?;
            }
        }
        for (place, site) in sites.iter().enumerate() {
            write!(f, "{}{site}", if place == 0 { "" } else { " and " })?;
        }
        write!(f, "; {remedy}")
    }
}

/// All findings, and what is set from outside; its Display is one line each, and so is its Debug, since that is what `fn main() -> Result<..>` shows.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a report nobody reads finds nothing"]
pub struct Report {
    /// The findings, by strategy and name.
    pub findings: Vec<Finding>,
    /// The functions of which something is set from outside the code, with where it is set. It is no finding.
    pub in_force: Vec<SiteInForce>,
}

impl Report {
    /// Leaves out what was decided to be as it is.
    ///
    /// ```
    /// use watertight::check::Problem;
    ///
    /// // Every call of this service is inside a deadline that its server opens.
    /// let report = watertight::check().allow(Problem::Unbounded);
    /// assert!(report.findings.iter().all(|finding| finding.problem != Problem::Unbounded));
    /// ```
    pub fn allow(mut self, problem: Problem) -> Self {
        self.findings.retain(|finding| finding.problem != problem);
        self
    }

    /// The findings as JSON: an object with the array `findings`, each with its `problem`, `strategy`, `name`, `sites`,
    /// `remedy` and, as one sentence, `text`.
    #[cfg(feature = "json")]
    pub fn to_json(&self) -> String {
        let findings: Vec<_> = self.findings.iter().map(Finding::json).collect();
        serde_json::json!({ "findings": findings }).to_string()
    }

    /// Fails if anything was found: for start-up and for CI.
    ///
    /// # Errors
    ///
    /// The report itself, if it is not empty.
    pub fn deny(self) -> Result<(), Self> {
        if self.findings.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.findings.iter().try_for_each(|finding| writeln!(f, "{finding}"))?;
        self.in_force.iter().try_for_each(|site| write!(f, "{site}"))
    }
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} findings\n{self}", self.findings.len())
    }
}

impl std::error::Error for Report {}
