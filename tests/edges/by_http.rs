//! Over HTTP: axum on one side, reqwest on the other.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use tokio::time::{Instant, sleep, timeout};
use watertight::integrations::http::ServerLayer;
use watertight::integrations::reqwest::{ClientMiddleware, failure};
use watertight::{Error, ErrorKind, Failure, deadline, resilient};
use watertight_tests::threads::block_for;
use watertight_tests::{Stopwatch, ms, site};

use crate::support::{Far, Pace, alone, inheriting, serve};

type ClientError = reqwest_middleware::Error;

fn client() -> ClientWithMiddleware {
    ClientBuilder::new(reqwest::Client::new()).with(ClientMiddleware::new()).build()
}

/// A hop that works until it is dropped.
async fn last(far: &Far) -> String {
    async fn handle(State(far): State<Far>) -> String {
        match far.work().await {}
    }
    serve(Router::new().route("/", get(handle)).layer(ServerLayer::new()).with_state(far.clone())).await
}

/// A hop that asks the next one, and would wait for half a minute.
async fn middle(next: String) -> String {
    #[resilient(timeout = "30s")]
    async fn edges_middle(client: &ClientWithMiddleware, next: &str) -> Result<String, ClientError> {
        Ok(client.get(next).send().await?.text().await?)
    }
    async fn handle(State((client, next)): State<(ClientWithMiddleware, String)>) -> Result<String, Error> {
        match edges_middle(&client, &next).await.map_err(failure) {
            Ok(text) => Ok(text),
            Err(Failure::Refused(error)) => Err(error),
            Err(Failure::Failed(error)) => panic!("the next hop: {error}"),
        }
    }
    serve(Router::new().route("/", get(handle)).layer(ServerLayer::new()).with_state((client(), next))).await
}

async fn body(answer: reqwest::Response) -> String {
    answer.text().await.expect("a body")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_of_three_hops_stops_at_the_deadline_of_the_first() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let first = middle(middle(last(&far).await).await).await;
    let began = Instant::now();
    let answer = reqwest::Client::new().get(&first).header("x-request-timeout-ms", "400").send().await;
    let answer = answer.expect("an answer");
    pace.assert_about("the edge answers", began.elapsed(), ms(400));
    pace.assert_about("the last hop stops", far.stopped().await - began, ms(400));
    assert_eq!(answer.status(), 504);
    assert_eq!(far.begun(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_runs_on_at_any_hop_when_the_caller_has_left() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let first = middle(middle(last(&far).await).await).await;
    let client = reqwest::Client::new();
    let callers: Vec<_> = (0..8).map(|_| tokio::spawn(client.get(&first).send())).collect();
    far.until_running(8).await;
    let left = Instant::now();
    for caller in &callers {
        caller.abort();
    }
    pace.assert_about("the last hop stops", far.stopped().await - left, Duration::ZERO);
    assert_eq!(far.begun(), 8);
}

/// A hop in a runtime of its own, whose clock is so far ahead.
async fn ahead(hours: u64, far: Far) -> String {
    let (tell, told) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            tokio::time::pause();
            tokio::time::advance(Duration::from_secs(hours * 3_600)).await;
            tokio::time::resume();
            tell.send(middle(last(&far).await).await).expect("somebody asks");
            // As long as a test can take.
            timeout(Duration::from_mins(1), std::future::pending::<()>()).await.expect_err("never ready");
        });
    });
    told.await.expect("a hop")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_that_disagree_by_hours_change_nothing() {
    let _alone = alone().await;
    for hours in [0, 5] {
        // This process' first hop goes by the machine's clock; the others are hours ahead of it, and the last answers to them.
        let (pace, far) = (Pace::watch(), Far::default());
        let first = middle(ahead(hours, far.clone()).await).await;
        let clock = Stopwatch::start();
        let asked = reqwest::Client::new().get(&first).header("x-request-timeout-ms", "300");
        // A date is on the wire too, and nobody asks it.
        let answer = asked.header("date", "Thu, 01 Jan 1970 00:00:00 GMT").send().await.expect("an answer");
        pace.assert_about(&format!("{hours} h ahead"), clock.read(), ms(300));
        assert_eq!(answer.status(), 504);
        far.stopped().await;
    }
}

#[tokio::test]
async fn a_request_is_told_clearly_and_nothing_of_what_is_inside() {
    #[resilient(bulkhead = "edges-secret:1", timeout = "1s")]
    async fn edges_secret() -> Result<String, Error> {
        Ok(String::new())
    }
    #[resilient(bulkhead = "edges-secret", timeout = "1s")]
    async fn edges_secret_held() -> Result<String, Error> {
        sleep(ms(60_000)).await;
        Ok(String::new())
    }
    let app = Router::new()
        .route("/full", get(edges_secret))
        .route("/hangs", get(std::future::pending::<String>))
        .route("/left", get(|| async { format!("{:?}", deadline::remaining().map(|it| it.as_secs())) }));
    let layer = ServerLayer::new().or(ms(100)).at_most(Duration::from_secs(10));
    let base = serve(app.layer(layer)).await;
    let client = reqwest::Client::new();
    let ask = |path: &str, said: Option<&'static str>| {
        let asked = client.get(format!("{base}{path}"));
        let asked = said.into_iter().fold(asked, |asked, said| asked.header("x-request-timeout-ms", said));
        async { asked.send().await.expect("an answer") }
    };

    let late = ask("/hangs", None).await;
    assert_eq!((late.status().as_u16(), &late.headers()["retry-after"]), (504, &"1".parse().expect("a value")));
    assert_eq!(body(late).await, "The time for this request was over before there was an answer.\n");

    let spent = ask("/left", Some("0")).await;
    assert_eq!(spent.status(), 504, "with nothing left the handler is not called");
    for (said, left) in [
        (Some("9000"), "Some(8)"),
        (Some("99999999999999999999999999"), "Some(9)"), // the ceiling
        (Some("soon"), "Some(0)"),
        (Some("-1"), "Some(0)"),
        (Some(""), "Some(0)"),
        (None, "Some(0)"),
    ] {
        assert_eq!(body(ask("/left", said).await).await, left, "{said:?}");
    }

    let held = tokio::spawn(edges_secret_held());
    while watertight::snapshot().bulkhead("edges-secret").is_none_or(|it| it.running == 0) {
        tokio::task::yield_now().await;
    }
    let full = ask("/full", Some("5000")).await;
    assert_eq!((full.status().as_u16(), &full.headers()["retry-after"]), (503, &"1".parse().expect("a value")));
    let text = body(full).await;
    assert!(!text.contains("edges") && !text.contains('1'), "{text}");
    held.abort();
}

#[resilient(timeout = "60ms", retry = 2)]
async fn edges_cut(client: &ClientWithMiddleware, next: &str) -> Result<String, ClientError> {
    Ok(client.get(next).timeout(Duration::from_secs(9)).send().await?.text().await?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_is_cut_off_while_it_waits_for_an_answer_is_counted_as_such() {
    let _alone = alone().await;
    let far = Far::default();
    let (client, next) = (client(), last(&far).await);
    for _ in 0..20 {
        let Failure::Refused(error) = failure(edges_cut(&client, &next).await.expect_err("cut off")) else {
            panic!("not ours")
        };
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
    let figures = site("edges_cut");
    assert_eq!((figures.timed_out, figures.error), (20, 0));
    far.stopped().await;
    assert_eq!(far.begun(), 20, "what may have been done is not done again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_refused_with_nothing_left_and_ends_by_itself_where_nobody_drops_it() {
    let _alone = alone().await;
    let (pace, far) = (Pace::watch(), Far::default());
    let (client, next) = (client(), last(&far).await);
    let spent = deadline::within(ms(200), async {
        // In one step, so that nothing is cut off before it is asked.
        block_for(ms(201));
        client.get(&next).send().await
    });
    let Failure::Refused(error) = failure(spent.await.expect("ready").expect_err("refused")) else {
        panic!("not ours")
    };
    assert!(error.is_refusal(), "{error}");
    assert_eq!(far.begun(), 0, "nothing was sent");

    for own in [None, Some(Duration::from_secs(20))] {
        let clock = Stopwatch::start();
        let mut asked = client.get(&next);
        if let Some(own) = own {
            asked = asked.timeout(own);
        }
        let answer = inheriting(ms(150), asked.send()).await;
        let Failure::Refused(error) = failure(answer.expect_err("cut off")) else { panic!("not ours") };
        assert_eq!(error.kind(), ErrorKind::Deadline, "{error}");
        pace.assert_about("a request in a task", clock.read(), ms(150));
    }

    let own = client.get(&next).timeout(ms(40)).send();
    let shorter = deadline::within(Duration::from_secs(20), own).await.expect("in time").expect_err("its own timeout");
    assert!(matches!(failure(shorter), Failure::Failed(error) if error.is_timeout()));
    far.stopped().await;
}
