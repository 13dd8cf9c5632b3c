//! Every source file opens with an essay: what it is for, before what it does.
//!
//! Files that are there to be refused or accepted by the compiler, line by line, are material and not source.

use crate::source::{Source, sources};

fn opens_with_an_essay(file: &Source) -> bool {
    let first = file.text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|words| words.split_whitespace().count() >= 2 || first.ends_with('.'))
}

#[test]
fn every_source_file_opens_with_an_essay() {
    let files =
        ["macros/src", "runtime/src", "examples/src", "soak/src", "fuzz", "tests"].into_iter().flat_map(sources);
    let files = files.filter(|file| !["tests/ui/fail/", "tests/ui/pass/"].iter().any(|it| file.path.starts_with(it)));
    let without: Vec<_> = files.filter(|file| !opens_with_an_essay(file)).map(|file| file.path).collect();
    assert!(without.is_empty(), "these say nothing before they begin: {without:?}");
}

#[test]
fn a_file_without_one_is_found() {
    let says = |text: &str| opens_with_an_essay(&Source { path: String::new(), text: text.to_owned() });
    assert!(says("//! What this is for.\nuse x;"));
    assert!(!says("use x;"));
    assert!(!says("// A comment.\nuse x;"));
    assert!(!says("//!\nuse x;"));
    assert!(!says(""));
}
