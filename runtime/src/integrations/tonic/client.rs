//! What the other side is told, and how long it is waited for.

use std::error::Error as StdError;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::{HeaderValue, Request, Response};
use pin_project_lite::pin_project;
use tokio::time::{Sleep, sleep_until};
use tonic::{Code, Status, TimeoutExpired};
use tower_layer::Layer;
use tower_service::Service;

use super::super::hop::{GRACE, left, read_grpc, write_grpc};
use super::HEADER;
use crate::base::clock::Moment;
use crate::call::{BoxError, Detail, Error};

/// Tells the other side how long its answer is of use (`grpc-timeout`), and does not wait longer.
///
/// What is sent is what is left of the running attempt, by its timeout or by the deadline around it, whichever ends first; or
/// less, if the request says less (`Request::set_timeout`). With less than a millisecond left nothing is sent and the call
/// is refused at once with `DEADLINE_EXCEEDED`.
///
/// It goes outermost around a channel: what is left is read where the call is made.
///
/// ```no_run
/// use tonic::transport::Endpoint;
/// use tower::ServiceBuilder;
/// use watertight::integrations::tonic::ClientLayer;
///
/// # async fn connect() -> Result<(), tonic::transport::Error> {
/// let channel = Endpoint::from_static("http://127.0.0.1:50051").connect().await?;
/// let channel = ServiceBuilder::new().layer(ClientLayer::new()).service(channel);
/// // let orders = OrdersClient::new(channel);
/// # let _ = channel;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use = "a layer does nothing until a service is given it"]
pub struct ClientLayer(());

impl ClientLayer {
    /// Writes `grpc-timeout`.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> Layer<S> for ClientLayer {
    type Service = ClientService<S>;

    fn layer(&self, inner: S) -> ClientService<S> {
        ClientService { inner }
    }
}

/// A channel that says how long it will wait, see [`ClientLayer`].
#[derive(Clone, Debug)]
pub struct ClientService<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for ClientService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Error: Into<BoxError>,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = ClientFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let began = Moment::now();
        let (sent, end) = match left() {
            Err(refused) => return ClientFuture::refused(refused),
            Ok(None) => (self.inner.call(request), Moment::NEVER),
            Ok(Some(left)) => {
                tell(&mut request, left);
                (self.inner.call(request), began.plus(left))
            }
        };
        ClientFuture { sent: Some(sent), refused: None, began, end, timer: None, has_yielded: false }
    }
}

/// Writes down what is left, unless the request says less already.
fn tell<B>(request: &mut Request<B>, left: u64) {
    let said = request.headers().get(HEADER).and_then(|value| read_grpc(value.as_bytes()));
    if let Ok(value) = HeaderValue::from_str(&write_grpc(said.map_or(left, |said| said.min(left)))) {
        request.headers_mut().insert(HEADER, value);
    }
}

pin_project! {
    /// The future of [`ClientService`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct ClientFuture<F> {
        // Until it has ended.
        #[pin]
        sent: Option<F>,
        refused: Option<Error>,
        began: Moment,
        end: Moment,
        #[pin]
        timer: Option<Sleep>,
        has_yielded: bool,
    }
}

impl<F> ClientFuture<F> {
    fn refused(why: Error) -> Self {
        Self {
            sent: None,
            refused: Some(why),
            began: Moment::NEVER,
            end: Moment::NEVER,
            timer: None,
            has_yielded: false,
        }
    }
}

impl<F, R, E> Future for ClientFuture<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<R>, BoxError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Some(why) = this.refused.take() {
            return Poll::Ready(Err(Status::from(why).into()));
        }
        if let Some(sent) = this.sent.as_mut().as_pin_mut()
            && let Poll::Ready(answer) = sent.poll(cx)
        {
            this.sent.set(None);
            let answer = answer.map_err(Into::into);
            if !is_too_late(&answer) || this.end.since(Moment::now()) > GRACE {
                return Poll::Ready(answer);
            }
        }
        if *this.end == Moment::NEVER {
            return Poll::Pending;
        }
        if this.timer.is_none() {
            this.timer.set(Some(sleep_until(this.end.plus(GRACE).to_instant())));
        }
        if let Some(timer) = this.timer.as_mut().as_pin_mut() {
            ready!(timer.poll(cx));
        }
        if !std::mem::replace(this.has_yielded, true) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.sent.set(None);
        let ran = Moment::now().since(*this.began);
        Poll::Ready(Err(Status::from(Error::new(None, Detail::Cut { ran })).into()))
    }
}

/// Whether the other side says that the time was over, or tonic's own timer. In the moment in which whoever keeps the time
/// drops this, theirs is the word.
fn is_too_late<R>(answer: &Result<Response<R>, BoxError>) -> bool {
    match answer {
        Ok(response) => {
            let code = Status::from_header_map(response.headers()).map(|status| status.code());
            matches!(code, Some(Code::DeadlineExceeded | Code::Cancelled))
        }
        Err(error) => {
            let mut cause: Option<&(dyn StdError + 'static)> = Some(&**error);
            while let Some(error) = cause.filter(|error| !error.is::<TimeoutExpired>()) {
                cause = error.source();
            }
            cause.is_some()
        }
    }
}
