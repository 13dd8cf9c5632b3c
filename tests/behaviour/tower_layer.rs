//! Guards as tower layers: what is reserved and when, what is sent again, and how a refusal comes out.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, body::to_bytes};
use futures::future::{BoxFuture, poll_fn};
use futures::poll;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service, ServiceExt, service_fn};
use watertight::guard::{Backoff, Breaker, Budget, Bulkhead, Retry};
use watertight::metrics::BreakerState;
use watertight::{AttemptFate, Class, ErrorKind, Failure, Guard, StopReason, Verdict};
use watertight_tests::{Gate, Stopwatch, assert_quiet, breaker, ms, occupancy, site};

/// Two further attempts, ten milliseconds apart.
fn retries() -> Retry {
    Retry::new(2)
        .backoff(Backoff::constant().first(ms(10)).jitter(watertight::guard::Jitter::None))
        .budget(Budget::off())
}

#[tokio::test(start_paused = true)]
async fn a_response_an_error_and_a_refusal_are_told_apart() {
    let guard = Guard::named("tower_apart").timeout(ms(100)).build().unwrap();
    let service = guard.layer().layer(service_fn(|request: &'static str| async move {
        match request {
            "hang" => std::future::pending().await,
            "break" => Err(io::Error::other("broken")),
            _ => Ok(request.len()),
        }
    }));
    assert_eq!(service.clone().oneshot("fine").await.unwrap(), 4);
    assert!(
        matches!(service.clone().oneshot("break").await, Err(Failure::Failed(error)) if error.to_string() == "broken")
    );
    let refused = service.oneshot("hang").await.unwrap_err();
    assert_eq!(refused.refusal().map(watertight::Error::kind), Some(ErrorKind::TimedOut));
    let figures = site("tower_apart");
    assert_eq!((figures.ok, figures.error, figures.timed_out), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_ready_and_not_called_holds_nothing() {
    let guard = Guard::named("tower_idle").bulkhead(Bulkhead::new("tower_idle", 1)).build().unwrap();
    // The inner one takes its permit in `poll_ready`, as tower's limits do.
    let inner = ConcurrencyLimitLayer::new(1).layer(service_fn(|(): ()| async { Ok::<_, Infallible>(()) }));
    let service = guard.layer().layer(inner);
    let mut idle: Vec<_> = (0..10).map(|_| service.clone()).collect();
    for service in &mut idle {
        poll_fn(|cx| service.poll_ready(cx)).await.unwrap();
    }
    assert_eq!(occupancy("tower_idle"), (0, 0));
    service.clone().oneshot(()).await.expect("neither our slot nor the permit inside is taken");
    // Nor does a call that was made and not polled.
    let unpolled = idle[0].call(());
    service.oneshot(()).await.expect("free");
    drop(unpolled);
    assert_eq!((site("tower_idle").calls, site("tower_idle").in_flight), (2, 0));
    assert_quiet("tower_idle", 1);
}

#[tokio::test(start_paused = true)]
async fn it_is_ready_even_when_full_and_refuses_instead_of_parking() {
    let guard = Guard::named("tower_full").bulkhead(Bulkhead::new("tower_full", 1).queue(1)).build().unwrap();
    let gate = Arc::new(Gate::shut());
    let inside = Arc::clone(&gate);
    let mut service = guard.layer().layer(service_fn(move |(): ()| {
        let gate = Arc::clone(&inside);
        async move {
            gate.opened().await;
            Ok::<_, Infallible>(())
        }
    }));
    let (mut runs, mut waits) = (service.call(()), service.call(()));
    assert!(poll!(&mut runs).is_pending() && poll!(&mut waits).is_pending());
    assert_eq!(occupancy("tower_full"), (1, 1));
    let mut ready = Box::pin(poll_fn(|cx| service.poll_ready(cx)));
    assert!(matches!(poll!(&mut ready), Poll::Ready(Ok(()))));
    drop(ready);
    let refused = service.call(()).await.unwrap_err();
    assert_eq!(refused.refusal().map(watertight::Error::kind), Some(ErrorKind::BulkheadFull));
    // Dropped while it waits, it leaves; dropped while it runs, it gives back.
    drop(waits);
    assert_eq!(occupancy("tower_full"), (1, 0));
    drop(runs);
    assert_quiet("tower_full", 1);
}

/// Ready once the switch is on; counts how often it was called unready.
#[derive(Clone)]
struct Warming {
    is_warm: Arc<AtomicBool>,
    broken: Arc<AtomicU32>,
    ready: bool,
}

impl Warming {
    fn new(is_warm: bool, broken: u32) -> Self {
        Self { is_warm: Arc::new(AtomicBool::new(is_warm)), broken: Arc::new(AtomicU32::new(broken)), ready: false }
    }
}

impl Service<()> for Warming {
    type Response = ();
    type Error = io::Error;
    type Future = BoxFuture<'static, Result<(), io::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        if self.broken.load(Ordering::SeqCst) > 0 {
            self.broken.fetch_sub(1, Ordering::SeqCst);
            return Poll::Ready(Err(io::Error::other("not connected")));
        }
        self.ready = self.is_warm.load(Ordering::SeqCst);
        if self.ready {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, (): ()) -> Self::Future {
        assert!(std::mem::take(&mut self.ready), "called without having been ready");
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_inner_service_is_work_with_a_slot_and_a_limit() {
    let guard =
        Guard::named("tower_warming").timeout(ms(50)).bulkhead(Bulkhead::new("tower_warming", 1)).build().unwrap();
    let inner = Warming::new(false, 0);
    let warm = Arc::clone(&inner.is_warm);
    let mut service = guard.layer().layer(inner);
    let clock = Stopwatch::start();
    let never = tokio::spawn(service.call(()));
    tokio::task::yield_now().await;
    assert_eq!(occupancy("tower_warming"), (1, 0), "others see that it is taken");
    tokio::time::advance(ms(50)).await;
    let refused = never.await.unwrap().unwrap_err();
    clock.assert_reads(ms(50));
    assert_eq!(refused.refusal().map(watertight::Error::kind), Some(ErrorKind::TimedOut));
    warm.store(true, Ordering::SeqCst);
    service.call(()).await.unwrap();
    assert_quiet("tower_warming", 1);
}

#[tokio::test(start_paused = true)]
async fn an_inner_service_that_cannot_become_ready_has_failed_and_is_asked_again() {
    let guard = Guard::named("tower_unready").retry(retries()).build().unwrap();
    let service = guard.layer().clone_requests().layer(Warming::new(true, 2));
    service.oneshot(()).await.unwrap();
    let figures = site("tower_unready");
    assert_eq!((figures.ok, figures.retries, figures.attempts_by(AttemptFate::Error)), (1, 2, 2));
}

/// A request that counts its copies.
struct Counted(Arc<AtomicU32>);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&self.0))
    }
}

/// What a failing service behind a layer has seen: calls of it, copies of the request, and how long it all took.
async fn failing<L>(layer: L) -> (u32, u32, std::time::Duration)
where
    L: Layer<tower::util::BoxCloneService<Counted, (), io::Error>>,
    L::Service: Service<Counted>,
{
    let (calls, copies) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let seen = Arc::clone(&calls);
    let inner = service_fn(move |_: Counted| {
        seen.fetch_add(1, Ordering::SeqCst);
        async { Err::<(), _>(io::Error::other("broken")) }
    });
    let clock = Stopwatch::start();
    let service = layer.layer(tower::util::BoxCloneService::new(inner));
    assert!(service.oneshot(Counted(Arc::clone(&copies))).await.is_err());
    (calls.load(Ordering::SeqCst), copies.load(Ordering::SeqCst), clock.read())
}

#[tokio::test(start_paused = true)]
async fn requests_are_sent_again_only_where_they_can_be_had_again() {
    let guard = |name| Guard::named(name).retry(retries()).build().unwrap();
    let once = failing(guard("tower_once").layer()).await;
    assert_eq!(once, (1, 0, ms(0)), "no copy, no pause");
    assert_eq!(site("tower_once").stopped_for(StopReason::NotRetryable), 1);
    let (calls, copies, took) = failing(guard("tower_cloned").layer().clone_requests()).await;
    assert_eq!((calls, copies), (3, 2), "and none for the last attempt");
    assert!(took >= ms(20));
    let streamed = failing(guard("tower_streamed").layer().clone_requests_with(|_: &Counted| None)).await;
    assert_eq!(streamed, (1, 0, ms(0)));
    let left = AtomicU32::new(1);
    let copy = move |request: &Counted| {
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).ok().map(|_| request.clone())
    };
    let (calls, copies, took) =
        failing(guard("tower_copied").layer().clone_requests_with(Arc::new(copy).as_copy())).await;
    assert_eq!((calls, copies), (2, 1), "the attempt without another copy is the last");
    assert!(took < ms(15), "{took:?}");
    let (calls, copies, _) =
        failing(Guard::named("tower_single").timeout(ms(9)).build().unwrap().layer().clone_requests()).await;
    assert_eq!((calls, copies), (1, 0), "without retries nothing is copied");
}

/// A shared function as one that can be cloned.
trait AsCopy {
    fn as_copy(self: Arc<Self>) -> impl Fn(&Counted) -> Option<Counted> + Clone + Send + Sync + 'static;
}

impl<F: Fn(&Counted) -> Option<Counted> + Send + Sync + 'static> AsCopy for F {
    fn as_copy(self: Arc<Self>) -> impl Fn(&Counted) -> Option<Counted> + Clone + Send + Sync + 'static {
        move |request: &Counted| self(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_had_again_is_not_sent_again_after_a_timeout_either() {
    let guard = Guard::named("tower_cut").timeout(ms(5)).retry(retries()).idempotent().build().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let seen = Arc::clone(&calls);
    let service = guard.layer().layer(service_fn(move |(): ()| {
        seen.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<Result<(), Infallible>>()
    }));
    let clock = Stopwatch::start();
    assert!(service.oneshot(()).await.is_err());
    clock.assert_reads(ms(5));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_status_can_count_as_a_failure() {
    let guard = Guard::named("tower_status").breaker(Breaker::own().window(3)).retry(retries()).build().unwrap();
    let layer = guard.layer().clone_requests().judge_responses(|status: &u16| match status {
        500.. => Verdict::error(Class::Retryable, None),
        _ => Verdict::OK,
    });
    let service = layer.layer(service_fn(|status: u16| async move { Ok::<_, Infallible>(status) }));
    assert_eq!(service.clone().oneshot(200).await.unwrap(), 200);
    assert_eq!(service.clone().oneshot(503).await.unwrap(), 503, "the last response reaches the caller");
    assert_eq!(breaker("tower_status").state, BreakerState::Open);
    let refused = service.oneshot(200).await.unwrap_err();
    assert_eq!(refused.refusal().map(watertight::Error::kind), Some(ErrorKind::BreakerOpen));
    let figures = site("tower_status");
    assert_eq!((figures.ok, figures.error, figures.refused), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_router_takes_the_layer_and_answers_refusals_itself() {
    let guard =
        Guard::named("tower_router").timeout(ms(100)).bulkhead(Bulkhead::new("tower_router", 1)).build().unwrap();
    let layer = guard.layer().answer_refusals(|refusal: watertight::Error| -> Response {
        (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "1")], refusal.to_string()).into_response()
    });
    let app = Router::new()
        .route("/hang", get(std::future::pending::<&'static str>))
        .route("/", get(|| async { "here" }))
        .layer(layer);
    let send = |path: &str| app.clone().oneshot(Request::get(path).body(Body::empty()).unwrap());
    assert_eq!(send("/").await.unwrap().status(), 200);
    let mut hangs = Box::pin(send("/hang"));
    assert!(poll!(&mut hangs).is_pending());
    let full = send("/").await.unwrap();
    assert_eq!(
        (full.status(), full.headers()[header::RETRY_AFTER].to_str().unwrap()),
        (StatusCode::SERVICE_UNAVAILABLE, "1")
    );
    let said = to_bytes(full.into_body(), 1_000).await.unwrap();
    assert_eq!(said, "tower_router: bulkhead `tower_router` is full (1 of 1 slots running, 0 of 0 queued)");
    let late = hangs.await.unwrap();
    assert_eq!(late.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(site("tower_router").calls, 3, "one site for all routes and clones");
    assert_quiet("tower_router", 1);
}

#[tokio::test(start_paused = true)]
async fn inside_a_buffer_and_a_load_shed_the_guard_decides_and_nothing_is_lost() {
    let guard = Guard::named("tower_stack").timeout(ms(100)).bulkhead(Bulkhead::new("tower_stack", 2)).build().unwrap();
    let inner = tower::buffer::Buffer::new(service_fn(|(): ()| async { Ok::<_, Infallible>(()) }), 1);
    let shed = tower::load_shed::LoadShed::new(guard.layer().box_errors().layer(inner));
    for _ in 0..20 {
        // A caller that asks and goes away, over and over, takes no place in the buffer of one.
        let mut asked = shed.clone();
        assert!(poll_fn(|cx| asked.poll_ready(cx)).await.is_ok());
        drop(asked);
        shed.clone().oneshot(()).await.unwrap();
    }
    assert_eq!(site("tower_stack").ok, 20);
    let hangs = guard.layer().box_errors().layer(service_fn(|(): ()| std::future::pending::<Result<(), io::Error>>()));
    let error = hangs.oneshot(()).await.unwrap_err();
    assert_eq!(error.downcast_ref::<watertight::Error>().map(watertight::Error::kind), Some(ErrorKind::TimedOut));
    assert_quiet("tower_stack", 2);
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_can_be_called_once_is_not_tried_again() {
    let guard = Guard::named("guard_run_once").retry(retries()).build().unwrap();
    let owned = String::from("taken");
    let clock = Stopwatch::start();
    let answer = guard.run_once(|| async move { Err::<(), _>(io::Error::other(owned)) }).await;
    assert!(matches!(answer, Err(Failure::Failed(error)) if error.to_string() == "taken"));
    clock.assert_reads(ms(0));
    assert_eq!(site("guard_run_once").attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn requests_are_told_apart_by_a_key() {
    let slots = Bulkhead::new("tower_keyed", 1);
    let guard = Guard::named("tower_keyed").bulkhead(slots).keyed().build().unwrap();
    let gate = Arc::new(Gate::shut());
    let inner = {
        let gate = Arc::clone(&gate);
        service_fn(move |request: &'static str| {
            let gate = Arc::clone(&gate);
            async move {
                gate.opened().await;
                Ok::<_, io::Error>(request)
            }
        })
    };
    let layer = guard.layer().key_by(|request: &&'static str| (*request != "nobody").then_some(*request));
    let service = layer.layer(inner);
    let mut acme = Box::pin(service.clone().oneshot("acme"));
    let mut other = Box::pin(service.clone().oneshot("other"));
    let mut nobody = Box::pin(service.clone().oneshot("nobody"));
    for call in [&mut acme, &mut other, &mut nobody] {
        assert!(poll!(call).is_pending(), "each has a slot of its own");
    }
    match service.oneshot("acme").await {
        Err(Failure::Refused(error)) => assert_eq!(error.kind(), ErrorKind::BulkheadFull),
        answer => panic!("{answer:?}"),
    }
    gate.open();
    assert_eq!((acme.await.unwrap(), other.await.unwrap(), nobody.await.unwrap()), ("acme", "other", "nobody"));
}
