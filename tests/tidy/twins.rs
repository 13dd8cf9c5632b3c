//! What stands in two crates because neither can import the other stands there letter for letter.

use crate::source::root;

#[test]
fn the_attribute_and_the_builder_have_the_same_limits() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect(path);
    let (macros, runtime) = (read("macros/src/limits.rs"), read("runtime/src/guard/limits.rs"));
    assert!(macros.contains("MOST_SLOTS"), "the file was read");
    assert_eq!(macros, runtime, "macros/src/limits.rs and runtime/src/guard/limits.rs are one file");
}
