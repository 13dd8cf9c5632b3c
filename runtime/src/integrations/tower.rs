//! A guard as a `tower::Layer`.
//!
//! **Nothing is reserved in `poll_ready`.** tower lets a service say that it is not ready, and middlewares that take a
//! permit there have lived to regret it: the permit is held by a service that was asked and not called (an idle keep-alive
//! connection, the loser of a `select!`), nobody can give it back, and a wait for it is bounded by nothing, since timeouts
//! begin with `call`. So a guarded service is always ready. Everything happens in the call's future: the deadline, the
//! breaker, the place in the queue, the slot, and *inside the slot* the wait until a clone of the inner service is
//! ready, which the timeout bounds like any other work. An inner service whose `poll_ready` reserves something holds it for
//! the length of that attempt and no longer. The price is that a caller never feels back-pressure: it gets a refusal instead
//! of a wait, which is what a guard is for.
//!
//! **A request is sent once** unless the layer is told how to have it again ([`GuardLayer::clone_requests`],
//! [`GuardLayer::clone_requests_with`]). A streamed body cannot be sent twice, and one that was half read must not be. A
//! request that cannot be had again ends its call with the first failure, without a pause and without a retry from the
//! budget. The copy is made before the attempt, so that no attempt is begun that a next one might need.
//!
//! **A refusal is an error** of the service, [`Failure`], with the inner service's own errors beside it and not erased; or a
//! response, where [`GuardLayer::answer_refusals`] says which: then the error type stays the inner service's, and routers
//! that demand `Infallible` take the layer as it is. Stacks whose errors are boxed already go on with boxed ones
//! ([`GuardLayer::box_errors`]).
//!
//! What is timed and what holds the slot is the call up to its response. A body that is streamed after that runs on
//! outside: bound it where it is made.
//!
//! Invariants: a service that was polled and not called holds nothing; a call's future that was not polled has taken
//! nothing; each attempt has a clone of the inner service of its own, and none is called that was not ready.

use std::fmt::{self, Display};
use std::future::poll_fn;
use std::hash::Hash;
use std::pin::Pin;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::call::{BoxError, Class, Error, Failure, Verdict};
use crate::guard::{EveryError, Guard, Judge};

impl<J> Guard<J> {
    /// This guard as a `tower::Layer`.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::Duration;
    /// use axum::http::{StatusCode, header};
    /// use axum::response::{IntoResponse, Response};
    /// use axum::{Router, routing::get};
    /// use watertight::guard::{Breaker, Bulkhead};
    /// use watertight::{Class, Guard, Verdict};
    ///
    /// let recs = Guard::named("doc-tower")
    ///     .timeout(Duration::from_millis(300))
    ///     .bulkhead(Bulkhead::new("doc-tower", 8).queue(16))
    ///     .breaker(Breaker::own())
    ///     .build()?;
    ///
    /// // Server errors count against the dependency, and a refusal is a 503 and no error.
    /// let layer = recs
    ///     .layer()
    ///     .judge_responses(|response: &Response| match response.status().is_server_error() {
    ///         true => Verdict::error(Class::Retryable, None),
    ///         false => Verdict::OK,
    ///     })
    ///     .answer_refusals(|refusal: watertight::Error| {
    ///         let after = refusal.retry_after().map_or(1, |after| after.as_secs() + 1);
    ///         let head = [(header::RETRY_AFTER, after.to_string())];
    ///         (StatusCode::SERVICE_UNAVAILABLE, head, refusal.to_string()).into_response()
    ///     });
    ///
    /// let app: Router = Router::new().route("/recs", get(|| async { "ready" })).layer(layer);
    /// # let request = axum::http::Request::get("/recs").body(axum::body::Body::empty())?;
    /// # assert_eq!(tower::ServiceExt::oneshot(app, request).await?.status(), 200);
    /// # Ok(())
    /// # }
    /// ```
    pub fn layer(self) -> GuardLayer<J> {
        GuardLayer { guard: self, again: SendOnce, refusals: AsErrors, key: AllAlike }
    }
}

/// A guard that wraps services, see [`Guard::layer`]. All services it makes share one site.
#[derive(Clone, Copy)]
#[must_use = "a layer does nothing until a service is given it"]
pub struct GuardLayer<J = EveryError, A = SendOnce, R = AsErrors, K = AllAlike> {
    guard: Guard<J>,
    again: A,
    refusals: R,
    key: K,
}

impl<J, A, R, K> GuardLayer<J, A, R, K> {
    /// Judges responses by a function; the inner service's errors are failures.
    ///
    /// Without it a response is a success, whatever its status.
    pub fn judge_responses<F>(self, judge: F) -> GuardLayer<Responses<F>, A, R, K> {
        let Self { guard, again, refusals, key } = self;
        GuardLayer { guard: guard.judge(Responses(judge)), again, refusals, key }
    }

    /// Lets requests be sent again, as clones.
    pub fn clone_requests(self) -> GuardLayer<J, Cloned, R, K> {
        let Self { guard, refusals, key, .. } = self;
        GuardLayer { guard, again: Cloned, refusals, key }
    }

    /// Lets requests be sent again as copies that a function makes; one of which it gives `None` is sent once.
    ///
    /// It is asked before each attempt that another may follow.
    pub fn clone_requests_with<F>(self, copy: F) -> GuardLayer<J, CopiedBy<F>, R, K> {
        let Self { guard, refusals, key, .. } = self;
        GuardLayer { guard, again: CopiedBy(copy), refusals, key }
    }

    /// Boxes errors, as tower's own middlewares do; a refusal is found again by `downcast_ref::<watertight::Error>()`.
    ///
    /// For inner services whose errors are boxed already, and below middlewares that ask for `Into<BoxError>`.
    pub fn box_errors(self) -> GuardLayer<J, A, Boxed, K> {
        let Self { guard, again, key, .. } = self;
        GuardLayer { guard, again, refusals: Boxed, key }
    }

    /// Answers a refused call with a response, so that the service's error type stays the inner one's.
    pub fn answer_refusals<F>(self, answer: F) -> GuardLayer<J, A, AsResponses<F>, K> {
        let Self { guard, again, key, .. } = self;
        GuardLayer { guard, again, refusals: AsResponses(answer), key }
    }

    /// Tells requests apart by a key, for a guard that is [`keyed`](crate::guard::Builder::keyed). One of which the function gives
    /// `None` shares a place with all others of its kind.
    pub fn key_by<F>(self, key: F) -> GuardLayer<J, A, R, KeyBy<F>> {
        let Self { guard, again, refusals, .. } = self;
        GuardLayer { guard, again, refusals, key: KeyBy(key) }
    }
}

impl<S, J: Clone, A: Clone, R: Clone, K: Clone> Layer<S> for GuardLayer<J, A, R, K> {
    type Service = GuardService<S, J, A, R, K>;

    fn layer(&self, inner: S) -> Self::Service {
        GuardService { layer: self.clone(), inner }
    }
}

/// A service behind a guard. Always ready; the inner one's readiness is waited for in the call.
#[derive(Clone)]
pub struct GuardService<S, J = EveryError, A = SendOnce, R = AsErrors, K = AllAlike> {
    layer: GuardLayer<J, A, R, K>,
    inner: S,
}

impl<S, Request, J, A, R, K> Service<Request> for GuardService<S, J, A, R, K>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: 'static,
    S::Error: 'static,
    Request: Send + 'static,
    J: Judge<Result<S::Response, S::Error>> + Clone + Send + Sync + 'static,
    A: Again<Request> + Clone + Send + Sync + 'static,
    R: Refusals<S::Response, S::Error> + Clone + Send + 'static,
    K: KeyOf<Request>,
{
    type Response = S::Response;
    type Error = R::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, R::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let key = self.layer.key.key(&request);
        let (guard, again, refusals) =
            (self.layer.guard.clone(), self.layer.again.clone(), self.layer.refusals.clone());
        let inner = self.inner.clone();
        // One allocation: the future has no name, and tower wants one.
        Box::pin(async move {
            let send = move |request: Request| {
                let mut inner = inner.clone();
                async move {
                    poll_fn(|cx| inner.poll_ready(cx)).await?;
                    inner.call(request).await
                }
            };
            let ended = guard.run_again(request, key, |request| again.again(request), send).await;
            refusals.land(ended)
        })
    }
}

/// How a request is had again for another attempt.
pub trait Again<Request> {
    /// One more of it, if there can be.
    fn again(&self, request: &Request) -> Option<Request>;
}

/// Each request is sent once, whatever the guard says about retries.
#[derive(Clone, Copy, Debug)]
pub struct SendOnce;

/// Requests are cloned.
#[derive(Clone, Copy, Debug)]
pub struct Cloned;

/// Requests are copied by a function, if it can.
#[derive(Clone, Copy)]
pub struct CopiedBy<F>(F);

impl<Request> Again<Request> for SendOnce {
    fn again(&self, _: &Request) -> Option<Request> {
        None
    }
}

impl<Request: Clone> Again<Request> for Cloned {
    fn again(&self, request: &Request) -> Option<Request> {
        Some(request.clone())
    }
}

impl<Request, F: Fn(&Request) -> Option<Request>> Again<Request> for CopiedBy<F> {
    fn again(&self, request: &Request) -> Option<Request> {
        (self.0)(request)
    }
}

/// What tells requests apart.
pub trait KeyOf<Request> {
    /// The key.
    type Key: Hash + Display + Send + 'static;

    /// That of a request, if it has one.
    fn key(&self, request: &Request) -> Option<Self::Key>;
}

/// Nothing does.
#[derive(Clone, Copy, Debug)]
pub struct AllAlike;

/// A function does.
#[derive(Clone, Copy)]
pub struct KeyBy<F>(F);

impl<Request> KeyOf<Request> for AllAlike {
    type Key = &'static str;

    fn key(&self, _: &Request) -> Option<&'static str> {
        None
    }
}

impl<Request, K: Hash + Display + Send + 'static, F: Fn(&Request) -> Option<K>> KeyOf<Request> for KeyBy<F> {
    type Key = K;

    fn key(&self, request: &Request) -> Option<K> {
        (self.0)(request)
    }
}

/// How a refusal reaches the caller of a service.
pub trait Refusals<Response, E> {
    /// The service's error type.
    type Error;

    /// The call's end, as the service's.
    ///
    /// # Errors
    ///
    /// What is no response.
    fn land(&self, ended: Result<Response, Failure<E>>) -> Result<Response, Self::Error>;
}

/// As the error [`Failure`], with the inner service's own beside it.
#[derive(Clone, Copy, Debug)]
pub struct AsErrors;

/// As an error in a box, like the inner service's own.
#[derive(Clone, Copy, Debug)]
pub struct Boxed;

/// As responses that a function makes.
#[derive(Clone, Copy)]
pub struct AsResponses<F>(F);

impl<Response, E> Refusals<Response, E> for AsErrors {
    type Error = Failure<E>;

    fn land(&self, ended: Result<Response, Failure<E>>) -> Result<Response, Failure<E>> {
        ended
    }
}

impl<Response, E: Into<BoxError>> Refusals<Response, E> for Boxed {
    type Error = BoxError;

    fn land(&self, ended: Result<Response, Failure<E>>) -> Result<Response, BoxError> {
        ended.map_err(|failure| match failure {
            Failure::Refused(error) => error.into(),
            Failure::Failed(error) => error.into(),
        })
    }
}

impl<Response, E, F: Fn(Error) -> Response> Refusals<Response, E> for AsResponses<F> {
    type Error = E;

    fn land(&self, ended: Result<Response, Failure<E>>) -> Result<Response, E> {
        match ended {
            Ok(response) => Ok(response),
            Err(Failure::Refused(error)) => Ok((self.0)(error)),
            Err(Failure::Failed(error)) => Err(error),
        }
    }
}

/// Judges responses by a function; every error is a failure.
#[derive(Clone, Copy)]
pub struct Responses<F>(F);

impl<Response, E, F: Fn(&Response) -> Verdict> Judge<Result<Response, E>> for Responses<F> {
    fn verdict(&self, answer: &Result<Response, E>) -> Verdict {
        match answer {
            Ok(response) => (self.0)(response),
            Err(_) => Verdict::error(Class::Retryable, None),
        }
    }
}

impl<J, A, R, K> fmt::Debug for GuardLayer<J, A, R, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GuardLayer").field(&self.guard).finish()
    }
}

impl<S: fmt::Debug, J, A, R, K> fmt::Debug for GuardService<S, J, A, R, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardService").field("guard", &self.layer.guard).field("inner", &self.inner).finish()
    }
}
