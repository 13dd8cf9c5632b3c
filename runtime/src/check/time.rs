//! What a call can take at most, against what it may.
//!
//! Two mistakes, both invisible in any one line. The first is the missing end: a function with a breaker and a bulkhead and
//! no timeout waits for ever for a dependency that accepts and never answers, slot by slot, until all are gone. The second
//! is the sum: attempts times wait and timeout, and the pauses between them, come to more than the deadline, so the last
//! attempts that somebody wrote down are cut short or never begin, and what the caller sees is the deadline.
//!
//! Invariants: what is only observed is being tried out and is no missing end; a deadline that equals the sum is no finding.

use std::time::Duration;

use super::{Finding, Problem};
use crate::call::Identity;
use crate::declaration::Declaration;
use crate::listing::{WorstCase, in_figures};

pub(super) fn judge_time(declarations: &[&Declaration], around: Option<Duration>) -> Vec<Finding> {
    declarations.iter().filter_map(|it| judge(it, &WorstCase::of(it, declarations), around)).collect()
}

fn judge(declaration: &Declaration, worst: &WorstCase, around: Option<Duration>) -> Option<Finding> {
    let Identity { name, .. } = declaration.identity;
    let found =
        |problem, strategy, remedy| Finding { problem, strategy, name, sites: vec![declaration.identity], remedy };
    let Some(sum) = worst.without_deadline() else {
        let has_end = worst.deadline.is_some() || around.is_some();
        let is_tried_out = declaration.timeout.is_some() || declaration.deadline.is_some();
        if has_end || is_tried_out {
            return None;
        }
        let remedy = "nothing ends its body; write `timeout = \"..\"` for each attempt or `deadline = \"..\"` for the call, \
                      or check with `check::within` if every call is inside a deadline already";
        return Some(found(Problem::Unbounded, "timeout", remedy.to_owned()));
    };
    let (whose, deadline) = match (worst.deadline, around) {
        (Some(own), Some(around)) if around < own => ("the deadline around it", around),
        (Some(own), _) => ("its deadline", own),
        (None, Some(around)) => ("the deadline around it", around),
        (None, None) => return None,
    };
    (sum > deadline).then(|| found(Problem::Overlong, "deadline", overlong(worst, sum, whose, deadline)))
}

fn overlong(worst: &WorstCase, sum: Duration, whose: &str, deadline: Duration) -> String {
    let wait = if worst.wait.is_zero() { String::new() } else { format!("{} of waiting and ", in_figures(worst.wait)) };
    let run = worst.run.map(in_figures).unwrap_or_default();
    let attempts = match worst.attempts {
        1 => "one attempt".to_owned(),
        many => format!("{many} attempts"),
    };
    let pauses =
        if worst.pauses.is_zero() { String::new() } else { format!(", and {} of pauses,", in_figures(worst.pauses)) };
    let come = if worst.attempts == 1 && pauses.is_empty() { "comes" } else { "come" };
    format!(
        "{attempts} of {wait}{run} at work{pauses} {come} to {}, and {whose} is {}, so what comes last is cut short or \
         never begins; allow fewer attempts, less time for each, or a longer deadline",
        in_figures(sum),
        in_figures(deadline)
    )
}
