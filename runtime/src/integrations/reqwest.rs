//! Deadlines that go out with a request of `reqwest`.
//!
//! ```no_run
//! use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
//! use watertight::integrations::reqwest::ClientMiddleware;
//! use watertight::resilient;
//!
//! fn client() -> ClientWithMiddleware {
//!     ClientBuilder::new(reqwest::Client::new()).with(ClientMiddleware::new()).build()
//! }
//!
//! #[resilient(timeout = "300ms")]
//! async fn price(client: &ClientWithMiddleware, id: u64) -> Result<String, reqwest_middleware::Error> {
//!     let answer = client.get(format!("http://prices.internal/{id}")).send().await?; // says that 300 ms are left
//!     Ok(answer.error_for_status()?.text().await?)
//! }
//! ```
//!
//! **What is sent** is what is left of the running attempt, by its timeout or by the deadline around it, whichever ends first, in
//! whole milliseconds ([`HEADER`]). With less than one left nothing is sent and the request is refused at once.
//!
//! **Who keeps the time.** A guarded function drops the request's future at its limit, and with it the connection, which is
//! how the other side learns of it. In a task that only inherited its deadline ([`spawn`](crate::spawn())) nobody drops it, so
//! it is timed here as well, a little later, in order never to be first where somebody else keeps the time. For the same reason
//! a 504 that comes in the last 5 ms is held back until the limit: the other side was told the same limit, and has kept it. An
//! attempt that was cut off has to be counted as such, and not as an error of its body, which would be retried even where running
//! twice does harm.
//!
//! **The request's own timeout** is shortened to what is left, and so covers the body of the response too. A request without one
//! is left without: reqwest lets a request's timeout replace the client's and does not show the client's, so that setting one
//! could lengthen it. [`ClientMiddleware::timeout`] gives every request one.
//!
//! Invariants: see `super::hop`; a request's timeout is never lengthened.

use std::time::Duration;

use ::reqwest::header::{HeaderName, HeaderValue};
use ::reqwest::{Request, Response, StatusCode};
use async_trait::async_trait;
use http::Extensions;
use reqwest_middleware::{Error as ClientError, Middleware, Next};
use tokio::task::yield_now;
use tokio::time::{sleep_until, timeout_at};

use super::hop::{GRACE, is_over, left, read_millis, write_millis};
use crate::base::clock::Moment;
use crate::call::{Detail, Error, Failure};

/// Where the remaining time stands in a request, in whole milliseconds.
pub const HEADER: &str = super::hop::HEADER;

/// Tells the other side how long its answer is of use, and does not wait longer.
#[derive(Clone, Debug)]
#[must_use = "it does nothing until a client is built with it"]
pub struct ClientMiddleware {
    header: HeaderName,
    timeout: Option<Duration>,
}

impl Default for ClientMiddleware {
    fn default() -> Self {
        Self { header: HeaderName::from_static(HEADER), timeout: None }
    }
}

impl ClientMiddleware {
    /// Writes [`HEADER`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes another header.
    pub fn header(mut self, name: HeaderName) -> Self {
        self.header = name;
        self
    }

    /// The timeout of requests that have none of their own, shortened like any other to what is left.
    ///
    /// To be set in place of `reqwest::ClientBuilder::timeout`, not beside it: it would replace that one.
    pub fn timeout(mut self, length: Duration) -> Self {
        self.timeout = Some(length);
        self
    }

    /// Writes down what is left, unless the request says less already.
    fn tell(&self, request: &mut Request, left: u64) {
        let said = request.headers().get(&self.header).and_then(|value| read_millis(value.as_bytes()));
        if let Ok(value) = HeaderValue::from_str(&write_millis(said.map_or(left, |said| said.min(left)))) {
            request.headers_mut().insert(self.header.clone(), value);
        }
    }
}

#[async_trait]
impl Middleware for ClientMiddleware {
    async fn handle(
        &self,
        mut request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> Result<Response, ClientError> {
        let left = left()?;
        let timeout = request.timeout().copied().or(self.timeout);
        let Some(left) = left else {
            *request.timeout_mut() = timeout;
            return next.run(request, extensions).await;
        };
        self.tell(&mut request, left);
        let began = Moment::now();
        let most = left.saturating_add(GRACE);
        // Later still: it cannot be held back, since it may come while the body is read.
        *request.timeout_mut() = timeout.map(|own| own.min(Duration::from_nanos(left.saturating_add(5 * GRACE))));
        let end = began.plus(most);
        let source = match timeout_at(end.to_instant(), next.run(request, extensions)).await {
            Ok(answer) if is_too_late(&answer) && end.since(Moment::now()) <= 2 * GRACE => {
                sleep_until(end.to_instant()).await;
                answer.err().map(Into::into)
            }
            Ok(answer) => return answer,
            Err(_) => None,
        };
        yield_now().await;
        let ran = Moment::now().since(began);
        Err(Error::new(None, Detail::Cut { ran }).with_source(source).into())
    }
}

/// Whether the other side, or reqwest, says that the time was over. Where it was, whoever keeps the time has the word.
fn is_too_late(answer: &Result<Response, ClientError>) -> bool {
    match answer {
        Ok(response) => response.status() == StatusCode::GATEWAY_TIMEOUT,
        Err(error) => error.is_timeout(),
    }
}

/// Tells the errors that say the time was up from all others, which it leaves as they are: a request that was refused or cut
/// off by [`ClientMiddleware`], and a timeout of reqwest's with nothing left, as while a body is read, which becomes an
/// [`Error`] of kind [`Deadline`](crate::ErrorKind::Deadline) with reqwest's as its source.
///
/// To be asked where it is awaited, since what is left is what is left there.
///
/// ```
/// use watertight::Failure;
/// use watertight::integrations::reqwest::failure;
///
/// enum AppError { Refused(watertight::Error), Vendor(reqwest_middleware::Error) }
///
/// impl From<reqwest_middleware::Error> for AppError {
///     fn from(error: reqwest_middleware::Error) -> Self {
///         match failure(error) {
///             Failure::Refused(error) => Self::Refused(error),
///             Failure::Failed(error) => Self::Vendor(error),
///         }
///     }
/// }
/// # let other = reqwest_middleware::Error::middleware(std::io::Error::other("no route"));
/// # assert!(matches!(AppError::from(other), AppError::Vendor(_)));
/// ```
pub fn failure(error: impl Into<ClientError>) -> Failure<ClientError> {
    match error.into() {
        ClientError::Middleware(error) => match error.downcast::<Error>() {
            Ok(refused) => Failure::Refused(refused),
            Err(error) => Failure::Failed(ClientError::Middleware(error)),
        },
        ClientError::Reqwest(error) if error.is_timeout() && is_over() => {
            Failure::Refused(Error::new(None, Detail::Stopped).with_source(Some(error.into())))
        }
        other @ ClientError::Reqwest(_) => Failure::Failed(other),
    }
}

/// So that a guarded function can return `reqwest_middleware::Error` itself: [`failure`] finds a refusal again.
impl From<Error> for ClientError {
    fn from(error: Error) -> Self {
        Self::middleware(error)
    }
}
