//! # What an experiment came to
//!
//! A result is data first: tables of typed cells, series of points, and verdicts. The terminal, the page, the markdown and
//! the JSON are four ways to show the one value, so no two of them can disagree.
//!
//! A verdict is a claim about the shape of the figures, decided by the figures: who starves and who does not, which of two
//! is larger. No verdict knows an absolute time, since a slower machine is no counter-example.
//!
//! Invariants:
//! * a cell keeps its number; it is rounded only where it is shown;
//! * the sentence beside a published figure is worked out from ours, or says what is so by the set-up, whatever was measured:
//!   it never names a cause that nobody measured;
//! * where a quick run asks for less than a full one, the verdict says what the full one asks for.

use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::report::words;

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A name, or what has no number.
    Text(String),
    /// How many.
    Count(u64),
    /// A share in percent; none of nothing.
    Share(Option<f64>),
    /// A time; none where nothing was timed.
    Time(Option<Duration>),
    /// So many times as much; none of nothing.
    Ratio(Option<f64>),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Count(number) => f.write_str(&words::count(*number)),
            Self::Share(share) => f.write_str(&words::share(*share)),
            Self::Time(took) => f.write_str(&words::latency(*took)),
            Self::Ratio(None) => f.write_str("-"),
            Self::Ratio(Some(ratio)) => write!(f, "{ratio:.1}x"),
        }
    }
}

impl Cell {
    /// The number as measured; times in milliseconds.
    pub fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Count(number) => json!(number),
            Self::Share(number) | Self::Ratio(number) => json!(number),
            Self::Time(took) => json!(took.map(|took| took.as_secs_f64() * 1e3)),
        }
    }

    /// Whether it reads from the right.
    pub fn is_number(&self) -> bool {
        !matches!(self, Self::Text(_))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Count(number)
    }
}

/// So many times `whole` is `part`.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// How far a figure is from the published one, as a factor.
pub fn compared(ours: f64, published: f64) -> String {
    let factor = ours / published;
    if (0.9..=1.1).contains(&factor) {
        "The same within a tenth".to_owned()
    } else if factor > 1.0 {
        format!("{factor:.1} times what was published")
    } else {
        format!("{:.0} % of what was published", factor * 100.0)
    }
}

/// How far a share in percent is from the published one, in points.
pub fn points(ours: Option<f64>, published: f64) -> String {
    let Some(ours) = ours else { return "Nothing was measured".to_owned() };
    let apart = ours - published;
    if apart.abs() < 0.05 {
        "The same".to_owned()
    } else {
        format!("{:.1} points {}", apart.abs(), if apart > 0.0 { "higher" } else { "lower" })
    }
}

/// Rows under heads.
#[derive(Clone, Debug)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// One for each column.
    pub heads: Vec<String>,
    /// As wide as the heads.
    pub rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Without rows so far.
    pub fn new(caption: &str, heads: &[&str]) -> Self {
        Self { caption: caption.to_owned(), heads: heads.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// One more row.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.rows.push(cells.into());
    }
}

/// Lines over a common axis.
#[derive(Clone, Debug)]
pub struct Plot {
    /// What it shows.
    pub caption: String,
    /// What goes to the right.
    pub x: &'static str,
    /// What goes up; from 0.
    pub y: &'static str,
    /// Whether the axis to the right is logarithmic.
    pub log_x: bool,
    /// The lines, at most six.
    pub series: Vec<Series>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A claim about the shape of the figures.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The claim.
    pub claim: String,
    /// Whether the figures bear it out.
    pub held: bool,
    /// The figures.
    pub seen: String,
    /// What a full run asks for, where this one asked for less.
    pub full: Option<String>,
}

impl Verdict {
    /// The figures, and what they would be judged by in a full run if that is not the same.
    pub fn judged(&self) -> String {
        match &self.full {
            None => self.seen.clone(),
            Some(full) => format!("{}; judged milder, a full run asks for {full}", self.seen),
        }
    }
}

/// A published figure and ours.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Of what.
    pub measure: String,
    /// Theirs.
    pub published: &'static str,
    /// Ours.
    pub ours: String,
    /// How far the two differ, and what is so by the set-up.
    pub difference: String,
}

/// The whole result.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The exact numbers of the set-up.
    pub settings: Vec<(&'static str, Value)>,
    /// Each variant with its attribute line, empty for the bare one.
    pub lines: Vec<(String, String)>,
    /// The figures.
    pub tables: Vec<Table>,
    /// The figures to look at.
    pub plots: Vec<Plot>,
    /// The claims.
    pub verdicts: Vec<Verdict>,
    /// Beside the published figures.
    pub comparisons: Vec<Comparison>,
    /// What was found on the way and stands in no table.
    pub remarks: Vec<String>,
    /// Why there is nothing, where there is nothing.
    pub skipped: Option<String>,
    /// Ended by a stop.
    pub partial: bool,
}

impl Outcome {
    /// A result without figures.
    pub fn skipped(why: impl Into<String>) -> Self {
        Self { skipped: Some(why.into()), ..Self::default() }
    }

    /// One more number of the set-up.
    pub fn set(&mut self, name: &'static str, value: impl Into<Value>) {
        self.settings.push((name, value.into()));
    }

    /// One more claim.
    pub fn claim(&mut self, claim: impl Into<String>, held: bool, seen: impl Into<String>) {
        self.verdicts.push(Verdict { claim: claim.into(), held, seen: seen.into(), full: None });
    }

    /// Says of the last claim what a full run asks for, if this one is quick and so asked for less.
    pub fn milder(&mut self, quick: bool, full: impl Into<String>) {
        if let Some(verdict) = self.verdicts.last_mut().filter(|_| quick) {
            verdict.full = Some(full.into());
        }
    }

    /// One more published figure, with a sentence worked out from ours.
    pub fn beside(
        &mut self,
        measure: impl Into<String>,
        published: &'static str,
        ours: impl Into<String>,
        difference: impl Into<String>,
    ) {
        let (measure, ours, difference) = (measure.into(), ours.into(), difference.into());
        self.comparisons.push(Comparison { measure, published, ours, difference });
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, compared, points};

    #[test]
    fn a_difference_is_worked_out_and_a_milder_judgement_says_so() {
        assert_eq!(compared(2.9, 2.7), "The same within a tenth");
        assert_eq!(compared(30.0, 10.0), "3.0 times what was published");
        assert_eq!(compared(23.0, 40.0), "57 % of what was published");
        assert_eq!(points(Some(100.0), 100.0), "The same");
        assert_eq!(points(Some(10.0), 7.7), "2.3 points higher");
        assert_eq!(points(None, 7.7), "Nothing was measured");

        let mut outcome = Outcome::default();
        outcome.claim("a", true, "60 %");
        outcome.milder(false, "90 %");
        assert_eq!(outcome.verdicts[0].judged(), "60 %");
        outcome.milder(true, "90 %");
        assert_eq!(outcome.verdicts[0].judged(), "60 %; judged milder, a full run asks for 90 %");
    }
}
