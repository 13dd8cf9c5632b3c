//! The runtime has one clock, does not block its thread, and does not panic on purpose.
//!
//! A paused test clock drives everything only as long as nobody asks another one. And a guard that panics while it
//! protects a call has turned a refusal into an outage.

use crate::source::{Source, code, paths, sources};

/// Paths that are not to be named.
const PATHS: [&str; 3] = ["std::time::Instant", "std::time::SystemTime", "std::thread::sleep"];
/// Code that is not to be written.
const WORDS: [&str; 7] =
    [".unwrap()", ".expect(", "panic!(", "thread::sleep(", "SystemTime::", "todo!(", "unimplemented!("];

fn found(file: &Source) -> Vec<String> {
    let code = code(&file.text);
    let named = paths(&code, &["std", "core"]);
    let by_path = named.iter().filter(|it| PATHS.iter().any(|path| it.segments.join("::").starts_with(path)));
    let mut found: Vec<_> =
        by_path.map(|it| format!("{}:{}: {}", file.path, it.line, it.segments.join("::"))).collect();
    for (number, line) in code.lines().enumerate() {
        let words = WORDS.iter().filter(|word| line.contains(*word));
        found.extend(words.map(|word| format!("{}:{}: {word}", file.path, number + 1)));
    }
    found
}

#[test]
fn the_runtime_asks_one_clock_and_neither_blocks_nor_panics() {
    let files = sources("runtime/src");
    let found: Vec<_> = files.iter().filter(|file| !file.is_test()).flat_map(found).collect();
    assert!(found.is_empty(), "not in the runtime:\n{}", found.join("\n"));
}

#[test]
fn what_is_banned_is_found_and_what_only_looks_like_it_is_not() {
    let count = |text: &str| found(&Source { path: String::new(), text: text.to_owned() }).len();
    assert_eq!(count("use std::time::{Duration, Instant};"), 1);
    assert_eq!(count("use std::time::SystemTime;"), 1);
    assert_eq!(count("std::thread::sleep(x);"), 2, "as a path and as a call");
    assert_eq!(count("a.unwrap(); b.expect(c); panic!(d)"), 3);
    assert_eq!(count("use std::time::Duration; use tokio::time::Instant; std::thread::panicking()"), 0);
    assert_eq!(count("a.unwrap_or(b); a.unwrap_or_else(b); a.expect_err(b); // .unwrap()\n\".expect(\""), 0);
    assert_eq!(count("#[cfg(test)]\nmod tests { fn f() { a.unwrap() } }"), 0);
}
