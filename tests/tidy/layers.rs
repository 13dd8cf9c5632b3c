//! Who may import whom: the table in ARCHITECTURE.md is the table this reads.
//!
//! Both ways of naming another module are followed, from the crate's root and by `super`, in `use` trees and in the
//! middle of code. Importing from the crate's root itself is importing the facade, which nobody may.

use std::collections::BTreeSet;

use crate::source::{Source, code, paths, root, sources, table, ticked};

const RUNTIME: &str = "runtime/src/";

/// A row of the table.
struct Arrow {
    from: Vec<String>,
    to: Vec<Vec<String>>,
}

fn split(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

fn arrows(markdown: &str) -> Vec<Arrow> {
    let rows = table(markdown, "arrows");
    let one = |cell: &str| ticked(cell).first().cloned().unwrap_or_else(|| cell.to_owned());
    rows.iter()
        .map(|row| Arrow { from: split(&one(&row[0])), to: ticked(&row[1]).iter().map(|to| split(to)).collect() })
        .collect()
}

/// The module a file is.
fn module(path: &str) -> Vec<String> {
    let below = path.trim_start_matches(RUNTIME).trim_end_matches(".rs");
    let mut module = split(below);
    if module.last().is_some_and(|last| last == "mod") {
        module.pop();
    }
    module
}

/// Every module there is, by its files.
fn modules(files: &[Source]) -> BTreeSet<Vec<String>> {
    let own = files.iter().map(|file| module(&file.path));
    own.flat_map(|module| (1..=module.len()).map(|length| module[..length].to_vec()).collect::<Vec<_>>()).collect()
}

/// What is wrong with one file.
fn violations(file: &Source, arrows: &[Arrow], modules: &BTreeSet<Vec<String>>) -> Vec<String> {
    let here = module(&file.path);
    let arrow = arrows.iter().filter(|arrow| here.starts_with(&arrow.from)).max_by_key(|arrow| arrow.from.len());
    let mut wrong = Vec::new();
    for named in paths(&code(&file.text), &["crate", "super"]) {
        let by_root = named.segments[0] == "crate";
        let ups = named.segments.iter().take_while(|segment| *segment == "super").count();
        let (base, rest) = if by_root {
            (Vec::new(), &named.segments[1..])
        } else {
            (here[..here.len().saturating_sub(ups)].to_vec(), &named.segments[ups..])
        };
        let full = [base, rest.to_vec()].concat();
        // The module a path leads into: its longest part that is one.
        let target = (1..=full.len()).rev().map(|length| &full[..length]).find(|part| modules.contains(*part));
        let place = format!("{}:{}: `{}`", file.path, named.line, named.segments.join("::"));
        match (target, arrow) {
            (None, _) if by_root => wrong.push(format!("{place} comes from the facade, and nobody imports that")),
            (Some(target), Some(arrow)) => {
                let allowed = arrow.to.iter().chain([&arrow.from]).any(|to| target.starts_with(to));
                if !allowed && !here.starts_with(target) {
                    let (from, to) = (arrow.from.join("/"), target.join("/"));
                    wrong.push(format!("{place}: `{from}` may not import `{to}`"));
                }
            }
            (Some(target), None) if !target.starts_with(&here) => {
                wrong.push(format!("{place}: `{}` has no row in the table", here.join("/")));
            }
            // Something of a module written in the same file, or of one below it.
            (None, _) | (Some(_), None) => {}
        }
    }
    wrong
}

fn runtime() -> Vec<Source> {
    let mut files = sources("runtime/src");
    files.retain(|file| {
        let is_face = ["lib.rs", "__private.rs"].iter().any(|name| file.path == format!("{RUNTIME}{name}"))
            || file.path.starts_with(&format!("{RUNTIME}__private/"));
        !file.is_test() && !is_face
    });
    files
}

fn architecture() -> String {
    std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

#[test]
fn every_import_of_the_runtime_follows_an_arrow() {
    let (files, arrows) = (runtime(), arrows(&architecture()));
    let modules = modules(&files);
    let wrong: Vec<_> = files.iter().flat_map(|file| violations(file, &arrows, &modules)).collect();
    assert!(wrong.is_empty(), "the table of arrows is in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

#[test]
fn the_table_names_modules_that_exist_and_has_no_way_round() {
    let (files, arrows) = (runtime(), arrows(&architecture()));
    let modules = modules(&files);
    assert!(arrows.len() > 10, "the table was read");
    for arrow in &arrows {
        for module in arrow.to.iter().chain([&arrow.from]) {
            assert!(modules.contains(module), "`{}` is in the table and not in the tree", module.join("/"));
        }
    }
    // Following the arrows never leads back.
    for start in &arrows {
        let (mut seen, mut next) = (BTreeSet::new(), start.to.clone());
        while let Some(to) = next.pop() {
            assert!(!start.from.starts_with(&to), "`{}` is reached from itself", start.from.join("/"));
            let further = arrows.iter().filter(|arrow| arrow.from.starts_with(&to));
            for arrow in further {
                if seen.insert(arrow.from.clone()) {
                    next.extend(arrow.to.iter().cloned());
                }
            }
        }
    }
}

#[test]
fn a_wrong_import_is_found() {
    let table = "<!-- arrows -->\n| from | may import |\n|---|---|\n| `base` | |\n| `call` | `base` |\n\
                 | `strategies/a` | `base`, `call` |\n| `strategies/b` | `base` |\n<!-- /arrows -->";
    let arrows = arrows(table);
    let file = |path: &str, text: &str| Source { path: format!("{RUNTIME}{path}"), text: text.to_owned() };
    let tree =
        ["base/mod.rs", "call/mod.rs", "call/error.rs", "strategies/mod.rs", "strategies/a/mod.rs", "strategies/b.rs"];
    let modules = modules(&tree.map(|path| file(path, "")));
    let count = |path: &str, text: &str| violations(&file(path, text), &arrows, &modules).len();
    assert_eq!(count("call/error.rs", "use crate::base::X; use super::Y; use crate::call::Z;"), 0);
    assert_eq!(count("base/mod.rs", "use crate::call::X;"), 1, "upwards");
    assert_eq!(count("strategies/a/mod.rs", "use crate::strategies::b::X;"), 1, "a sibling");
    assert_eq!(count("strategies/a/mod.rs", "use super::b::X;"), 1, "a sibling, by super");
    assert_eq!(count("strategies/a/guard.rs", "use super::super::b::X;"), 1, "a sibling, by super twice");
    assert_eq!(count("strategies/b.rs", "use crate::{base::X, call::{error, Y}};"), 2, "in a tree");
    assert_eq!(count("strategies/b.rs", "fn f() { crate::call::error::g() }"), 1, "in the middle of code");
    assert_eq!(count("strategies/b.rs", "use crate::Error;"), 1, "the facade");
    assert_eq!(count("elsewhere.rs", "use crate::base::X;"), 1, "no row");
    assert_eq!(count("strategies/b.rs", "// use crate::call::X;\n#[cfg(test)] mod tests { use crate::call::X; }"), 0);
}
