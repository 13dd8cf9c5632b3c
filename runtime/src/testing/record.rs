//! The steps of the calls inside a future, in order.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::call::Event;
use crate::call::watch::swap_trace;

pin_project! {
    /// The future of [`record`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Recording<F> {
        #[pin]
        body: F,
        events: Vec<Event>,
    }
}

/// Runs a future and returns, with its output, every step that guarded calls took while it was polled.
///
/// Tasks that it spawns are not part of it; calls it awaits, joins or selects are.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use watertight::testing::record;
/// use watertight::{Event, resilient};
///
/// #[resilient(timeout = "1s", bulkhead = "doc-record:1")]
/// async fn quick() -> Result<u32, watertight::Error> {
///     Ok(7)
/// }
///
/// let (answer, events) = record(quick()).await;
/// assert_eq!(answer.unwrap(), 7);
/// assert_eq!(
///     events,
///     [
///         Event::CallBegun,
///         Event::SlotTaken,
///         Event::BodyStarted,
///         Event::BodyReturned,
///         Event::SlotFreed,
///         Event::CallEnded,
///     ]
/// );
/// # }
/// ```
pub fn record<F: Future>(body: F) -> Recording<F> {
    Recording { body, events: Vec::new() }
}

/// Puts the outer list back, and ours away, also when the body panics.
struct Swapped<'a> {
    outer: Option<Vec<Event>>,
    events: &'a mut Vec<Event>,
}

impl Drop for Swapped<'_> {
    fn drop(&mut self) {
        *self.events = swap_trace(self.outer.take()).unwrap_or_default();
    }
}

impl<F: Future> Future for Recording<F> {
    type Output = (F::Output, Vec<Event>);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let ours = std::mem::take(this.events);
        let swapped = Swapped { outer: swap_trace(Some(ours)), events: this.events };
        let polled = this.body.poll(cx);
        drop(swapped);
        let output = ready!(polled);
        Poll::Ready((output, std::mem::take(this.events)))
    }
}
