//! Several tasks that belong together.

use std::future::Future;

use tokio::task::{AbortHandle, JoinError};

use crate::strategies::deadline::Carried;

/// Tasks that inherit the deadline around the code that spawns them, and that end with the set.
///
/// tokio's own set, with the scope carried over as [`spawn`](crate::spawn()) does. It aborts its tasks when it is dropped, so a guarded
/// function that holds it and is cut off leaves none behind.
///
/// # Cancel safety
///
/// [`join_next`](Self::join_next) loses nothing when it is dropped. [`join_all`](Self::join_all) consumes the set: dropped, it aborts all
/// tasks that are left.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::{JoinSet, deadline, resilient};
///
/// #[resilient(timeout = "300ms")]
/// async fn all_shards() -> Result<usize, watertight::Error> {
///     let mut shards = JoinSet::new();
///     for shard in 0..4 {
///         shards.spawn(async move { shard * 10 });
///     }
///     Ok(shards.join_all().await.into_iter().sum())
/// }
///
/// assert_eq!(all_shards().await.unwrap(), 60);
/// # }
/// ```
#[derive(Debug)]
pub struct JoinSet<T>(tokio::task::JoinSet<T>);

impl<T> Default for JoinSet<T> {
    fn default() -> Self {
        Self(tokio::task::JoinSet::new())
    }
}

impl<T> JoinSet<T> {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many tasks are in it, those included that have ended and were not joined.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: 'static> JoinSet<T> {
    /// Spawns a task that inherits the deadline around the spawning code.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as `tokio::spawn` does.
    pub fn spawn<F>(&mut self, body: F) -> AbortHandle
    where
        F: Future<Output = T> + Send + 'static,
        T: Send,
    {
        self.0.spawn(Carried::from_here(body))
    }

    /// The answer of the next task to end; `None` when the set is empty.
    ///
    /// # Errors
    ///
    /// When the task panicked or was aborted.
    pub async fn join_next(&mut self) -> Option<Result<T, JoinError>> {
        self.0.join_next().await
    }

    /// The answers of all tasks, in the order in which they end.
    ///
    /// # Panics
    ///
    /// With the panic of a task that panicked; all others are aborted.
    pub async fn join_all(self) -> Vec<T> {
        self.0.join_all().await
    }

    /// Aborts all tasks; they stay in the set until they are joined.
    pub fn abort_all(&mut self) {
        self.0.abort_all();
    }

    /// Aborts all tasks and waits until they have ended.
    pub async fn shutdown(&mut self) {
        self.0.shutdown().await;
    }

    /// Lets all tasks run on without the set.
    pub fn detach_all(&mut self) {
        self.0.detach_all();
    }

    /// tokio's own set, for what is not offered here.
    pub fn into_inner(self) -> tokio::task::JoinSet<T> {
        self.0
    }
}
