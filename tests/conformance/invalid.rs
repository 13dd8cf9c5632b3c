//! Definitions that are refused, by the compiler.
//!
//! What the peer refuses when an application starts does not compile here. Each row names the case of `tests/ui/fail`
//! whose source is the mistake, and the words of what is said about it. That the compiler says exactly this is what
//! `tests/ui` proves; a row fails when its case is gone, or says something else.
//!
//! Invariants: every case of a row has its own mistake in an attribute, and is an error.

use std::fs;
use std::path::Path;

use crate::harness::{Entry, entry};

pub(crate) fn rows() -> Vec<Entry> {
    let whole = "does not compile";
    let no_fallback = "this fallback does not fit a function that returns";
    vec![
        refused(
            "IV-01",
            "does not compile; a closure for the handler",
            "fallback_closure_with_wrong_value",
            no_fallback,
        ),
        refused("IV-02", whole, "fallback_with_wrong_value", no_fallback),
        refused(
            "IV-03",
            whole,
            "fallback_with_wrong_argument",
            "it may be `fn() -> u64`, `fn(watertight::Failure<watertight::Error>) -> u64`",
        ),
        refused(
            "IV-04",
            "does not compile; one key for both kinds of fallback",
            "fallback_twice",
            "`fallback` is given twice",
        ),
        refused("IV-05", whole, "on_a_sync_function", "`get` is not async"),
        refused(
            "IV-06",
            "differs: a block leaves methods alone that are not async; one without others does not compile",
            "block_without_async",
            "there is no async method in this block",
        ),
        refused("IV-07", whole, "negative_slots", "`-1` cannot be the number of slots"),
        refused("IV-08", whole, "negative_queue", "`-1` cannot be the length of the queue"),
        refused(
            "IV-09",
            "a negative cooldown, as its name says; the share it tests in fact is IV-10",
            "negative_cooldown",
            "`cooldown = \"-1s\"`: a duration cannot be negative",
        ),
        refused("IV-10", "a percentage for a ratio", "negative_share", "a share cannot be negative"),
        refused("IV-11", "a percentage for a ratio", "share_beyond_all", "it has to be from 0.1% to 100%"),
        refused("IV-12", whole, "window_of_nothing", "`window = 0`: it has to be a whole number from 1"),
        refused("IV-13", whole, "negative_calls", "`min_calls = -1`: it has to be a whole number from 1"),
        refused("IV-14", whole, "no_probes", "`probes = 0`: it has to be a whole number from 1"),
        refused("IV-15", whole, "negative_probes", "`probes = -1`: it has to be a whole number from 1"),
        refused("IV-16", whole, "negative_pause", "`first = \"-1ms\"`: a duration cannot be negative"),
        refused("IV-17", whole, "pause_beyond_duration", "the longest pause could not end before this"),
        refused("IV-18", whole, "negative_jitter", "`jitter = \"-1ms\"`: a duration cannot be negative"),
        refused(
            "IV-19",
            "does not compile; neither does -1, since nothing is tried for ever",
            "negative_retries",
            "`retry = -3`: it has to be a whole number from 1 to 100",
        ),
        refused("IV-20", whole, "negative_duration", "`timeout = \"-1s\"`: a duration cannot be negative"),
    ]
}

/// A row that a case of `tests/ui/fail` stands for.
pub(crate) fn refused(id: &'static str, how: &'static str, case: &'static str, words: &'static str) -> Entry {
    entry(id, how, &format!("ui/fail/{case}"), move || assert_refused(case, words))
}

/// The case is there, is about the attribute, and the compiler says this about it.
pub(crate) fn assert_refused(case: &str, words: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/fail");
    let read = |extension| fs::read_to_string(folder.join(case).with_extension(extension));
    let source = read("rs").expect("the case is there");
    let said = read("stderr").expect("what the compiler says about it has been recorded");
    assert!(source.contains("#[resilient("), "{case} is about the attribute");
    assert!(said.starts_with("error") && said.contains(words), "{case} says something else than {words:?}:\n{said}");
}
