//! By gRPC: tonic on both sides, with the health service, whose code is generated already.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;

use axum::http;
use futures::{Stream, StreamExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status};
use tonic_health::pb::health_client::HealthClient;
use tonic_health::pb::health_server::{Health, HealthServer};
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tower::{Service, ServiceBuilder, service_fn};
use watertight::integrations::tonic::{ClientLayer, ClientService, ServerLayer, failure};
use watertight::stream::keep;
use watertight::{Error, ErrorKind, Failure, deadline, resilient};
use watertight_tests::threads::block_for;
use watertight_tests::{Stopwatch, assert_quiet, ms, site};

use crate::support::{Far, Pace, alone, inheriting};

type Client = HealthClient<ClientService<Channel>>;

/// What a hop does when it is asked.
#[derive(Clone)]
enum Hop {
    /// Works until it is dropped.
    Works(Far),
    /// Asks the next one.
    Asks(Client),
    /// Has no slot left.
    Full,
}

#[tonic::async_trait]
impl Health for Hop {
    async fn check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        #[resilient(bulkhead = "edges-grpc-secret:1")]
        async fn edges_grpc_full() -> Result<(), Error> {
            Ok(())
        }
        #[resilient(bulkhead = "edges-grpc-secret")]
        async fn edges_grpc_held() -> Result<(), Error> {
            tokio::spawn(edges_grpc_full()).await.expect("no panic")
        }
        match self {
            Self::Works(far) => match far.work().await {},
            Self::Asks(next) => ask(next).await.map(Response::new),
            Self::Full => Ok(edges_grpc_held().await.map(|()| Response::new(HealthCheckResponse::default()))?),
        }
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn watch(&self, _: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Ok(Response::new(edges_grpc_watch().await?))
    }
}

/// An answer every 50 ms, without an end.
#[resilient(timeout = "175ms", bulkhead = "edges_grpc_watch:1")]
async fn edges_grpc_watch() -> Result<<Hop as Health>::WatchStream, Status> {
    let answers = futures::stream::repeat(()).then(|()| async {
        sleep(ms(50)).await;
        Ok(HealthCheckResponse::default())
    });
    Ok(Box::pin(keep(answers)))
}

/// Would wait for half a minute.
#[resilient(timeout = "30s")]
async fn edges_grpc_ask(next: &Client) -> Result<HealthCheckResponse, Status> {
    let mut next = next.clone();
    next.check(HealthCheckRequest::default()).await.map(Response::into_inner)
}

async fn ask(next: &Client) -> Result<HealthCheckResponse, Status> {
    edges_grpc_ask(next).await
}

async fn listen() -> (TcpIncoming, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("bound");
    (TcpIncoming::from(listener), format!("http://{address}"))
}

/// Serves a hop that heeds what it is told.
async fn serve(hop: Hop) -> String {
    let (incoming, address) = listen().await;
    let server = Server::builder().layer(ServerLayer::new()).add_service(HealthServer::new(hop));
    tokio::spawn(server.serve_with_incoming(incoming));
    address
}

async fn client(address: &str) -> Client {
    let channel = Endpoint::new(address.to_owned()).expect("an address").connect().await.expect("a server");
    HealthClient::new(ServiceBuilder::new().layer(ClientLayer::new()).service(channel))
}

/// A call by hand, without a timer on this side: the code of the answer, and how long it took.
async fn by_hand(address: &str, told: &'static str) -> (String, Duration) {
    let client = reqwest::Client::builder().http2_prior_knowledge().build().expect("a client");
    let asked = client.post(format!("{address}/grpc.health.v1.Health/Check")).body(vec![0; 5]);
    let asked = asked.header("content-type", "application/grpc").header("te", "trailers").header("grpc-timeout", told);
    let clock = Stopwatch::start();
    let answer = asked.send().await.expect("an answer");
    let code = answer.headers().get("grpc-status").expect("a status").to_str().expect("text").to_owned();
    (code, clock.read())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_is_exceeded_and_not_cancelled() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let ours = serve(Hop::Works(far.clone())).await;
    for told in ["200m", "200000u"] {
        let (code, took) = by_hand(&ours, told).await;
        assert_eq!(code, (Code::DeadlineExceeded as i32).to_string());
        pace.assert_about(told, took, ms(200));
    }
    assert_eq!(by_hand(&ours, "0S").await.0, (Code::DeadlineExceeded as i32).to_string());
    assert_eq!(far.begun(), 2, "with nothing left the handler is not called");
    far.stopped().await;

    let (incoming, bare) = listen().await;
    let server = Server::builder().add_service(HealthServer::new(Hop::Works(far.clone())));
    tokio::spawn(server.serve_with_incoming(incoming));
    assert_eq!(by_hand(&bare, "200m").await.0, (Code::Cancelled as i32).to_string(), "what tonic says by itself");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_breaks_the_rules_was_not_said() {
    let _alone = alone().await;
    let (incoming, address) = listen().await;
    let layer = ServerLayer::new().or(ms(150));
    let hop = HealthServer::new(Hop::Works(Far::default()));
    tokio::spawn(Server::builder().layer(layer).add_service(hop).serve_with_incoming(incoming));
    let pace = Pace::watch();
    for bad in ["10s", "10", "100000000n", "-1m"] {
        let (code, took) = by_hand(&address, bad).await;
        assert_eq!(code, (Code::DeadlineExceeded as i32).to_string());
        pace.assert_about(bad, took, ms(150));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_of_three_hops_stops_at_the_deadline_of_the_first() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let last = serve(Hop::Works(far.clone())).await;
    let middle = serve(Hop::Asks(client(&last).await)).await;
    let first = serve(Hop::Asks(client(&middle).await)).await;
    let (began, edge) = (Instant::now(), client(&first).await);
    let asked = deadline::within(ms(400), ask(&edge)).await;
    // Whichever timer is first in the last millisecond: that of the scope, or that of the guarded function in it.
    let error = match asked {
        Err(error) => error,
        Ok(answer) => match failure(answer.expect_err("cut off")) {
            Failure::Refused(error) => error,
            Failure::Failed(status) => panic!("not ours: {status}"),
        },
    };
    assert_eq!(error.kind(), ErrorKind::Deadline, "{error}");
    pace.assert_about("the edge", began.elapsed(), ms(400));
    // Each hop keeps 2 ms back.
    pace.assert_about("the last hop stops", far.stopped().await - began + ms(6), ms(400));
    assert_eq!(far.begun(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_on_at_any_hop_when_the_caller_has_left() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let last = serve(Hop::Works(far.clone())).await;
    let first = serve(Hop::Asks(client(&last).await)).await;
    let edge = client(&first).await;
    let callers: Vec<_> = (0..8)
        .map(|_| {
            let edge = edge.clone();
            tokio::spawn(async move { ask(&edge).await })
        })
        .collect();
    far.until_running(8).await;
    let left = Instant::now();
    for caller in &callers {
        caller.abort();
    }
    pace.assert_about("the last hop stops", far.stopped().await - left, Duration::ZERO);
}

#[resilient(timeout = "60ms", retry = 2)]
async fn edges_grpc_cut(next: &Client) -> Result<(), Status> {
    next.clone().check(HealthCheckRequest::default()).await.map(drop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_is_cut_off_while_it_waits_for_an_answer_is_counted_as_such() {
    let _alone = alone().await;
    let far = Far::default();
    let next = client(&serve(Hop::Works(far.clone())).await).await;
    for _ in 0..20 {
        let status = edges_grpc_cut(&next).await.expect_err("cut off");
        assert_eq!(status.code(), Code::DeadlineExceeded);
        let found = failure(status);
        assert!(matches!(&found, Failure::Refused(error) if error.kind() == ErrorKind::TimedOut), "{found:?}");
    }
    let figures = site("edges_grpc_cut");
    assert_eq!((figures.timed_out, figures.error), (20, 0));
    far.stopped().await;
    assert_eq!(far.begun(), 20, "what may have been done is not done again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_refused_with_nothing_left_and_ends_by_itself_where_nobody_drops_it() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let next = client(&serve(Hop::Works(far.clone())).await).await;
    let spent = deadline::within(ms(200), async {
        block_for(ms(201));
        next.clone().check(HealthCheckRequest::default()).await
    });
    let status = spent.await.expect("ready").expect_err("refused");
    assert!(matches!(failure(status), Failure::Refused(error) if error.is_refusal()));
    assert_eq!(far.begun(), 0, "nothing was sent");

    let clock = Stopwatch::start();
    let mut own = next.clone();
    let answer = inheriting(ms(150), async move { own.check(HealthCheckRequest::default()).await }).await;
    let status = answer.expect_err("cut off");
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!(matches!(failure(status), Failure::Refused(error) if error.kind() == ErrorKind::Deadline));
    pace.assert_about("a call in a task", clock.read(), ms(150));
    far.stopped().await;
}

#[resilient(timeout = "60ms")]
async fn edges_grpc_stall() -> Result<(), Status> {
    let hangs = service_fn(|_: http::Request<()>| pending::<Result<http::Response<()>, Status>>());
    let mut client = ServiceBuilder::new().layer(ClientLayer::new()).service(hangs);
    client.call(http::Request::new(())).await.map(drop).map_err(Status::from_error)
}

#[tokio::test(start_paused = true)]
async fn a_machine_that_stalls_does_not_turn_a_cut_off_attempt_into_an_error() {
    let mut call = std::pin::pin!(edges_grpc_stall());
    assert!(futures::poll!(&mut call).is_pending());
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(call.await.expect_err("cut off").code(), Code::DeadlineExceeded);
    assert_eq!((site("edges_grpc_stall").timed_out, site("edges_grpc_stall").error), (1, 0));
}

#[tokio::test]
async fn a_stream_of_answers_that_keeps_its_slot_is_exceeded_at_the_limit() {
    let mut client = client(&serve(Hop::Full).await).await;
    let mut answers = client.watch(HealthCheckRequest::default()).await.expect("a stream").into_inner();
    answers.message().await.expect("in time").expect("an answer");
    let second = client.watch(HealthCheckRequest::default()).await.expect_err("one slot");
    assert_eq!(second.code(), Code::ResourceExhausted);
    let end = loop {
        match answers.message().await {
            Ok(answer) => drop(answer.expect("it has no end")),
            Err(status) => break status,
        }
    };
    assert_eq!(end.code(), Code::DeadlineExceeded, "{end:?}");
    assert_quiet("edges_grpc_watch", 1);
}

#[tokio::test]
async fn a_refusal_says_when_to_come_back_and_nothing_of_what_is_inside() {
    let mut client = client(&serve(Hop::Full).await).await;
    let status = client.check(HealthCheckRequest::default()).await.expect_err("full");
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert_eq!(status.metadata().get("grpc-retry-pushback-ms").expect("told"), "1000");
    assert_eq!(status.metadata().get("retry-after").expect("told"), "1");
    assert_eq!(status.message(), "there are too many calls at the moment");
    assert!(!format!("{status:?}").contains("secret"), "{status:?}");
}
