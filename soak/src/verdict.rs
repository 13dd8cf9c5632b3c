//! The first thing that did not hold. It ends the run.
//!
//! Invariant: the first verdict stays; what follows from it is not reported.

use std::sync::OnceLock;

static FIRST: OnceLock<String> = OnceLock::new();

/// Notes what did not hold.
pub(crate) fn holds(held: bool, what: impl FnOnce() -> String) {
    if !held {
        let _ = FIRST.set(what());
    }
}

/// What did not hold, if anything.
pub(crate) fn broken() -> Option<&'static str> {
    FIRST.get().map(String::as_str)
}

/// Notes every panic that nobody planned.
pub(crate) fn watch_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !info.payload().is::<crate::body::Planned>() {
            holds(false, || format!("a panic that nobody planned: {info}"));
            usual(info);
        }
    }));
}
