//! Figures as people read them: lengths, and tables that fit a terminal.
//!
//! Written out by hand: the runtime's list of dependencies is short on purpose, and a column is as wide as its widest
//! cell.
//!
//! Invariants: [`exact`] loses nothing and is what the attribute takes; [`short`] never has more than three figures.

use std::fmt;
use std::time::Duration;

/// A length exactly, as the attribute takes it: a whole number of the largest unit that allows one.
pub(crate) fn exact(nanos: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (3_600_000_000_000, "h"),
        (60_000_000_000, "m"),
        (1_000_000_000, "s"),
        (1_000_000, "ms"),
        (1_000, "us"),
        (1, "ns"),
    ];
    let whole = UNITS.iter().find(|(length, _)| nanos >= *length && nanos.is_multiple_of(*length));
    whole.map_or_else(|| "0s".to_owned(), |(length, unit)| format!("{}{unit}", nanos / length))
}

/// A length with three significant figures.
pub(crate) fn short(length: Duration) -> String {
    let nanos = length.as_nanos() as f64;
    let (value, unit) = match length.as_nanos() {
        0..1_000 => return "<1µs".to_owned(),
        1_000..1_000_000 => (nanos / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanos / 1e6, "ms"),
        _ => (nanos / 1e9, "s"),
    };
    let decimals = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

/// The first column to the left, figures to the right.
pub(crate) fn write_table(f: &mut impl fmt::Write, heads: &[&str], rows: Vec<Vec<String>>) -> fmt::Result {
    write_columns(f, heads, &[0], rows)
}

/// These columns to the left, the others to the right.
pub(crate) fn write_columns(
    f: &mut impl fmt::Write,
    heads: &[&str],
    left: &[usize],
    rows: Vec<Vec<String>>,
) -> fmt::Result {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let heads = heads.iter().map(|&head| head.to_owned()).collect();
    for row in std::iter::once(heads).chain(rows) {
        let cells = row.iter().zip(&widths).enumerate();
        let cell = |(column, (cell, &width)): (usize, (&String, &usize))| {
            if left.contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        writeln!(f, "{}", cells.map(cell).collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_lengths_are_those_of_the_attribute() {
        let cases = [
            (0, "0s"),
            (300_000_000, "300ms"),
            (1_500_000_000, "1500ms"),
            (90_000_000_000, "90s"),
            (7_200_000_000_000, "2h"),
            (1, "1ns"),
        ];
        for (nanos, text) in cases {
            assert_eq!(exact(nanos), text);
        }
    }

    #[test]
    fn lengths_are_short() {
        let cases = [
            (500, "<1µs"),
            (1_500, "1.50µs"),
            (45_600_000, "45.6ms"),
            (300_000_000, "300ms"),
            (2_000_000_000, "2.00s"),
        ];
        for (nanos, text) in cases {
            assert_eq!(short(Duration::from_nanos(nanos)), text);
        }
    }
}
