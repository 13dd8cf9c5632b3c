//! # A server that ends when told
//!
//! The usual graceful end waits for open requests. Here some never end, that being the experiment, so the end has to be
//! ungraceful and still complete: every connection reads "the other side has gone", and the server then does what it
//! does for any vanished client, which is to drop the handler. Handlers give back what they hold in their drops, and
//! nothing of one run reaches into the next.
//!
//! The listener is also where connections are counted, since a handler cannot see whether its request came on a new
//! one.
//!
//! Invariants:
//! * loopback, on a port of the system's choice unless an address was given;
//! * after [`Server::stop`] no handler of this server runs.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::meter::{Counts, Meter, Visit};
use crate::stop::{Stop, Stopper, pair};

/// How long the end may take before it is forced.
const END: Duration = Duration::from_secs(1);

/// A running server; dropping it stops it too, without waiting.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    connections: Arc<Meter>,
    stopper: Stopper,
    task: JoinHandle<()>,
}

impl Server {
    /// Serves `router` on a port of the system's choice.
    ///
    /// # Errors
    /// When loopback has no port to give.
    pub async fn start(router: Router) -> io::Result<Self> {
        Self::start_at((Ipv4Addr::LOCALHOST, 0).into(), router).await
    }

    /// Serves `router` at an address.
    ///
    /// # Errors
    /// When it is taken, or not a loopback one: nothing here asks who is calling.
    pub async fn start_at(address: SocketAddr, router: Router) -> io::Result<Self> {
        if !address.ip().is_loopback() {
            let what = format!("{address} can be reached by other machines; write 127.0.0.1:{}", address.port());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let (stopper, stop) = pair();
        let connections = Arc::new(Meter::default());
        let counted = Counted { listener, connections: Arc::clone(&connections), stop: stop.clone() };
        let serve = axum::serve(counted, router).with_graceful_shutdown(stop.stopped());
        let task = tokio::spawn(async move {
            // Serving ends by the stop alone; accept errors are retried inside.
            let _ = serve.await;
        });
        Ok(Self { address, connections, stopper, task })
    }

    /// Where it listens, without a trailing slash.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections, as the server saw them.
    pub fn connections(&self) -> Counts {
        self.connections.counts()
    }

    /// Ends all connections and waits until they are gone.
    pub async fn stop(mut self) {
        self.stopper.stop();
        if timeout(END, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

struct Counted {
    listener: TcpListener,
    connections: Arc<Meter>,
    stop: Stop,
}

impl Listener for Counted {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.listener).await;
        // Answers here are a few hundred bytes: waiting to fill a packet would be most of the latency measured.
        let _ = stream.set_nodelay(true);
        let stopped = Box::pin(self.stop.clone().stopped());
        (Connection { stream, stopped: Some(stopped), _visit: self.connections.enter() }, from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A stream that reads as ended once the server is stopped.
struct Connection {
    stream: TcpStream,
    /// None once it has come.
    stopped: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    _visit: Visit,
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.stopped.as_mut().is_some_and(|stopped| stopped.as_mut().poll(cx).is_ready()) {
            self.stopped = None;
        }
        if self.stopped.is_none() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
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
