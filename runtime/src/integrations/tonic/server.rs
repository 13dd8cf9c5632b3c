//! What a server believes of `grpc-timeout`, and the call that runs under it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{Request, Response};
use pin_project_lite::pin_project;
use tonic::Status;
use tower_layer::Layer;
use tower_service::Service;

use super::super::hop::{Bounded, Terms, read_grpc, terms};
use super::HEADER;

/// What is kept back, so that this deadline comes before tonic's own timer, whose clock ticks in milliseconds.
const KEPT_BACK: u64 = 2_000_000;

/// Opens a deadline scope around each call of a server, for as long as its caller will wait (`grpc-timeout`).
///
/// All six units are read; a value that breaks the protocol's rules counts as not said. At the deadline the handler's future is
/// dropped and the answer is `DEADLINE_EXCEEDED`; with nothing left the handler is not called. 2 ms of what the caller says
/// are kept back for the way, unless [`keep_back`](Self::keep_back) says otherwise; with less, it is tonic's own timer that
/// ends the call, as `CANCELLED`. When the caller goes away, the server drops the handler's future.
///
/// ```no_run
/// # use std::time::Duration;
/// # use tonic::{server::NamedService, body::Body, transport::Server};
/// use watertight::integrations::tonic::ServerLayer;
///
/// # async fn serve<S>(service: S) -> Result<(), tonic::transport::Error>
/// # where
/// #     S: tower::Service<http::Request<Body>, Response = http::Response<Body>, Error = std::convert::Infallible>
/// #         + NamedService + Clone + Send + Sync + 'static,
/// #     S::Future: Send,
/// # {
/// Server::builder()
///     .layer(ServerLayer::new().or(Duration::from_secs(2)).at_most(Duration::from_secs(30)))
///     .add_service(service)
///     .serve(([127, 0, 0, 1], 50_051).into())
///     .await
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until a service is given it"]
pub struct ServerLayer {
    terms: Terms,
}

impl Default for ServerLayer {
    fn default() -> Self {
        Self { terms: Terms { kept_back: KEPT_BACK, ..Terms::default() } }
    }
}

impl ServerLayer {
    /// Reads `grpc-timeout`, and opens a scope for the calls that have it.
    pub fn new() -> Self {
        Self::default()
    }

    terms!();
}

impl<S> Layer<S> for ServerLayer {
    type Service = ServerService<S>;

    fn layer(&self, inner: S) -> ServerService<S> {
        ServerService { terms: self.terms, inner }
    }
}

/// A service whose calls run under a deadline each, see [`ServerLayer`].
#[derive(Clone, Debug)]
pub struct ServerService<S> {
    terms: Terms,
    inner: S,
}

impl<S, Asked, B> Service<Request<Asked>> for ServerService<S>
where
    S: Service<Request<Asked>, Response = Response<B>>,
    B: Default,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Asked>) -> Self::Future {
        let told = request.headers().get(HEADER).and_then(|value| read_grpc(value.as_bytes()));
        ResponseFuture { work: self.terms.bound(told, || self.inner.call(request)) }
    }
}

pin_project! {
    /// The future of [`ServerService`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct ResponseFuture<F> {
        #[pin]
        work: Bounded<F>,
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    B: Default,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Poll::Ready(ready!(self.project().work.poll(cx)).unwrap_or_else(|error| Ok(Status::from(error).into_http())))
    }
}
