//! Cancellation tokens beside deadlines, with `tokio-util`.
//!
//! Two things end work from outside: its time is up, or whoever wanted it does not want it any more. A person who closes a page and
//! a service that is slow look the same to code that only finds itself dropped, and they are not: the one says nothing about the
//! service. So the reason is kept: [`Deadline`](crate::ErrorKind::Deadline) here, [`Cancelled`](crate::ErrorKind::Cancelled) there.
//!
//! What runs inside is dropped either way. A guarded function in it is counted as cancelled when it was a token, and as timed out when it
//! was the deadline, which it heeds itself; breakers hold the one against their dependency and not the other.
//!
//! **A token is not inherited.** A deadline is a number and travels with the context; a token is a subscription, and would have
//! to be cloned with every poll. In a task it is said again: `watertight::spawn(unless_cancelled(&token, work))`, or the work
//! is put into a [`JoinSet`](crate::JoinSet), which is dropped with what holds it.
//!
//! Invariants: work that is ready is never reported as cancelled; with a token that is cancelled already, nothing is polled.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use pin_project_lite::pin_project;

use crate::call::{Detail, Error};
use crate::strategies::deadline::{Within, within as within_alone};

/// Runs a future until it is ready or a token is cancelled, in which case it is dropped.
///
/// The future is polled before the token is looked at, except for the first time: with a token that is cancelled already it is not
/// polled at all.
///
/// # Errors
///
/// An [`Error`] of kind [`Cancelled`](crate::ErrorKind::Cancelled) when the token was cancelled first.
///
/// # Cancel safety
///
/// Dropping it drops the future inside; nothing else is held.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use tokio_util::sync::CancellationToken;
/// use watertight::ErrorKind;
/// use watertight::integrations::tokio_util::unless_cancelled;
///
/// let token = CancellationToken::new();
/// assert_eq!(unless_cancelled(&token, async { 7 }).await.unwrap(), 7);
///
/// token.cancel();
/// let error = unless_cancelled(&token, async { 7 }).await.unwrap_err();
/// assert_eq!((error.kind(), error.is_refusal()), (ErrorKind::Cancelled, true));
/// # }
/// ```
pub fn unless_cancelled<F: Future>(token: &CancellationToken, body: F) -> UnlessCancelled<F> {
    UnlessCancelled { body: Some(body), token: token.clone(), cancelled: None, has_begun: false }
}

/// Runs a future under a deadline and until a token is cancelled, whichever comes first; the reason is the error's kind.
///
/// [`deadline::within`](crate::deadline::within) and [`unless_cancelled`] in one. Where both are found at once, it was the token.
///
/// # Errors
///
/// An [`Error`] of kind [`Deadline`](crate::ErrorKind::Deadline) or [`Cancelled`](crate::ErrorKind::Cancelled).
///
/// # Panics
///
/// As [`deadline::within`](crate::deadline::within).
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::{future::pending, time::Duration};
/// use tokio_util::sync::CancellationToken;
/// use watertight::ErrorKind;
/// use watertight::integrations::tokio_util::within;
///
/// let token = CancellationToken::new();
/// let late = within(Duration::from_millis(50), &token, pending::<()>()).await.unwrap_err();
/// assert_eq!(late.kind(), ErrorKind::Deadline);
///
/// let caller = token.clone();
/// tokio::spawn(async move { caller.cancel() });
/// let unwanted = within(Duration::from_millis(50), &token, pending::<()>()).await.unwrap_err();
/// assert_eq!(unwanted.kind(), ErrorKind::Cancelled);
/// # }
/// ```
pub fn within<F: Future>(length: Duration, token: &CancellationToken, body: F) -> WithinUnlessCancelled<F> {
    WithinUnlessCancelled { body: within_alone(length, unless_cancelled(token, body)) }
}

pin_project! {
    /// The future of [`unless_cancelled`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct UnlessCancelled<F> {
        #[pin]
        body: Option<F>,
        token: CancellationToken,
        // Once the body has been pending: work that is ready at once costs no subscription.
        #[pin]
        cancelled: Option<WaitForCancellationFutureOwned>,
        has_begun: bool,
    }
}

impl<F: Future> Future for UnlessCancelled<F> {
    type Output = Result<F::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let has_begun = std::mem::replace(this.has_begun, true);
        if !has_begun && this.token.is_cancelled() {
            this.body.set(None);
            return Poll::Ready(Err(Error::new(None, Detail::Cancelled { has_begun })));
        }
        if let Some(body) = this.body.as_mut().as_pin_mut()
            && let Poll::Ready(output) = body.poll(cx)
        {
            this.body.set(None);
            return Poll::Ready(Ok(output));
        }
        if this.cancelled.is_none() {
            this.cancelled.set(Some(this.token.clone().cancelled_owned()));
        }
        if let Some(cancelled) = this.cancelled.as_mut().as_pin_mut() {
            ready!(cancelled.poll(cx));
        }
        this.body.set(None);
        Poll::Ready(Err(Error::new(None, Detail::Cancelled { has_begun: true })))
    }
}

pin_project! {
    /// The future of [`within`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct WithinUnlessCancelled<F> {
        #[pin]
        body: Within<UnlessCancelled<F>>,
    }
}

impl<F: Future> Future for WithinUnlessCancelled<F> {
    type Output = Result<F::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.project().body.poll(cx).map(|answer| answer.and_then(|answer| answer))
    }
}
