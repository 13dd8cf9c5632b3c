//! A stream that keeps what the function it was made in had: its slot, its limit, its deadline.
//!
//! What is timed, counted and bounded is a function up to its return. A function that returns a stream has returned when its work
//! begins: the slot is free, the timer is off, and the stream runs on for as long as whoever reads it likes. A slow reader of
//! an export holds a database cursor that the bulkhead in front of it believes to be free. So a stream that does the
//! function's work is wrapped where it is made:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! use futures::{Stream, StreamExt, stream};
//! use std::time::Duration;
//! use watertight::{Error, ErrorKind, resilient, stream::keep};
//!
//! #[resilient(timeout = "300ms", bulkhead = "doc-export:1")]
//! async fn export() -> Result<impl Stream<Item = Result<u32, Error>>, Error> {
//!     let rows = stream::iter(0..10).then(|row| async move {
//!         tokio::time::sleep(Duration::from_millis(100)).await;
//!         Ok(row)
//!     });
//!     Ok(keep(rows))
//! }
//!
//! let mut rows = std::pin::pin!(export().await.unwrap());
//! assert_eq!(rows.next().await.unwrap().unwrap(), 0);
//! assert_eq!(export().await.err().unwrap().kind(), ErrorKind::BulkheadFull); // the slot is still taken
//! rows.next().await.unwrap().unwrap();
//! assert_eq!(rows.next().await.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
//! assert!(rows.next().await.is_none());
//! assert!(export().await.is_ok()); // and now it is free
//! # }
//! ```
//!
//! **The call is over all the same.** It has its fate and its place in the figures when the function returns; breakers and retries know
//! nothing of the stream. What the stream does to others is what is bounded: the slot shows as running until it ends, and the
//! limit that the function had holds for the function and the stream together.
//!
//! **A limit has to be said**, or half a file would look like a whole one. So the items are `Result`s, and the last one is the error.
//!
//! Invariants: the inner stream is polled and dropped in the context of the function that made it; it is dropped, and the slot
//! given back, before the limit's error is handed out, and when it ends by itself; what was asked for in time is handed out.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use pin_project_lite::pin_project;
use tokio::task::unconstrained;
use tokio::time::{Sleep, sleep_until};

use crate::base::clock::Moment;
use crate::call::context::Ambient;
use crate::call::{Detail, Error};
use crate::strategies::bulkhead::Keep;

/// Keeps the slot, the limit and the deadline of the running function until the stream ends.
///
/// To be called inside the guarded function, where the stream is made. The slot is kept until the stream has ended, has reached the limit, or is
/// dropped. At the limit, the `timeout` of the attempt or the deadline around it, the stream inside is dropped, and what
/// follows is an [`Error`] of kind [`TimedOut`](crate::ErrorKind::TimedOut) or [`Deadline`](crate::ErrorKind::Deadline) as
/// the last item. Outside of every guarded function it keeps the deadline of the scope, if there is one.
///
/// One slot is kept once: of two streams made in one call, the first has it.
///
/// A reader that has stopped to ask keeps the slot until it asks again or drops the stream: nothing here runs by itself.
///
/// Calls that the stream makes back into the same bulkhead run in the slot it keeps, as they would in the function.
///
/// # Panics
///
/// When polled outside a tokio runtime with its timer enabled, under a limit, and not ready at once.
///
/// # Cancel safety
///
/// Dropping it drops the stream inside and gives the slot back.
pub fn keep<S, T, E>(stream: S) -> Kept<S>
where
    S: Stream<Item = Result<T, E>>,
    E: From<Error>,
{
    let context = Ambient::here();
    Kept { inner: Some(stream), timer: None, slot: Keep::of_this_call(), context, made: Moment::now() }
}

pin_project! {
    /// The stream of [`keep`].
    #[must_use = "streams do nothing unless polled"]
    pub struct Kept<S> {
        // Until it has ended.
        #[pin]
        inner: Option<S>,
        #[pin]
        timer: Option<Sleep>,
        slot: Option<Keep>,
        context: Ambient,
        made: Moment,
    }

    impl<S> PinnedDrop for Kept<S> {
        fn drop(this: Pin<&mut Self>) {
            this.end();
        }
    }
}

impl<S> Kept<S> {
    /// Drops the stream in its context, then the slot.
    fn end(self: Pin<&mut Self>) {
        let mut this = self.project();
        if this.inner.is_some() {
            let scope = this.context.enter();
            this.inner.set(None);
            drop(scope);
        }
        *this.slot = None;
        this.timer.set(None);
    }
}

impl<S, T, E> Stream for Kept<S>
where
    S: Stream<Item = Result<T, E>>,
    E: From<Error>,
{
    type Item = Result<T, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.as_mut().project();
        let Some(inner) = this.inner.as_pin_mut() else { return Poll::Ready(None) };
        let end = this.context.end();
        // Asked before and not after: an item is not withheld, and a stream that always has one ends all the same.
        if end != Moment::NEVER && end <= Moment::now() {
            return self.cut_off();
        }
        let polled = if let Some(slot) = this.slot {
            let _inside = slot.enter(*this.context);
            inner.poll_next(cx)
        } else {
            let _scope = this.context.enter();
            inner.poll_next(cx)
        };
        match polled {
            Poll::Ready(None) => self.end(),
            Poll::Pending if self.as_mut().is_over(cx) => return self.cut_off(),
            _ => {}
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // One more may be the limit's error, and any may be missing by it.
        let most = self.inner.as_ref().map_or(Some(0), |inner| inner.size_hint().1);
        (0, most.and_then(|most| most.checked_add(1)))
    }
}

impl<S> Kept<S> {
    fn is_over(self: Pin<&mut Self>, cx: &mut Context<'_>) -> bool {
        let mut this = self.project();
        let end = this.context.end();
        if end == Moment::NEVER {
            return false;
        }
        if this.timer.is_none() {
            this.timer.set(Some(sleep_until(end.to_instant())));
        }
        // Unconstrained: a stream that eats the task's cooperative budget must not keep its own limit from firing.
        this.timer.as_pin_mut().is_some_and(|timer| Pin::new(&mut unconstrained(timer)).poll(cx).is_ready())
    }

    /// The limit's error, which says which of the two it was and how long the stream had run.
    fn cut_off<T, E: From<Error>>(self: Pin<&mut Self>) -> Poll<Option<Result<T, E>>> {
        let ran = Moment::now().since(self.made);
        let is_timeout = self.context.limit < self.context.deadline.at;
        self.end();
        let why = if is_timeout { Detail::TimedOut { limit: ran } } else { Detail::Cut { ran } };
        Poll::Ready(Some(Err(Error::new(None, why).into())))
    }
}

impl<S> std::fmt::Debug for Kept<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("has_ended", &self.inner.is_none()).finish_non_exhaustive()
    }
}
