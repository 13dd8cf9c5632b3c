//! # The frame
//!
//! An experiment is a value: what it asks, on what stage, what its answer is good for, and a function that finds out. What
//! it needs from outside (how long, over which database, when to stop, where to tell of progress) is the bench, so an
//! experiment can be run by the program, by a test, or by another experiment.
//!
//! A variant is a work function and the attribute line above it. The line is read out of the source file that was compiled,
//! so what the report shows is what ran.
//!
//! Invariants:
//! * no experiment outlives a stop by more than a second;
//! * a shortened run says so: [`Bench::quick`] goes into every output.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::sleep;

use super::live::Live;
use super::outcome::Outcome;
use super::service::{Desk, Done};
use crate::stop::Stop;

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// What it is called by.
    pub id: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// On what stage.
    pub setup: &'static str,
    /// What the answer is good for.
    pub meaning: &'static str,
    /// Finds out.
    pub run: for<'a> fn(&'a Bench) -> BoxFuture<'a, anyhow::Result<Outcome>>,
}

/// What every experiment is given.
#[derive(Debug)]
pub struct Bench {
    /// Shorter, with rougher figures.
    pub quick: bool,
    /// The database instead of the embedded one.
    pub postgres: Option<String>,
    /// Says when to end.
    pub stop: Stop,
    /// Where progress goes.
    pub live: Live,
}

impl Bench {
    /// One of two numbers: the one for the full run, or the one for the quick.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// So many seconds in the full run, so many in the quick.
    pub fn seconds(&self, full: f64, quick: f64) -> Duration {
        Duration::from_secs_f64(self.pick(full, quick))
    }

    /// Waits, unless stopped.
    pub async fn pause(&self, length: Duration) {
        tokio::select! {
            () = sleep(length) => {}
            () = self.stop.clone().stopped() => {}
        }
    }
}

/// What a service does for `/work`.
pub type Work = for<'a> fn(&'a Desk) -> BoxFuture<'a, Done>;

/// One way to do the work.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// As printed.
    pub name: &'static str,
    /// The function whose figures count, if it is a guarded one.
    pub site: Option<&'static str>,
    /// The source file it stands in.
    pub source: &'static str,
    /// The work.
    pub work: Work,
}

impl Variant {
    /// Without anything above it.
    pub const fn bare(name: &'static str, work: Work) -> Self {
        Self { name, site: None, source: "", work }
    }

    /// Under the attribute that stands in `source` above the function `site`.
    pub const fn guarded(name: &'static str, source: &'static str, site: &'static str, work: Work) -> Self {
        Self { name, site: Some(site), source, work }
    }

    /// The name and the attribute line.
    pub fn line(&self) -> (String, String) {
        (self.name.to_owned(), self.site.map_or(String::new(), |site| attribute(self.source, site)))
    }
}

/// The attribute above `async fn NAME` in a source text, in one line; empty if there is none.
pub fn attribute(source: &str, name: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let head = format!("async fn {name}(");
    let function = lines.iter().position(|line| line.contains(&head));
    let above = function.map_or(&[][..], |at| &lines[..at]);
    let begin = above.iter().rposition(|line| line.starts_with("#[resilient("));
    begin.map_or(String::new(), |at| above[at..].join(" ").replace("( ", "(").replace(", )]", ")]"))
}

#[cfg(test)]
mod tests {
    use super::attribute;

    #[test]
    fn the_attribute_is_read_from_the_source_also_over_several_lines() {
        let source =
            "#[resilient(a)]\nasync fn x(d: &D) {}\n\n#[resilient(\n    b,\n    c,\n)]\nasync fn y(d: &D) {}\n";
        assert_eq!(attribute(source, "x"), "#[resilient(a)]");
        assert_eq!(attribute(source, "y"), "#[resilient(b, c)]");
        assert_eq!(attribute(source, "z"), "");
    }
}
