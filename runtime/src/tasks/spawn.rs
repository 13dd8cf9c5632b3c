//! Into a new task, with the deadline.

use std::future::Future;

use tokio::task::JoinHandle;

use crate::strategies::deadline::Carried;

/// Spawns a task that inherits the deadline around the spawning code.
///
/// A plain `tokio::spawn` starts from nothing: a guarded function called in the new task runs on its own settings
/// alone, and [`deadline::remaining`](crate::deadline::remaining) gives `None` there. Here it inherits the deadline, the
/// attempt number and the call id, and a query it makes through an integration ends with the attempt. It does not inherit slots: they stay with the call that holds them, so a call back
/// into a held bulkhead waits like any other. The task is not dropped when the deadline passes; the guarded functions
/// inside it end by it.
///
/// # Panics
///
/// Outside a tokio runtime, as `tokio::spawn` does.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::deadline;
///
/// let inherited = deadline::within(Duration::from_secs(1), async {
///     let plain = tokio::spawn(async { deadline::remaining() }).await.unwrap();
///     assert_eq!(plain, None);
///     watertight::spawn(async { deadline::remaining() }).await.unwrap()
/// })
/// .await
/// .unwrap();
/// assert_eq!(inherited, Some(Duration::from_secs(1)));
/// # }
/// ```
pub fn spawn<F>(body: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(Carried::from_here(body))
}
