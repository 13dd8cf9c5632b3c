//! A dependency that hangs until it is told to recover.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::watch;

/// A dependency that accepts every call and answers none, until it [recovers](Hung::recover).
///
/// For fakes: a client that a test puts in the place of the real one awaits [`call`](Hung::call) and then answers. It
/// knows how many are inside, which is what a hung service costs its callers.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::testing::Hung;
///
/// let vendor = Hung::default();
/// let answer = tokio::time::timeout(Duration::from_millis(300), vendor.call()).await;
/// assert!(answer.is_err(), "it never answers");
/// assert_eq!(vendor.inside(), 0, "and whoever gave up is gone");
/// vendor.recover();
/// vendor.call().await;
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Hung {
    recovered: watch::Sender<bool>,
    inside: AtomicUsize,
}

impl Hung {
    /// Returns once it has recovered.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves; nothing else is held.
    pub async fn call(&self) {
        struct Inside<'a>(&'a AtomicUsize);

        impl Drop for Inside<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }

        self.inside.fetch_add(1, Ordering::SeqCst);
        let _inside = Inside(&self.inside);
        // Fails only when the sender is gone, and `self` holds it.
        let _ = self.recovered.subscribe().wait_for(|recovered| *recovered).await;
    }

    /// How many are inside.
    pub fn inside(&self) -> usize {
        self.inside.load(Ordering::SeqCst)
    }

    /// Answers everyone inside and everyone to come.
    pub fn recover(&self) {
        self.recovered.send_replace(true);
    }
}
