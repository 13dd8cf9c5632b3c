//! Any bytes in a header that says how much time is left.
#![no_main]

libfuzzer_sys::fuzz_target!(|value: &[u8]| watertight_fuzz::header(value));
