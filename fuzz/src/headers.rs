//! Any bytes in a header that says how much time is left.
//!
//! Invariants: nothing panics; what is read and written again is never more than it was, and can be read.

use super::{read_grpc, read_millis, write_grpc, write_millis};

/// Panics if an invariant does not hold.
pub(crate) fn check(value: &[u8]) {
    if let Some(nanos) = read_millis(value) {
        assert!(value.iter().all(u8::is_ascii_digit) && !value.is_empty(), "more than digits: {value:?}");
        let written = write_millis(nanos);
        let again = read_millis(written.as_bytes());
        assert!(again.is_some_and(|again| again <= nanos && nanos - again < 1_000_000), "{value:?} became {written:?}");
    }
    if let Some(nanos) = read_grpc(value) {
        assert!(value.len() <= 9, "more than eight digits and a unit: {value:?}");
        let written = write_grpc(nanos);
        assert!(written.len() <= 9, "{value:?} became {written:?}");
        assert!(read_grpc(written.as_bytes()).is_some_and(|again| again <= nanos), "{value:?} became {written:?}");
    }
}

#[test]
fn everything_in_the_corpus_is_read_without_harm() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/headers");
    let files = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let values: Vec<Vec<u8>> = files.filter_map(|file| std::fs::read(file.ok()?.path()).ok()).collect();
    assert!(values.len() >= 15, "the corpus is gone: {} files", values.len());
    for value in &values {
        check(value);
    }
}
