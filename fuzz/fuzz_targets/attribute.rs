//! Any attribute on any item.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| watertight_fuzz::attribute_text(text));
