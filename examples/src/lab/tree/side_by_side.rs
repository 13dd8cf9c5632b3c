//! # The runs side by side
//!
//! One question a row, for the example.
//!
//! Invariants:
//! * every row has a cell for every run.

use std::time::Duration;

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};

use super::Run;

/// The runs as one table.
pub fn side_by_side(runs: &[Run]) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_FULL_CONDENSED);
    table.set_header(std::iter::once(String::new()).chain(runs.iter().map(|run| run.told.to_string())));
    let mut row = |question: String, answer: &dyn Fn(&Run) -> String| {
        let answers = runs.iter().map(|run| Cell::new(answer(run)).set_alignment(CellAlignment::Right));
        table.add_row(std::iter::once(Cell::new(question)).chain(answers));
    };
    for hop in runs.first().map_or(&[][..], |run| run.names) {
        row(format!("{hop}: had left"), &|run| {
            at(run, hop, |stay| stay.left.map_or("nobody said".to_owned(), seconds))
        });
        row(format!("{hop}: worked until"), &|run| at(run, hop, |stay| seconds(stay.to)));
    }
    row("Postgres: last query ended".to_owned(), &|run| run.database.map_or("-".to_owned(), seconds));
    row("you: had an answer".to_owned(), &|run| {
        let status = run.status.map_or("nothing".to_owned(), |status| status.to_string());
        format!("{status} after {}", seconds(run.answered))
    });
    table
}

fn at(run: &Run, hop: &str, tell: impl Fn(&super::hop::Stay) -> String) -> String {
    run.hops.iter().find(|stay| stay.hop == hop).map_or("not reached".to_owned(), tell)
}

fn seconds(length: Duration) -> String {
    format!("{:.2} s", length.as_secs_f64())
}
