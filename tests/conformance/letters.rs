//! Calls one after the other, one letter for each answer, so that a row of them reads as the requirement does.
//!
//! | letter | the caller got |
//! |---|---|
//! | `k` | the value |
//! | `T` | the error of the service itself |
//! | `O` | an open breaker |
//! | `F` | a full bulkhead |
//! | `X` | a timeout |
//!
//! Invariants: an answer that has no letter fails the row.

use watertight::ErrorKind;
use watertight_tests::AppError;

use crate::support::{Runs, TEST};

/// A service that fails at some executions; the first is 1.
#[derive(Debug, Default)]
pub(crate) struct Service {
    runs: Runs,
    well: &'static [u32],
    well_after: Option<u32>,
    ill: &'static [u32],
}

impl Service {
    /// Always fails.
    pub(crate) fn down() -> Self {
        Self::default()
    }

    /// Fails but for these.
    pub(crate) fn well_at(well: &'static [u32]) -> Self {
        Self { well, ..Self::default() }
    }

    /// Fails so many times and never again.
    pub(crate) fn well_after(failures: u32) -> Self {
        Self { well_after: Some(failures), ..Self::default() }
    }

    /// Fails at these and at no other.
    pub(crate) fn ill_at(ill: &'static [u32]) -> Self {
        Self { ill, well_after: Some(0), ..Self::default() }
    }

    /// What the body does.
    pub(crate) fn serve(&self) -> Result<(), AppError> {
        let run = self.runs.next();
        let well = self.well.contains(&run) || self.well_after.is_some_and(|failures| run > failures);
        if well && !self.ill.contains(&run) { Ok(()) } else { Err(TEST) }
    }

    /// How often the body was run.
    pub(crate) fn count(&self) -> u32 {
        self.runs.count()
    }
}

/// The letter of one answer.
#[track_caller]
pub(crate) fn letter(answer: &Result<(), AppError>) -> char {
    let Err(error) = answer else { return 'k' };
    match (error.broken(), error.kind()) {
        (Some("test"), _) => 'T',
        (_, Some(ErrorKind::BreakerOpen)) => 'O',
        (_, Some(ErrorKind::BulkheadFull)) => 'F',
        (_, Some(ErrorKind::TimedOut)) => 'X',
        _ => panic!("no letter for {error:?}"),
    }
}

/// The letters of so many calls.
pub(crate) async fn letters(calls: usize, call: impl AsyncFn() -> Result<(), AppError>) -> String {
    let mut letters = String::new();
    for _ in 0..calls {
        letters.push(letter(&call().await));
    }
    letters
}
