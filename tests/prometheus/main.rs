//! The figures and the rules, read by those for whom they are written: Debian's `prometheus` and its `promtool`.
//!
//! | module | what it holds |
//! |---|---|
//! | `accepts` | `promtool` finds nothing wrong with the rules and the page |
//! | `outage` | a real Prometheus scrapes a service: no alert before an outage, the right one in it, none after |
//!
//! Real time and real sockets, on loopback alone. Where there is no Prometheus the tests say so and pass, unless
//! `WATERTIGHT_REQUIRE_SERVICES=1` is set, as in CI.

mod accepts;
mod outage;

use std::path::PathBuf;

/// Whether a program is there; where services are required, it has to be.
fn there_is(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).exists());
    if !found {
        let required = std::env::var_os("WATERTIGHT_REQUIRE_SERVICES").is_some_and(|it| it == "1");
        assert!(!required, "WATERTIGHT_REQUIRE_SERVICES=1, and there is no `{program}`");
        eprintln!("skipped: there is no `{program}` here");
    }
    found
}

/// A folder of this run, beside what was built.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("prometheus-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
