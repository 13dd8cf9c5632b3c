//! The run as a table: `docs/conformance.md`.
//!
//! It is written from what was observed, so it cannot promise more than the code does; and it is compared with every full
//! run, so it cannot promise it for longer.
//!
//! Invariants: nothing in it depends on the machine, the order of the tests or the day.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use crate::harness::{Ended, Entry, Section, Verdict, ids};

/// Written above the tables.
const HEAD: &str = "\
# Conformance

What the compatibility kit of MicroProfile Fault Tolerance demands, and what the tests of its main implementation, SmallRye,
demand beyond it, asked of this framework. The ids number the demands; the tests are in `tests/conformance`, in words of
their own, through the attribute and on a paused clock. Every id is a row with a test, or left out with the reason.

Classes: **R** is a rule that rows rest on, **D** carries over as it is, **A** has to be adapted, **N** has no meaning for Rust
futures, **X** goes beyond the specification (further tests of SmallRye, gaps of the kit, reported faults). A row that
`differs` asserts what the design of this framework demands in place of what the peer does.

This page is written by a run of the tests, with what they showed:
`WATERTIGHT_WRITE_TABLE=1 cargo test -p watertight-tests --test conformance`. A run fails when it says anything else.
";

/// Whether the committed table says what this run showed; writes it when asked to.
pub(crate) fn is_up_to_date(sections: &[Section], ended: &Ended) -> bool {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let table = page(sections, ended);
    if env::var_os("WATERTIGHT_WRITE_TABLE").is_some() {
        fs::write(&file, table).expect("docs can be written");
        return true;
    }
    let committed = fs::read_to_string(&file).unwrap_or_default();
    let first = committed.lines().zip(table.lines()).position(|(one, other)| one != other);
    if committed == table {
        return true;
    }
    let line = first.unwrap_or_else(|| committed.lines().count().min(table.lines().count()));
    eprintln!(
        "docs/conformance.md, line {}, is not what this run showed:\n  it says   {}\n  should be {}\n\
         write it with WATERTIGHT_WRITE_TABLE=1",
        line + 1,
        committed.lines().nth(line).unwrap_or("nothing"),
        table.lines().nth(line).unwrap_or("nothing"),
    );
    false
}

fn page(sections: &[Section], ended: &Ended) -> String {
    let classes: BTreeMap<_, _> = ids().into_iter().collect();
    let mut page = HEAD.to_owned();
    summary(&mut page, sections, &classes, ended);
    for section in sections {
        let _ = writeln!(page, "\n## {}\n", section.title);
        table(&mut page, &section.entries, &classes, ended);
    }
    page
}

/// How many of each class were tried and passed.
fn summary(page: &mut String, sections: &[Section], classes: &BTreeMap<&str, char>, ended: &Ended) {
    page.push_str("\n| class | ids | rows | pass | differ | left out | of these not yet |\n");
    page.push_str("|---|---:|---:|---:|---:|---:|---:|\n");
    for class in ['R', 'D', 'A', 'N', 'X', '*'] {
        let entries = sections.iter().flat_map(|section| &section.entries);
        let of_class: Vec<_> = entries.filter(|entry| class == '*' || classes[entry.id] == class).collect();
        let count = |is: &dyn Fn(&Entry) -> bool| of_class.iter().filter(|entry| is(entry)).count();
        let ids = of_class.len();
        let left_out = count(&|entry| matches!(entry.verdict, Verdict::LeftOut(_)));
        let pass = count(&|entry| entry.passed(ended));
        let differ =
            count(&|entry| !matches!(entry.verdict, Verdict::LeftOut(_)) && entry.says().starts_with("differs"));
        let not_yet = count(&|entry| entry.says().starts_with("not yet"));
        let name = if class == '*' { "all".to_owned() } else { class.to_string() };
        let rows = ids - left_out;
        let _ = writeln!(page, "| {name} | {ids} | {rows} | {pass} | {differ} | {left_out} | {not_yet} |");
    }
}

fn table(page: &mut String, entries: &[Entry], classes: &BTreeMap<&str, char>, ended: &Ended) {
    page.push_str("| id | class | adapted | test | passes |\n|---|---|---|---|---|\n");
    for entry in entries {
        let (id, class, says) = (entry.id, classes[entry.id], entry.says());
        let passes = if entry.passed(ended) { "yes" } else { "**no**" };
        let _ = match &entry.verdict {
            Verdict::Row { test, .. } => writeln!(page, "| {id} | {class} | {says} | `{test}` | {passes} |"),
            Verdict::ShownBy { rows, .. } => {
                writeln!(page, "| {id} | {class} | {says} | see {} | {passes} |", rows.join(", "))
            }
            Verdict::LeftOut(_) => writeln!(page, "| {id} | {class} | left out: {says} | | |"),
        };
    }
}
