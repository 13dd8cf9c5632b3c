//! Any attribute on any item: the macro has an answer, and the answer is Rust.
//!
//! The first line is the attribute's arguments, the rest the item; without a rest it is a small function.
//!
//! Invariants: no panic inside of the macro, which it would turn into a message about itself; what is written out can be
//! parsed where the item could.

use proc_macro2::TokenStream;

use crate::attribute::expansion;

const FUNCTION: &str = "async fn get(id: u64) -> Result<u8, Error> { body().await }";

/// Panics if an invariant does not hold.
pub(crate) fn check(text: &str) {
    let (attribute, item) = text.split_once('\n').unwrap_or((text, ""));
    let item = if item.trim().is_empty() { FUNCTION } else { item };
    // What is not made of tokens never reaches a macro.
    let (Ok(attribute), Ok(item)) = (attribute.parse::<TokenStream>(), item.parse::<TokenStream>()) else { return };
    let parses = syn::parse2::<syn::File>(item.clone()).is_ok();
    let expanded = expansion(attribute, item);
    assert!(!expanded.to_string().contains("which is a bug in watertight"), "the macro panicked: {text:?}");
    let rust = syn::parse2::<syn::File>(expanded);
    assert!(rust.is_ok() || !parses, "no Rust comes out of it: {text:?}: {:?}", rust.err());
}

#[test]
fn everything_in_the_corpus_has_an_answer_that_is_rust() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/attribute");
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let texts: Vec<String> = files
        .filter_map(|file| std::fs::read(file.ok()?.path()).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    assert!(texts.len() >= 20, "the corpus is gone: {} files", texts.len());
    for text in &texts {
        check(text);
    }
}
