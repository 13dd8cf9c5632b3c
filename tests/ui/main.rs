//! What the compiler says about every mistake, and what it accepts.
//!
//! A file in `fail` is one mistake and named after it; its `.stderr` is what a user reads, reviewed line by line. After a
//! change of wording, `TRYBUILD=overwrite cargo test --test ui` writes them anew, for the next review.

use std::fs;

#[test]
fn every_mistake_is_explained() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}

/// One mistake is one error; the exceptions are whole collections of mistakes.
#[test]
fn one_mistake_is_one_error() {
    for (name, said) in told() {
        let errors = said.matches("\nerror").count() + usize::from(said.starts_with("error"));
        let several = name.starts_with("body_") || ["lints_still_fire", "three_mistakes_at_once"].contains(&&*name);
        let methods = if name == "block_method_without_an_error" { 2 } else { 1 };
        assert!(several || errors == methods, "{name}: {errors} errors\n{said}");
        assert!(!said.contains("__wt_") && !said.contains("__WT"), "{name} shows our own names\n{said}");
    }
}

/// An error in a body is told where it is, as if there were no attribute.
#[test]
fn body_errors_point_into_the_body() {
    let bare = places("body_bare");
    assert!(bare.len() > 12, "{bare:#?}");
    assert_eq!(places("body_once"), bare);
    assert_eq!(places("body_again"), bare);
    assert_eq!(places("body_beside"), bare);
}

/// Each error of a case with its line and column.
fn places(name: &str) -> Vec<String> {
    let (_, said) = told().into_iter().find(|(known, _)| known == name).expect("the case has been recorded");
    let mut places = Vec::new();
    let mut error = "";
    for line in said.lines() {
        if line.starts_with("error") {
            error = line;
        } else if let (Some(place), false) = (line.trim().strip_prefix("--> "), error.is_empty()) {
            let place = place.split_once(':').map_or(place, |(_, place)| place);
            places.push(format!("{place} {error}"));
            error = "";
        }
    }
    places.sort();
    places
}

/// What was said about each mistake.
fn told() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/ui/fail");
    let files = fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("readable").path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "stderr"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("readable"))
        })
        .collect()
}
