//! A settings file that is looked at every second, and applied when it has changed.
//!
//! **Why looking, and not being told.** What the kernel tells (inotify and its like) is about one file of one machine. An editor
//! puts a new file in its place, an orchestrator turns a link to another folder, a network's file system says nothing. Each
//! needs a case of its own, and whoever misses one goes on with old settings for days. Reading a few kilobytes once a
//! second sees all of them, costs some microseconds, and has one way to go wrong: being a second late.
//!
//! The text is compared, not its time: two changes in one tick of a file system are one reading, and a file that was touched
//! and says the same changes nothing.
//!
//! Invariants: a file that is wrong, gone or half written changes nothing and is told once; nothing blocks the runtime; the task
//! ends when its handle is dropped.

use std::path::PathBuf;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::mistake::Mistakes;
use super::outside::Outside;

/// How often the file is looked at.
const EVERY: Duration = Duration::from_secs(1);

/// A file under watch, until it is dropped. What it has said last stays in force then.
#[derive(Debug)]
#[must_use = "dropped, it watches no more"]
pub struct Watching {
    task: JoinHandle<()>,
}

impl Watching {
    /// Watches for as long as the runtime lives.
    pub fn forever(self) {
        std::mem::forget(self);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The text of the file, or why there is none, told apart by its words.
type Seen = Option<(PathBuf, Result<String, String>)>;

impl Outside {
    /// Loads, and loads again whenever the file has changed, which is looked at every second.
    ///
    /// What is wrong with a change is in [`rejected`](super::rejected()), in the findings of [`check`](crate::check()) and on the dashboard.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load); then nothing is watched.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn watch(self) -> Result<Watching, Mistakes> {
        let first = self.read();
        self.apply(first.as_ref().map(|(path, text)| (path.as_path(), text.as_ref())))?;
        let mut seen = as_seen(first.as_ref());
        let task = tokio::spawn(async move {
            let mut ticks = interval(EVERY);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let outside = self.clone();
                let Ok(read) = tokio::task::spawn_blocking(move || outside.read()).await else { return };
                let now = as_seen(read.as_ref());
                if now != seen {
                    seen = now;
                    let read = read.as_ref().map(|(path, text)| (path.as_path(), text.as_ref()));
                    if let Err(mistakes) = self.apply(read) {
                        super::live::note("the settings", format!("a change was not applied: {mistakes}"));
                    }
                }
            }
        });
        Ok(Watching { task })
    }
}

fn as_seen(read: Option<&(PathBuf, Result<String, std::io::Error>)>) -> Seen {
    read.map(|(path, text)| {
        let text = text.as_ref().map_err(ToString::to_string);
        (path.clone(), text.cloned())
    })
}

/// Loads a file and keeps it under watch: see [`Outside::watch`].
///
/// ```no_run
/// # async fn main_task() -> Result<(), watertight::settings::Mistakes> {
/// let _watching = watertight::settings::watch("watertight.toml")?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Every mistake in it; then nothing changes and nothing is watched.
///
/// # Panics
///
/// Outside a tokio runtime.
pub fn watch(path: impl Into<PathBuf>) -> Result<Watching, Mistakes> {
    Outside::file(path).watch()
}
