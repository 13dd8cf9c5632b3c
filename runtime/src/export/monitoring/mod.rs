//! What watches the figures from outside: rules for Prometheus and a Grafana dashboard, written from the catalogue.
//!
//! A service whose figures are scraped and which nobody told Prometheus how to read is as silent as one without. Rules
//! written by hand have two faults: they name one threshold for everything, and they stay behind when a function is added or
//! renamed. So they are written from what each function declares. A breaker says below how many results a share is an
//! anecdote, and how long it must stay open before that is worth a message; a retry says how many it may cost; a function
//! without any limit is the only one that can hang without a trace. What no attribute says (how many calls may fail) is one
//! number here, with a way to say another for a function.
//!
//! | file | what it is |
//! |---|---|
//! | `figure` | each figure as `PromQL`, once, for rules and dashboard alike |
//! | `scope` | of which series and over which time; how text becomes part of a query |
//! | `alerts` | what is wrong with one function |
//! | `shared` | what is wrong with what functions share: breakers and threads |
//! | `write` | the file of rules |
//! | `board` | the Grafana dashboard |
//!
//! An alert is about users first: calls that fail are `critical`; calls that a fallback answers, and whatever leads there,
//! are `warning`. Each names function and source line, and says which setting to change, or that none would help.
//!
//! Invariants: every query asks for names of [`names`](crate::metrics::names) alone, or for series recorded in the same
//! file; names may be any text and end up as text; series of several processes are added before a share or a percentile is
//! worked out; what only observes raises no alert.

mod alerts;
#[cfg(feature = "json")]
mod board;
mod figure;
mod scope;
mod shared;
#[cfg(test)]
mod tests;
mod write;

use std::time::Duration;

use crate::call::Identity;
use crate::catalogue;
use crate::declaration::Declaration;

/// The share of calls that may fail or be answered by a fallback, where nothing else is said.
const MAY_FAIL: f64 = 0.05;
/// Over how long rates are taken.
const WINDOW: Duration = Duration::from_secs(300);
/// How long something has to be wrong.
const HOLD: Duration = Duration::from_secs(120);

/// Recording and alert rules for Prometheus, as the text of a file of rules, for every guarded function of the binary.
///
/// [`Monitoring`] has settings.
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(timeout = "300ms", bulkhead = "doc-rules:8/queue:16")]
/// async fn ruled() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// let rules = watertight::export::rules();
/// assert!(rules.contains("alert: WatertightCallsFail"));
/// std::fs::write(std::env::temp_dir().join("watertight-rules.yml"), rules).unwrap();
/// ```
pub fn rules() -> String {
    Monitoring::new().rules()
}

/// A Grafana dashboard as JSON, to be imported or provisioned: one row per function, by a variable.
///
/// It asks Prometheus for the figures themselves; the rules add the timeouts as lines.
#[cfg(feature = "json")]
pub fn grafana() -> String {
    Monitoring::new().grafana()
}

/// What to watch, to be set up before it is written down.
///
/// | setting | default | why |
/// |---|---|---|
/// | window | 5 min | four scrapes at the usual interval of a minute, and some calls of quiet functions |
/// | hold | 2 min | a blip is over before anybody could look |
/// | `may_fail` | 5 % of a function's calls | below the share at which its breaker opens, if that is less |
/// | process labels | `instance`, `pod` | what one process says is added to what the others say |
/// | functions | all | |
///
/// ```
/// use std::time::Duration;
/// use watertight::export::Monitoring;
///
/// let watch = Monitoring::new()
///     .hold(Duration::from_secs(60))
///     .may_fail(|function| (function.name == "find_user").then_some(0.5))
///     .only(|function| !function.module.starts_with("shop::migrations"));
/// let rules = watch.rules();
/// assert!(rules.starts_with("# "));
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is written yet"]
pub struct Monitoring {
    window: Duration,
    hold: Duration,
    may_fail: fn(&Identity) -> Option<f64>,
    process_labels: Vec<String>,
    shows: fn(&Identity) -> bool,
}

impl Default for Monitoring {
    fn default() -> Self {
        Self {
            window: WINDOW,
            hold: HOLD,
            may_fail: |_| None,
            process_labels: vec!["instance".to_owned(), "pod".to_owned()],
            shows: |_| true,
        }
    }
}

impl Monitoring {
    /// With the defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Over how long rates are taken, to the millisecond, at least one. Two scrapes have to fit in, four should.
    pub fn window(mut self, window: Duration) -> Self {
        self.window = window.max(Duration::from_millis(1));
        self
    }

    /// How long something has to be wrong before an alert fires, to the millisecond. An alert about a breaker waits for three
    /// of its cooldowns, if that is longer.
    pub fn hold(mut self, hold: Duration) -> Self {
        self.hold = hold;
        self
    }

    /// The share of its calls, from 0 to 1, that a function may fail or have answered by its fallback: for functions whose errors
    /// are part of their work. `None` leaves the default.
    pub fn may_fail(mut self, share: fn(&Identity) -> Option<f64>) -> Self {
        self.may_fail = share;
        self
    }

    /// The labels by which your Prometheus tells one process from another; series that differ in nothing else are added.
    /// What is no label name is left out.
    pub fn process_labels<'a>(mut self, labels: impl IntoIterator<Item = &'a str>) -> Self {
        let is_label = |it: &&str| {
            let letters = it.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            letters && it.starts_with(|c: char| !c.is_ascii_digit())
        };
        self.process_labels = labels.into_iter().filter(is_label).map(str::to_owned).collect();
        self
    }

    /// Which functions are watched, by name, module, file or line. Default: all.
    pub fn only(mut self, shows: fn(&Identity) -> bool) -> Self {
        self.shows = shows;
        self
    }

    /// Recording and alert rules, as the text of a file of rules.
    pub fn rules(&self) -> String {
        write::file(self, &self.functions(), &all())
    }

    /// A Grafana dashboard as JSON.
    #[cfg(feature = "json")]
    pub fn grafana(&self) -> String {
        format!("{:#}\n", board::dashboard(self, &self.functions(), &all()))
    }

    fn functions(&self) -> Vec<&'static Declaration> {
        all().into_iter().filter(|it| (self.shows)(&it.identity)).collect()
    }
}

/// Every declaration of the binary: what is joined by name may stand in a function that is not watched.
fn all() -> Vec<&'static Declaration> {
    catalogue::entries().into_iter().map(|entry| entry.declaration).collect()
}
