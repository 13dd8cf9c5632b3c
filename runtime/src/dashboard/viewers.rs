//! Live streams: who watches, and what ends a stream whose other end has gone.
//!
//! A viewer's connection is known to be dead only when something is written to it. So something is written every second,
//! calls or not. Between the clock and the connection stands a queue of two: one that has not taken its frame for
//! [`PATIENCE`] is not reading, and loses its place; what it misses is not kept for it, since the next frame says all there
//! is to say.
//!
//! Invariants: never more streams than places; a place is given back by Drop, whatever ends the stream; no viewer delays
//! another, or a call.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::Event;
use futures_core::Stream;
use tokio::sync::mpsc;

use super::Shared;
use super::panels::wall;

/// How long a viewer may take nothing.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest silence.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// The places.
#[derive(Debug)]
pub(super) struct Viewers {
    most: usize,
    taken: Arc<AtomicUsize>,
    closed: AtomicBool,
    /// The wall of the last second.
    written: Mutex<Option<(u64, Arc<str>)>>,
}

/// A place.
pub(super) struct Place(Arc<AtomicUsize>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Viewers {
    pub(super) fn new(most: usize) -> Self {
        Self { most, taken: Arc::default(), closed: AtomicBool::new(false), written: Mutex::default() }
    }

    /// A place, if there is one.
    pub(super) fn take(&self) -> Option<Place> {
        let taken = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| (n < self.most).then_some(n + 1));
        taken.ok().map(|_| Place(Arc::clone(&self.taken)))
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn count(&self) -> usize {
        self.taken.load(Ordering::Acquire)
    }

    /// Has the wall written anew, since something was changed.
    pub(super) fn write_anew(&self) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Has every stream end with the next second.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

/// Frames on their way to one viewer.
pub(super) struct Frames(mpsc::Receiver<Event>);

impl Stream for Frames {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx).map(|frame| frame.map(Ok))
    }
}

/// A stream of the wall, once a second, as long as the place is held.
pub(super) fn watch(shared: Arc<Shared>, place: Place) -> Frames {
    let (send, frames) = mpsc::channel(2);
    tokio::spawn(async move {
        let _place = place;
        let mut ticks = shared.history.ticks();
        loop {
            let frame = Event::default().event("wall").data(wall_text(&shared));
            if !matches!(tokio::time::timeout(PATIENCE, send.send(frame)).await, Ok(Ok(()))) {
                return;
            }
            // Whoever reads the figures may have stopped with the runtime it ran on; a stream has to go on all the same.
            if tokio::time::timeout(HEARTBEAT, ticks.changed()).await.is_err() {
                shared.history.keep_going();
            }
            if send.is_closed() || shared.viewers.closed.load(Ordering::Acquire) {
                return;
            }
        }
    });
    Frames(frames)
}

/// The wall as it is now.
///
/// Written once a second, for however many look at it.
pub(super) fn wall_text(shared: &Shared) -> Arc<str> {
    let kept = shared.history.read();
    let mut written = shared.viewers.written.lock().unwrap_or_else(PoisonError::into_inner);
    match &*written {
        Some((second, text)) if *second == kept.seconds => Arc::clone(text),
        _ => {
            let text: Arc<str> = wall::panel(&kept, shared.viewers.count(), shared.shows).to_string().into();
            *written = Some((kept.seconds, Arc::clone(&text)));
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dashboard::history::History;

    fn shared() -> Arc<Shared> {
        Arc::new(Shared { history: History::shared(), viewers: Viewers::new(1), token: None, shows: |_| true })
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_nothing_loses_its_place_after_ten_seconds_and_not_sooner() {
        let shared = shared();
        let place = shared.viewers.take().expect("free");
        assert!(shared.viewers.take().is_none(), "there is one place");
        let frames = watch(Arc::clone(&shared), place);
        // Two frames wait for it, and the third is held out to it for ten seconds.
        tokio::time::sleep(PATIENCE).await;
        assert_eq!(shared.viewers.count(), 1);
        tokio::time::sleep(3 * HEARTBEAT).await;
        assert_eq!(shared.viewers.count(), 0, "its place is free, although it is still connected");
        drop(frames);
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_has_gone_is_noticed_within_a_heartbeat_although_nothing_happens() {
        let shared = shared();
        let frames = watch(Arc::clone(&shared), shared.viewers.take().expect("free"));
        tokio::task::yield_now().await;
        drop(frames);
        tokio::time::sleep(HEARTBEAT + Duration::from_millis(1)).await;
        assert_eq!(shared.viewers.count(), 0);
    }
}
