//! No source file has more than 400 lines that are not tests: what does not fit is two things.

use crate::source::{Source, sources};

const MOST: usize = 400;

/// The lines that are not in a module of tests at the end of the file.
fn lines(file: &Source) -> usize {
    let tests = file.text.lines().position(|line| line.starts_with("#[cfg(") && line.contains("test"));
    let is_inline = |at: &usize| file.text.lines().nth(at + 1).is_some_and(|next| next.ends_with('{'));
    tests.filter(is_inline).unwrap_or_else(|| file.text.lines().count())
}

#[test]
fn no_source_file_is_longer_than_four_hundred_lines() {
    let mut files: Vec<_> =
        ["macros/src", "runtime/src", "examples/src", "soak/src"].into_iter().flat_map(sources).collect();
    files.retain(|file| !file.is_test());
    let long: Vec<_> = files.iter().filter(|file| lines(file) > MOST).map(|file| (&file.path, lines(file))).collect();
    assert!(long.is_empty(), "longer than {MOST} lines: {long:?}");
}

#[test]
fn a_long_file_is_found_and_tests_in_it_are_not_counted() {
    let file = |text: String| Source { path: String::new(), text };
    assert_eq!(lines(&file("x\n".repeat(401))), 401);
    let with_tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(300), "y\n".repeat(300));
    assert_eq!(lines(&file(with_tests)), 300);
    assert_eq!(lines(&file(format!("#[cfg(test)]\nmod tests;\n{}", "x\n".repeat(400)))), 402);
}
