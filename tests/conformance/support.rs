//! What the rows of every section say the same way.
//!
//! Invariants: a count belongs to one row; nothing here waits for ever.

use std::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use watertight::settings::{Mistakes, Outside};
use watertight_tests::AppError;

/// The error of the service itself: in most rows the one that is tried again, counted and answered for.
pub(crate) const TEST: AppError = AppError::Broken("test");

/// Another error of the service.
pub(crate) const IO: AppError = AppError::Broken("io");

pub(crate) fn is_test(error: &AppError) -> bool {
    error.broken() == Some("test")
}

pub(crate) fn is_io(error: &AppError) -> bool {
    error.broken() == Some("io")
}

/// How often a body was run.
#[derive(Debug, Default)]
pub(crate) struct Runs(AtomicU32);

impl Runs {
    /// One more; the first is 1.
    pub(crate) fn next(&self) -> u32 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn count(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Puts settings in force, in the caller's own world: a file's text, and variables above it.
///
/// # Panics
///
/// When there is a mistake in them.
pub(crate) fn set(id: &str, text: &str, variables: &[(&str, &str)]) {
    try_set(id, text, variables).unwrap_or_else(|mistakes| panic!("{id}: {mistakes}"));
}

/// The same, told what is wrong with them.
pub(crate) fn try_set(id: &str, text: &str, variables: &[(&str, &str)]) -> Result<(), Mistakes> {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{id}.toml"));
    std::fs::write(&path, text).expect("a folder for tests");
    Outside::file(path).variables(variables.iter().copied()).load()
}

/// Lets every task run that can, without a step of the clock.
pub(crate) async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

/// Runs something on threads of its own, with a clock that goes, for rows that only threads can show.
///
/// # Panics
///
/// When it does.
pub(crate) fn on_threads<F: Future<Output = ()> + Send + 'static>(work: F) {
    let threads = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_time().build();
        runtime.expect("a runtime").block_on(work);
    });
    threads.join().expect("no panic");
}
