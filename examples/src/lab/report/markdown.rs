//! # For the repository
//!
//! The published figures beside ours, with a sentence on each difference, and the commands that made them. The whole file is
//! written by the run, so a table in it was measured by the commit that carries it.
//!
//! Invariants:
//! * nothing in the file comes from anywhere but the outcomes and this source.

use std::fmt::Write;

use super::{caveat, word};
use crate::lab::Finished;
use crate::lab::outcome::{Cell, Table};

const HEAD: &str = "# The lab: every claim measured\n\n\
    Two published write-ups measured what slow dependencies do to a service. Here are their experiments again, in Rust, on\n\
    real sockets and a real pool, bare and guarded. The published figures are from an 8-core laptop, Node 23, Postgres 16.\n\n\
    This file is written by the lab; do not edit it.\n\n\
    ```sh\n\
    cargo run --release -- lab list                     # what there is\n\
    cargo run --release -- lab cascade                  # one experiment\n\
    cargo run --release -- lab all --markdown docs/lab.md --report docs/lab.html   # this file, and the page with plots\n\
    ```\n\n\
    `cargo run --release -- flood` is the experiment of that name as a live page with its two switches, and `vendor`, `service`,\n\
    `load` and `probe` are the pieces alone, for an outage by hand over four terminals (each has `--help`).\n\n\
    `--quick` is shorter and judges some claims milder, which it says at each; `--json FILE` writes every figure with its exact\n\
    settings, `--postgres URL` takes a server in place of the embedded SQLite.\n";

/// The file.
pub fn markdown(all: &[Finished]) -> String {
    let mut out = HEAD.to_owned();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let profile = if cfg!(debug_assertions) { "an unoptimised build" } else { "a release build" };
    let seconds: f64 = all.iter().map(|finished| finished.took.as_secs_f64()).sum();
    let _ =
        writeln!(out, "\nMeasured by {profile} on {cores} processors, which everything shares; {seconds:.0} s in all.");
    for finished in all {
        one(&mut out, finished);
    }
    out
}

fn one(out: &mut String, finished: &Finished) {
    let Finished { experiment, outcome, .. } = finished;
    let _ = writeln!(out, "\n## `{}`\n\n**{}**\n\n{}", experiment.id, experiment.question, experiment.setup);
    let caveat = caveat(finished);
    if !caveat.is_empty() {
        let _ = writeln!(out, "\n*{caveat}*");
    }
    if let Some(why) = &outcome.skipped {
        let _ = writeln!(out, "\nNot run: {why}");
        return;
    }
    let lines: Vec<_> = outcome.lines.iter().filter(|(_, line)| !line.is_empty()).collect();
    if !lines.is_empty() {
        let _ = writeln!(out, "\n| variant | attribute |\n|---|---|");
        for (name, line) in lines {
            let _ = writeln!(out, "| {name} | `{line}` |");
        }
    }
    for it in &outcome.tables {
        table(out, it);
    }
    for remark in &outcome.remarks {
        let _ = writeln!(out, "\n{remark}");
    }
    if !outcome.comparisons.is_empty() {
        let _ = writeln!(out, "\n| | published | ours | difference |\n|---|---|---|---|");
        for it in &outcome.comparisons {
            let _ = writeln!(out, "| {} | {} | {} | {} |", it.measure, it.published, it.ours, it.difference);
        }
    }
    let _ = writeln!(out);
    for verdict in &outcome.verdicts {
        let _ = writeln!(out, "- {}: **{}** ({})", verdict.claim, word(verdict.held), verdict.judged());
    }
    let _ = writeln!(out, "\nFor your numbers: {}", experiment.meaning);
    let settings: Vec<_> = outcome.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let _ = writeln!(out, "\nSettings: `{}`", settings.join("; "));
}

fn table(out: &mut String, table: &Table) {
    let _ = writeln!(out, "\n{}\n\n| {} |", table.caption, table.heads.join(" | "));
    let right = |at: usize| table.rows.iter().all(|row| row.get(at).is_some_and(Cell::is_number));
    let rule: Vec<_> = (0..table.heads.len()).map(|at| if right(at) { "---:" } else { "---" }).collect();
    let _ = writeln!(out, "|{}|", rule.join("|"));
    for row in &table.rows {
        let cells: Vec<_> = row.iter().map(ToString::to_string).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}
