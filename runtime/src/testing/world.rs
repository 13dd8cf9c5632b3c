//! A world of its own for one test.

use tokio::runtime::Handle;

use crate::call::world::World as Number;

/// A fresh copy of everything that guarded functions share: bulkheads, breakers, retry budgets and figures.
///
/// While it is there, calls that are polled by the tokio runtime it was opened in live in it, those of spawned tasks
/// included: compartments are empty, breakers closed and [`snapshot`](crate::snapshot) at zero, whatever other tests of
/// the process are doing to the same functions. A test with `#[tokio::test]` has a runtime of its own, so
/// one line at its top is all it takes. Calls on other runtimes see nothing of it.
///
/// A call belongs to the world in which it began. The memory of a world is not given back.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use watertight::resilient;
/// use watertight::testing::World;
///
/// #[resilient(bulkhead = "doc-world:1")]
/// async fn hangs() -> Result<(), watertight::Error> {
///     std::future::pending().await
/// }
///
/// let first = tokio::spawn(hangs());
/// tokio::task::yield_now().await;
/// assert_eq!(watertight::snapshot().bulkhead("doc-world").unwrap().running, 1);
///
/// let _world = World::open();
/// assert_eq!(watertight::snapshot().bulkhead("doc-world").unwrap().running, 0);
/// # first.abort();
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a world ends when this is dropped"]
pub struct World(Number);

impl World {
    /// Opens a world for the current runtime. If one is open there already, this one takes its place until it is dropped.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, as `tokio::spawn` does.
    pub fn open() -> Self {
        Self(Number::open(Handle::current().id()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.0.close();
    }
}
