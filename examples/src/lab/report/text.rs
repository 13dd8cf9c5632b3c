//! # On the terminal
//!
//! The question, the attribute lines, the tables and the verdicts. Plots and what it all means are on the page.
//!
//! Invariants:
//! * standard output only.

use std::fmt::Write;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell as Shown, CellAlignment, ContentArrangement, Table as Grid};

use super::{caveat, word};
use crate::lab::Finished;
use crate::lab::outcome::Table;

/// One experiment.
pub fn text(finished: &Finished) -> String {
    let Finished { experiment, outcome, took, .. } = finished;
    let mut out = String::new();
    let mut line = |text: &str| {
        let _ = writeln!(out, "{text}");
    };
    line(&format!("\n{}: {}", experiment.id, experiment.question));
    let caveat = caveat(finished);
    if !caveat.is_empty() {
        line(caveat);
    }
    if let Some(why) = &outcome.skipped {
        line(&format!("Not run: {why}"));
        return out;
    }
    for (name, attribute) in &outcome.lines {
        let attribute = if attribute.is_empty() { "nothing above the function" } else { attribute };
        line(&format!("  {name}: {attribute}"));
    }
    for table in &outcome.tables {
        line(&format!("\n{}\n{}", table.caption, grid(table)));
    }
    for remark in &outcome.remarks {
        line(remark);
    }
    for verdict in &outcome.verdicts {
        line(&format!("  {:>12}  {}  ({})", word(verdict.held), verdict.claim, verdict.judged()));
    }
    line(&format!("  took {:.0} s", took.as_secs_f64()));
    out
}

fn grid(table: &Table) -> Grid {
    let mut grid = Grid::new();
    grid.load_preset(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Disabled);
    grid.set_header(&table.heads);
    for row in &table.rows {
        grid.add_row(row.iter().map(|cell| {
            let side = if cell.is_number() { CellAlignment::Right } else { CellAlignment::Left };
            Shown::new(cell).set_alignment(side)
        }));
    }
    grid
}
