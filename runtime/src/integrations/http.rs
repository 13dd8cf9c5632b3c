//! Deadlines that come in with a request, for every server that is a `tower` service over `http` types: axum, hyper.
//!
//! [`ServerLayer`] reads how long the caller will wait, opens the deadline scope around the handler, and answers 504 at its
//! end. [`response`] is what a caller over HTTP is told about an [`Error`], wherever it is turned into a response.
//!
//! **What the caller is told is less than we know.** An [`Error`] names functions, bulkheads and their sizes, and whoever asked
//! from outside needs none of it. A response says what to do, wait or ask again, and for how long. The rest belongs in
//! logs and figures, where the error itself is.
//!
//! | what happened | status | `retry-after` |
//! |---|---|---|
//! | timed out, deadline spent, not enough time left | 504 | 1 |
//! | no slot, no thread, no token, breaker open, shutting down | 503 | when it makes sense, at least 1 |
//!
//! `retry-after` is sent with both: a caller that asks again at once adds to what made it late. Too many requests are a 503 and
//! no 429, since it is our own limit towards a dependency, not one that this caller has passed.
//!
//! **The response's head is the end.** What is timed is the handler up to its return; a body that is streamed after that runs on,
//! unless it is a stream that holds on to the scope (feature `futures`).
//!
//! Invariants: see `super::hop`; a body that is sent is one of a few constants.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, header};
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use super::hop::{Bounded, Terms, read_millis, terms};
use crate::call::{Error, ErrorKind};

/// Where the remaining time stands in a request, in whole milliseconds.
pub const HEADER: &str = super::hop::HEADER;

/// What a caller over HTTP is told about an error: 503 or 504, when to come back, and nothing of what is inside.
///
/// For a handler's own error type. With the feature `axum`, an [`Error`] is a response itself.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
/// use watertight::deadline;
/// use watertight::integrations::http::response;
///
/// let late = deadline::within(Duration::from_millis(5), std::future::pending::<()>()).await.unwrap_err();
/// let told: http::Response<String> = response(&late);
/// assert_eq!(told.status(), 504);
/// assert_eq!(told.headers()["retry-after"], "1");
/// # }
/// ```
pub fn response<B: From<&'static str>>(error: &Error) -> Response<B> {
    let (status, text) = words(error.kind());
    let mut response = Response::new(B::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds(error.retry_after())));
    // Nobody in between should keep what is true of this moment.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// When to come back, in whole seconds and not at once.
fn seconds(after: Option<Duration>) -> u64 {
    after.map_or(1, |after| after.as_secs().saturating_add(u64::from(after.subsec_nanos() > 0)).max(1))
}

fn words(kind: ErrorKind) -> (StatusCode, &'static str) {
    match kind {
        ErrorKind::TimedOut | ErrorKind::Deadline | ErrorKind::Doomed => {
            (StatusCode::GATEWAY_TIMEOUT, "The time for this request was over before there was an answer.\n")
        }
        ErrorKind::ShuttingDown => {
            (StatusCode::SERVICE_UNAVAILABLE, "This server is about to stop. Please ask again.\n")
        }
        ErrorKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "This request was cancelled.\n"),
        ErrorKind::BreakerOpen => {
            (StatusCode::SERVICE_UNAVAILABLE, "This cannot be answered at the moment. Please ask again later.\n")
        }
        ErrorKind::BulkheadFull
        | ErrorKind::BulkheadWait
        | ErrorKind::IsolateFull
        | ErrorKind::IsolateWait
        | ErrorKind::RateLimited => {
            (StatusCode::SERVICE_UNAVAILABLE, "There are too many requests at the moment. Please ask again later.\n")
        }
    }
}

/// Opens a deadline scope around each request of a server, for as long as its caller will wait.
///
/// How long that is stands in the header [`HEADER`], in whole milliseconds; [`header`](Self::header) names another. A value
/// that is nothing but digits is believed, within [`at_most`](Self::at_most); anything else counts as not said. Of several, the
/// smallest that can be read holds. With 0, the answer is a 504 and the handler is not called.
///
/// At its deadline the handler's future is dropped and the answer is a 504 ([`response`]). When the connection is lost, the
/// server drops the handler's future; there is nothing to set for that.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use axum::{Router, routing::get};
/// use watertight::deadline;
/// use watertight::integrations::http::ServerLayer;
///
/// let app: Router = Router::new()
///     .route("/left", get(|| async { format!("{:?}", deadline::remaining()) }))
///     .route("/hangs", get(std::future::pending::<String>))
///     .layer(ServerLayer::new().or(Duration::from_secs(2)).at_most(Duration::from_secs(30)));
/// # use axum::{body::{Body, to_bytes}, http::Request};
/// # use tower::ServiceExt;
///
/// let asked = Request::get("/left").header("x-request-timeout-ms", "750").body(Body::empty())?;
/// let left = app.clone().oneshot(asked).await?;
/// assert_eq!(to_bytes(left.into_body(), 100).await?, "Some(750ms)");
///
/// let late = app.oneshot(Request::get("/hangs").body(Body::empty())?).await?;
/// assert_eq!(late.status(), 504);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until a service is given it"]
pub struct ServerLayer {
    terms: Terms,
    header: HeaderName,
}

impl Default for ServerLayer {
    fn default() -> Self {
        Self { terms: Terms::default(), header: HeaderName::from_static(HEADER) }
    }
}

impl ServerLayer {
    /// Reads the header, and opens a scope for the requests that have it.
    pub fn new() -> Self {
        Self::default()
    }

    terms!();

    /// Reads the remaining time from another header.
    pub fn header(mut self, name: HeaderName) -> Self {
        self.header = name;
        self
    }

    /// How long the caller says it will wait: the smallest of what can be read.
    fn told(&self, headers: &HeaderMap) -> Option<u64> {
        headers.get_all(&self.header).iter().filter_map(|value| read_millis(value.as_bytes())).min()
    }
}

impl<S> Layer<S> for ServerLayer {
    type Service = ServerService<S>;

    fn layer(&self, inner: S) -> ServerService<S> {
        ServerService { layer: self.clone(), inner }
    }
}

/// A service whose requests run under a deadline each, see [`ServerLayer`].
#[derive(Clone, Debug)]
pub struct ServerService<S> {
    layer: ServerLayer,
    inner: S,
}

impl<S, Asked, B> Service<Request<Asked>> for ServerService<S>
where
    S: Service<Request<Asked>, Response = Response<B>>,
    B: From<&'static str>,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Asked>) -> Self::Future {
        let Self { layer, inner } = self;
        let told = layer.told(request.headers());
        ResponseFuture { work: layer.terms.bound(told, || inner.call(request)) }
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
    B: From<&'static str>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        Poll::Ready(ready!(self.project().work.poll(cx)).unwrap_or_else(|error| Ok(response(&error))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Detail;

    #[test]
    fn coming_back_is_in_whole_seconds_and_never_at_once() {
        let after = |millis| seconds(Some(Duration::from_millis(millis)));
        assert_eq!((seconds(None), after(0), after(1), after(1_000), after(1_001)), (1, 1, 1, 1, 2));
        assert_eq!(seconds(Some(Duration::MAX)), u64::MAX);
    }

    #[test]
    fn every_kind_has_its_status_and_none_says_what_is_inside() {
        let late =
            [Detail::TimedOut { limit: 7 }, Detail::Cut { ran: 7 }, Detail::Stopped, Detail::Spent { in_queue: true }];
        let name = "secret-vendor";
        let refused = [
            (Detail::Full { name, slots: 8, running: 8, queue: 16, queued: 16 }, "1"),
            (Detail::Waited { name, slots: 8, waited: 7 }, "1"),
            (Detail::Crowded { name, threads: 8, at_large: 8, queue: 16, queued: 16 }, "1"),
            (Detail::WaitedThread { name, threads: 8, at_large: 8, waited: 7 }, "1"),
            (Detail::Open { name, retry_after: 4_000_000_001, isolated: false }, "5"),
            (Detail::Open { name, retry_after: 0, isolated: true }, "1"),
            (Detail::Limited { name, count: 7, unit: 1, retry_after: 2_000_000_000 }, "2"),
            (Detail::ShuttingDown, "1"),
            (Detail::Cancelled { has_begun: true }, "1"),
        ];
        let all = late.map(|detail| (504, detail, "1")).into_iter();
        for (status, detail, after) in all.chain(refused.map(|(detail, after)| (503, detail, after))) {
            let told: Response<String> = response(&Error::new(None, detail));
            assert_eq!(told.status(), status, "{detail:?}");
            assert_eq!(told.headers()[header::RETRY_AFTER], after, "{detail:?}");
            let text = told.into_body();
            assert!(!text.contains("secret") && !text.contains(|c: char| c.is_ascii_digit()), "{text}");
        }
    }

    #[test]
    fn of_several_values_the_smallest_that_can_be_read_holds() {
        let mut headers = HeaderMap::new();
        for value in ["900", "soon", "300"] {
            headers.append(HEADER, HeaderValue::from_static(value));
        }
        assert_eq!(ServerLayer::new().told(&headers), Some(300_000_000));
        headers.clear();
        assert_eq!(ServerLayer::new().told(&headers), None);
    }
}
