//! What stands in two crates because neither can import the other stands there letter for letter.

use crate::source::root;

#[test]
fn the_attribute_and_the_runtime_have_the_same_limits_and_read_figures_alike() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect(path);
    for (file, holds) in [("limits.rs", "MOST_SLOTS"), ("units.rs", "fn nanos")] {
        let (macros, runtime) = (read(&format!("macros/src/{file}")), read(&format!("runtime/src/declaration/{file}")));
        assert!(macros.contains(holds), "the file was read");
        assert_eq!(macros, runtime, "macros/src/{file} and runtime/src/declaration/{file} are one file");
    }
}
