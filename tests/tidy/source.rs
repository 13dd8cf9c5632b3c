//! Reading source files: which there are, and what of their text is code.

use std::fs;
use std::path::{Path, PathBuf};

/// The top of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a member stands inside the workspace").to_owned()
}

/// One source file.
pub(crate) struct Source {
    /// Its path from the top, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every Rust file below a folder, in order.
pub(crate) fn sources(folder: &str) -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root().join(folder), &mut found);
    assert!(!found.is_empty(), "nothing below {folder}");
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let below = path.strip_prefix(root()).expect("below the top");
            let shown = below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            found.push(Source { path: shown, text: fs::read_to_string(&path).expect("readable") });
        }
    }
}

impl Source {
    /// Whether it is a file of tests beside the code.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.ends_with("_tests.rs") || self.path.contains("/tests/")
    }
}

/// The rows of the Markdown table between `<!-- name -->` and `<!-- /name -->`, cells trimmed, without its head.
pub(crate) fn table(text: &str, name: &str) -> Vec<Vec<String>> {
    let (open, close) = (format!("<!-- {name} -->"), format!("<!-- /{name} -->"));
    let inside = text.split_once(&open).and_then(|(_, rest)| rest.split_once(&close)).map(|(inside, _)| inside);
    let inside = inside.unwrap_or_else(|| panic!("no table between {open} and {close}"));
    let rows = inside.lines().filter_map(|line| line.trim().strip_prefix('|')?.strip_suffix('|'));
    rows.skip(2).map(|row| row.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The words in backticks.
pub(crate) fn ticked(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The text with everything that is not code made blank: comments, literals, and modules of tests. Line breaks stay, so
/// that a line keeps its number.
pub(crate) fn code(text: &str) -> String {
    without_test_modules(&without_literals(text))
}

/// Blanks comments and the insides of string and character literals.
fn without_literals(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let keep_breaks = |from: usize, to: usize, out: &mut String| {
        out.extend(chars[from..to.min(chars.len())].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
    };
    while at < chars.len() {
        let rest = &chars[at..];
        let end = match rest {
            ['/', '/', ..] => at + rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
            ['/', '*', ..] => {
                at + rest.windows(2).position(|two| two == ['*', '/']).map_or(rest.len(), |found| found + 2)
            }
            ['"', ..] => at + string_length(rest),
            ['r', '#' | '"', ..] if at == 0 || !is_word(chars[at - 1]) => match raw_string_length(rest) {
                Some(length) => at + length,
                None => at,
            },
            ['\'', '\\', ..] => at + 2 + rest[2..].iter().skip(1).position(|&c| c == '\'').map_or(0, |found| found + 2),
            ['\'', _, '\'', ..] => at + 3,
            _ => at,
        };
        if end > at {
            keep_breaks(at, end, &mut out);
            at = end;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn string_length(rest: &[char]) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != '"' {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

fn raw_string_length(rest: &[char]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&c| c == '#').count();
    if rest.get(1 + hashes) != Some(&'"') {
        return None;
    }
    let close: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = 2 + hashes;
    let found = rest[body..].windows(close.len()).position(|window| window == close)?;
    Some(body + found + close.len())
}

/// Blanks `#[cfg(test)] mod … { … }`, whatever else stands in the `cfg`.
fn without_test_modules(text: &str) -> String {
    let mut out = text.to_owned();
    let mut from = 0;
    while let Some(found) = out[from..].find("#[cfg(") {
        let at = from + found;
        from = at + 1;
        let Some(close) = out[at..].find(']').map(|close| at + close + 1) else { break };
        let is_test = out[at..close].split(|c: char| !is_word(c)).any(|word| word == "test");
        let after = out[close..].trim_start();
        let is_module =
            after.starts_with("mod ") || after.starts_with("pub mod ") || after.starts_with("pub(crate) mod ");
        let head = out[close..].find(['{', ';']).map(|head| close + head);
        let (true, true, Some(head)) = (is_test, is_module, head) else { continue };
        let end = if out.as_bytes()[head] == b';' { head + 1 } else { head + braces_length(&out[head..]) };
        let blank: String = out[at..end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect();
        out.replace_range(at..end, &blank);
        from = at;
    }
    out
}

/// The length of a block, from its opening brace to behind its closing one.
fn braces_length(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// A path in the code, in its segments, and the line it begins on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

/// Every path that begins with one of `heads`, in `use` trees and in the middle of code alike; a tree in braces is taken
/// apart into its branches.
pub(crate) fn paths(code: &str, heads: &[&str]) -> Vec<Named> {
    let chars: Vec<char> = code.chars().collect();
    let (mut found, mut line, mut at) = (Vec::new(), 1, 0);
    while at < chars.len() {
        if chars[at] == '\n' {
            line += 1;
        }
        let begins_word = is_word(chars[at]) && (at == 0 || !is_word(chars[at - 1]));
        // `$crate::` is a macro's, and what follows a `::` is in the middle of a path.
        let is_head = begins_word && !(at > 0 && matches!(chars[at - 1], ':' | '$'));
        let word: String = chars[at..].iter().take_while(|&&c| is_word(c)).collect();
        if is_head && heads.contains(&word.as_str()) {
            let mut branches = Vec::new();
            let end = tree(&chars, at, &mut Vec::new(), &mut branches);
            found.extend(branches.into_iter().filter(|path| path.len() > 1).map(|segments| Named { segments, line }));
            line += chars[at..end].iter().filter(|&&c| c == '\n').count();
            at = end;
        } else if begins_word {
            at += word.chars().count();
        } else {
            at += 1;
        }
    }
    found
}

/// Reads a use tree from `at` on; returns where it ends.
fn tree(chars: &[char], mut at: usize, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let depth = prefix.len();
    loop {
        while at < chars.len() && chars[at].is_whitespace() {
            at += 1;
        }
        if chars.get(at) == Some(&'{') {
            at += 1;
            loop {
                at = tree(chars, at, prefix, found);
                while at < chars.len() && chars[at].is_whitespace() {
                    at += 1;
                }
                match chars.get(at) {
                    Some(',') => at += 1,
                    Some('}') => break at += 1,
                    _ => break,
                }
            }
            break;
        }
        let word: String = chars[at..].iter().take_while(|&&c| is_word(c)).collect();
        if word.is_empty() {
            break;
        }
        at += word.chars().count();
        if word != "self" || prefix.is_empty() {
            prefix.push(word);
        }
        if chars.get(at..at + 2) != Some(&[':', ':']) {
            found.push(prefix.clone());
            break;
        }
        at += 2;
        if matches!(chars.get(at), Some('<' | '*')) {
            found.push(prefix.clone());
            break;
        }
    }
    prefix.truncate(depth);
    // `as name` belongs to the branch.
    let rest: String = chars[at..].iter().take(4).collect();
    if rest == " as " {
        at += 4;
        while chars.get(at).is_some_and(|&c| is_word(c)) {
            at += 1;
        }
    }
    at
}

#[test]
fn literals_comments_and_test_modules_are_not_code() {
    let text = "a(\"b // c\"); // d\nlet e = 'f'; let g: &'h str = r#\"i\"#; /* j\n */ k\n#[cfg(test)]\nmod tests {\n l {}\n}\nm";
    let code = code(text);
    assert_eq!(code.lines().count(), text.lines().count());
    let words: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words, "a( ); let e = ; let g: &'h str = ; k m");
}

#[test]
fn paths_are_found_in_trees_and_in_code() {
    let code = "use crate::a::{self, B, c::{D, E as F}};\nfn f(x: crate::g::H) { crate::i::j::<K>(super::L) }";
    let found: Vec<_> =
        paths(code, &["crate", "super"]).into_iter().map(|it| (it.segments.join("::"), it.line)).collect();
    let expected = [
        ("crate::a", 1),
        ("crate::a::B", 1),
        ("crate::a::c::D", 1),
        ("crate::a::c::E", 1),
        ("crate::g::H", 2),
        ("crate::i::j", 2),
        ("super::L", 2),
    ];
    assert_eq!(found, expected.map(|(path, line)| (path.to_owned(), line)));
}
