//! The listener, for those who have no server to mount the router in.
//!
//! Sockets are where a dashboard is lost: a laptop that was closed with a page open reads nothing and says nothing. A write
//! that makes no progress for [`PATIENCE`] ends its connection, and no more than [`MOST`] connections are open at once.
//!
//! Invariants: only loopback is bound unless said otherwise; dropping the handle ends the listener, and the streams with the
//! next second.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::{Shared, access, routes};

/// How long a write may make no progress.
const PATIENCE: Duration = Duration::from_secs(15);
/// Connections at once.
const MOST: usize = 64;

/// A dashboard that is being served, until this is dropped.
#[derive(Debug)]
#[must_use = "the dashboard is served until this is dropped; `forever` serves it as long as the process lives"]
pub struct Serving {
    address: SocketAddr,
    shared: Arc<Shared>,
    end: Arc<Notify>,
    /// `None` once it is to be served as long as the process lives.
    task: Option<JoinHandle<()>>,
}

pub(super) async fn start(shared: Arc<Shared>, address: impl ToSocketAddrs, beyond: bool) -> io::Result<Serving> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    if !beyond && !address.ip().is_loopback() {
        let what = format!(
            "the dashboard is served on loopback alone, and other machines reach {address}; bind \"127.0.0.1:{}\", or say \
             `Dashboard::new().beyond_loopback()`",
            address.port()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let mut router: Router = routes::router(Arc::clone(&shared));
    if address.ip().is_loopback() {
        router = router.layer(from_fn(access::only_local_names));
    }
    let end = Arc::new(Notify::new());
    let ended = Arc::clone(&end);
    let listener = Bounded { listener, room: Arc::new(Semaphore::new(MOST)) };
    let task = tokio::spawn(async move {
        let ended = async move { ended.notified().await };
        // It fails only where accepting fails for good, and there is nobody to tell.
        let _ = axum::serve(listener, router).with_graceful_shutdown(ended).await;
    });
    Ok(Serving { address, shared, end, task: Some(task) })
}

impl Serving {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same for a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// How many watch now.
    pub fn viewers(&self) -> usize {
        self.shared.viewers.count()
    }

    /// Serves it as long as the runtime lives.
    pub fn forever(mut self) {
        self.task = None;
    }

    /// Ends it, and waits until the last viewer has gone, a few seconds at most.
    pub async fn stop(mut self) {
        self.end();
        if let Some(mut task) = self.task.take()
            && tokio::time::timeout(Duration::from_secs(3), &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

impl Serving {
    fn end(&self) {
        self.shared.viewers.close();
        self.end.notify_one();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if self.task.is_some() {
            self.end();
        }
    }
}

/// A listener with room for so many.
struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Listener for Bounded {
    type Io = Patient;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Patient, SocketAddr) {
        // Those beyond wait in the system's queue.
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, from) = Listener::accept(&mut self.listener).await;
        let _ = stream.set_nodelay(true);
        (Patient { stream, stuck: None, _place: place }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection whose writes must make progress.
struct Patient {
    stream: TcpStream,
    /// Since when a write has not.
    stuck: Option<Pin<Box<Sleep>>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Patient {
    /// Ends a wait that was too long.
    fn watch<T>(&mut self, wrote: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if wrote.is_ready() {
            self.stuck = None;
            return wrote;
        }
        let stuck = self.stuck.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
        match stuck.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(wrote, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.watch(wrote, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_that_makes_no_progress_ends_its_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let silent = TcpStream::connect(listener.local_addr().expect("bound")).await.expect("connected");
        let (stream, _) = listener.accept().await.expect("accepted");
        let mut patient = Patient { stream, stuck: None, _place: None };
        // The other end reads nothing, so the system's buffers fill; the clock then runs ahead.
        let chunk = vec![0; 1 << 20];
        let error = loop {
            if let Err(error) = patient.write_all(&chunk).await {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(silent);
    }
}
