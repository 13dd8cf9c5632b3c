//! Figures from outside the code: files, the environment, overrides while the process runs.
//!
//! Settings belong to the process, and the tests of one binary run side by side. So each test opens a world of its own, in
//! which functions, names and settings are as if nobody else were there.
//!
//! | file | what it holds to the manual |
//! |---|---|
//! | `keys` | each key that can be set, through the attribute it changes |
//! | `precedence` | which source and which scope holds, and what replaces what |
//! | `mistakes` | what is refused, with its line and what to write |
//! | `switches` | strategies switched off and told to observe; the kill switch |
//! | `in_place` | a change while calls wait, run, pause; 1,000 of them under load |
//! | `overrides` | live overrides: their end, the record, the way back into the code |
//! | `watched` | a file that changes |

mod in_place;
mod keys;
mod mistakes;
mod overrides;
mod precedence;
mod switches;
mod watched;

use std::path::PathBuf;

use watertight::settings::{Mistakes, Outside};

/// A file of settings that is this test's alone.
fn file(name: &str, text: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("settings-{name}.toml"));
    std::fs::write(&path, text).expect("a folder for tests");
    path
}

/// Loads a file without an environment.
fn load(name: &str, text: &str) -> Result<(), Mistakes> {
    load_with(name, text, &[])
}

/// Loads a file, and these variables above it.
fn load_with(name: &str, text: &str, variables: &[(&str, &str)]) -> Result<(), Mistakes> {
    Outside::file(file(name, text)).variables(variables.iter().copied()).load()
}
