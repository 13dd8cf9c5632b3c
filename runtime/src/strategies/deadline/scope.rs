//! Scopes opened by hand, and reading the one around.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::task::unconstrained;
use tokio::time::{Sleep, sleep_until};

use crate::base::clock::{Moment, nanos};
use crate::call::context::{Ambient, Deadline};
use crate::call::{Detail, Error};

/// The time left until the deadline around the running code; `None` where there is none.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::deadline;
///
/// assert_eq!(deadline::remaining(), None);
/// deadline::within(Duration::from_secs(2), async {
///     tokio::time::sleep(Duration::from_millis(500)).await;
///     assert_eq!(deadline::remaining(), Some(Duration::from_millis(1_500)));
/// })
/// .await
/// .expect("in time");
/// # }
/// ```
pub fn remaining() -> Option<Duration> {
    let deadline = Ambient::deadline();
    deadline.is_set().then(|| Duration::from_nanos(deadline.at.since(Moment::now())))
}

/// The smaller of what one would like and what is left: for clients that take a timeout of their own.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::deadline;
///
/// let ideal = Duration::from_secs(5);
/// assert_eq!(deadline::clamp(ideal), ideal);
/// let inside = deadline::within(Duration::from_secs(1), async { deadline::clamp(ideal) }).await;
/// assert_eq!(inside.unwrap(), Duration::from_secs(1));
/// # }
/// ```
pub fn clamp(ideal: Duration) -> Duration {
    remaining().map_or(ideal, |remaining| remaining.min(ideal))
}

pin_project! {
    /// The future of [`within`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Within<F> {
        #[pin]
        body: Option<F>,
        #[pin]
        timer: Option<Sleep>,
        length: u64,
        deadline: Deadline,
        started: Moment,
    }
}

/// Runs a future under a deadline of `length` from its first poll on, or under the stricter one around it.
///
/// At the deadline the future is dropped. The future is polled before the clock is looked at, so one that is ready is
/// never reported late; with nothing left it is not polled at all. Lengths beyond thirty years count as thirty years.
///
/// # Errors
///
/// An [`Error`] of kind [`Deadline`](crate::ErrorKind::Deadline) when the time was up first.
///
/// # Panics
///
/// When polled outside a tokio runtime with its timer enabled, and the future is not ready at once.
///
/// # Cancel safety
///
/// Dropping it drops the future inside; nothing else is held.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::{deadline, ErrorKind};
///
/// let slow = deadline::within(Duration::from_millis(50), std::future::pending::<()>());
/// assert_eq!(slow.await.unwrap_err().kind(), ErrorKind::Deadline);
/// # }
/// ```
pub fn within<F: Future>(length: Duration, body: F) -> Within<F> {
    Within { body: Some(body), timer: None, length: nanos(length), deadline: Deadline::NONE, started: Moment::NEVER }
}

impl<F: Future> Future for Within<F> {
    type Output = Result<F::Output, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let around = Ambient::here();
        if *this.started == Moment::NEVER {
            *this.started = Moment::now();
            *this.deadline = around.deadline.tighten(Deadline::starting(*this.started, *this.length));
            if this.deadline.at <= *this.started {
                this.body.set(None);
                return Poll::Ready(Err(Error::new(None, Detail::Spent { in_queue: false })));
            }
        }
        let scope = Ambient { deadline: *this.deadline, ..around }.enter();
        let polled = this.body.as_mut().as_pin_mut().map_or(Poll::Pending, |body| body.poll(cx));
        if let Poll::Ready(output) = polled {
            this.body.set(None);
            drop(scope);
            return Poll::Ready(Ok(output));
        }
        let is_up = poll_timer(this.timer, this.deadline.at, cx);
        if is_up {
            this.body.set(None);
        }
        drop(scope);
        if is_up {
            let ran = Moment::now().since(*this.started);
            return Poll::Ready(Err(Error::new(None, Detail::Cut { ran })));
        }
        Poll::Pending
    }
}

fn poll_timer(mut timer: Pin<&mut Option<Sleep>>, at: Moment, cx: &mut Context<'_>) -> bool {
    if timer.is_none() {
        timer.set(Some(sleep_until(at.to_instant())));
    }
    // Unconstrained: a body that eats the task's cooperative budget must not keep its own deadline from firing.
    timer.as_pin_mut().is_some_and(|timer| Pin::new(&mut unconstrained(timer)).poll(cx).is_ready())
}

pin_project! {
    /// A future that runs in the context it was made in, in whatever task.
    pub struct Carried<F> {
        #[pin]
        body: F,
        context: Ambient,
    }
}

impl<F> Carried<F> {
    /// Takes over everything around but the slots, which stay with the calls that hold them.
    pub(crate) fn from_here(body: F) -> Self {
        Self { body, context: Ambient::here() }
    }
}

impl<F: Future> Future for Carried<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _scope = this.context.enter();
        this.body.poll(cx)
    }
}
