//! # What waits for ever when nobody set a limit
//!
//! The claim: the clients people use come without a limit on the one thing that takes services down, an answer that does not
//! come, and where they have one it is so long that it does not matter.
//!
//! Measured by asking each client, as it comes out of its constructor, something that is never answered, and leaving it
//! alone for a bounded time. What had not ended by then is "still waiting", which is all that can be said; how the others
//! ended is shown in their words. Then the same under a guard of one second.
//!
//! What is never answered: a listener that accepts and reads nothing; one whose queue of connections is full, so that a
//! further connection is neither accepted nor refused, as with an address that leads nowhere; a lock that is held; a pool that
//! is empty.
//!
//! Invariants:
//! * no client is given a limit; the pools are given a size and nothing else;
//! * loopback only.

use std::fmt::Display;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, timeout};
use watertight::resilient;

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Table, compared};
use crate::report::words;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "defaults",
    question: "Which clients wait for ever when nobody set a limit?",
    setup: "Each client with its own defaults asks what is never answered, and is left alone for a bounded time; then the same \
            under one attribute with a limit of a second.",
    meaning: "Assume that a client has no limit until you have seen it end. Set one where the call is made, and one around it: \
              the client's own may cover the connection and not the answer.",
    run: |bench| Box::pin(run(bench)),
};

/// How a wait ended, in words.
type Ended = String;
type Wait = BoxFuture<'static, Ended>;

#[resilient(timeout = "1s")]
async fn defaults(wait: Wait) -> Result<Ended, watertight::Error> {
    Ok(wait.await)
}

/// Who waits for what, and the same wait twice: one to leave alone, one to guard.
struct Case {
    client: &'static str,
    waits_for: &'static str,
    alone: Wait,
    guarded: Wait,
}

/// A listener that accepts and never answers, and one that does not even accept; both for as long as this lives.
struct Silence {
    silent: String,
    full: String,
    _fillers: Vec<TcpStream>,
    _full: TcpListener,
    _accepting: tokio::task::JoinSet<()>,
}

impl Silence {
    async fn listen() -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let silent = listener.local_addr()?.to_string();
        let mut accepting = tokio::task::JoinSet::new();
        accepting.spawn(async move {
            let mut held = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                held.push(stream);
            }
        });
        let socket = TcpSocket::new_v4()?;
        socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
        let full = socket.listen(1)?;
        let address = full.local_addr()?;
        // Whoever still comes in after these finds no place; the bound is for systems that have more of them.
        let mut fillers = Vec::new();
        while fillers.len() < 64 {
            match timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
                Ok(Ok(stream)) => fillers.push(stream),
                _ => break,
            }
        }
        Ok(Self { silent, full: address.to_string(), _fillers: fillers, _full: full, _accepting: accepting })
    }
}

fn words<T, E: Display>(ended: Result<T, E>) -> Ended {
    match ended {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn cases(silence: &Silence) -> Vec<Case> {
    let (silent, full) = (silence.silent.clone(), silence.full.clone());
    let http = |at: &str| -> Wait {
        let url = format!("http://{at}/");
        Box::pin(async move {
            words(reqwest::Client::builder().no_proxy().build().expect("a plain client").get(url).send().await)
        })
    };
    let twice = |client, waits_for, make: &dyn Fn() -> Wait| Case { client, waits_for, alone: make(), guarded: make() };
    let url = format!("postgres://nobody@{silent}/none");
    vec![
        twice("reqwest", "an answer", &|| http(&silent)),
        twice("reqwest", "a connection", &|| http(&full)),
        twice("hyper", "an answer", &|| Box::pin(by_hyper(silent.clone()))),
        twice("tokio", "a connection", &|| Box::pin(by_connecting(full.clone()))),
        twice("tokio", "bytes from a socket", &|| Box::pin(by_reading(silent.clone()))),
        twice("sqlx", "a connection of an empty pool", &|| Box::pin(by_acquiring())),
        twice("sqlx, SQLite", "a lock", &|| Box::pin(by_writing())),
        twice("sqlx, Postgres", "a server that says nothing", &|| Box::pin(by_sqlx(url.clone()))),
        twice("tokio-postgres", "a server that says nothing", &|| Box::pin(by_tokio_postgres(url.clone()))),
        twice("redis", "a server that says nothing", &|| Box::pin(by_redis(silent.clone()))),
        twice("tonic", "an answer", &|| Box::pin(by_tonic(silent.clone()))),
    ]
}

async fn by_hyper(at: String) -> Ended {
    let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new());
    let client = client.build_http::<axum::body::Body>();
    match format!("http://{at}/").parse() {
        Ok(uri) => words(client.get(uri).await),
        Err(error) => format!("{error}"),
    }
}

async fn by_connecting(at: String) -> Ended {
    words(TcpStream::connect(at).await)
}

async fn by_reading(at: String) -> Ended {
    let read = async {
        let mut stream = TcpStream::connect(at).await?;
        stream.write_all(b"PING\r\n").await?;
        stream.read(&mut [0; 16]).await
    };
    words(read.await)
}

async fn by_acquiring() -> Ended {
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await;
    match pool {
        Ok(pool) => {
            let _only = pool.acquire().await;
            words(pool.acquire().await)
        }
        Err(error) => error.to_string(),
    }
}

async fn by_writing() -> Ended {
    use sqlx::ConnectOptions;
    static NAMES: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let write = async {
        let name = format!("/lab-{}", NAMES.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let options = SqliteConnectOptions::new().filename(name).vfs("memdb").create_if_missing(true);
        let (mut holder, mut waiter) = (options.connect().await?, options.connect().await?);
        sqlx::query("create table t (a)").execute(&mut holder).await?;
        sqlx::query("begin exclusive").execute(&mut holder).await?;
        sqlx::query("insert into t values (1)").execute(&mut waiter).await
    };
    words(write.await)
}

async fn by_sqlx(url: String) -> Ended {
    use sqlx::Connection;
    words(sqlx::PgConnection::connect(&url).await)
}

async fn by_tokio_postgres(url: String) -> Ended {
    words(tokio_postgres::connect(&url, tokio_postgres::NoTls).await)
}

async fn by_redis(at: String) -> Ended {
    let ask = async {
        let client = redis::Client::open(format!("redis://{at}/"))?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        redis::cmd("PING").query_async::<String>(&mut connection).await
    };
    words(ask.await)
}

async fn by_tonic(at: String) -> Ended {
    let ask = async {
        let channel = tonic::transport::Endpoint::from_shared(format!("http://{at}"))?.connect().await?;
        let mut client = tonic_health::pb::health_client::HealthClient::new(channel);
        let check = client.check(tonic_health::pb::HealthCheckRequest::default()).await;
        Ok::<_, tonic::transport::Error>(words(check))
    };
    ask.await.unwrap_or_else(|error| error.to_string())
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let watched = bench.seconds(35.0, 3.0);
    let silence = Silence::listen().await?;
    let cases = cases(&silence);
    let line = ("guarded".to_owned(), attribute(include_str!("defaults.rs"), "defaults"));
    let mut outcome = Outcome { lines: vec![line], ..Outcome::default() };
    outcome.set("left_alone_for_seconds", watched.as_secs_f64());
    let each = cases.into_iter().map(|case| async move {
        let begun = Instant::now();
        let timed = async {
            let ended = timeout(watched, case.alone).await.ok();
            (begun.elapsed(), ended)
        };
        let guarded = async {
            let ended = defaults(case.guarded).await;
            (begun.elapsed(), ended.is_err())
        };
        let (alone, guarded) = tokio::join!(timed, guarded);
        (case.client, case.waits_for, alone, guarded)
    });
    let seen = tokio::select! {
        seen = join_all(each) => seen,
        () = bench.live.follow("left alone", watched, String::new) => return Ok(outcome),
        () = bench.stop.clone().stopped() => return Ok(outcome),
    };
    let mut table =
        Table::new("Each client with its defaults", &["client", "waits for", "by itself", "guarded", "in its words"]);
    for (client, waits_for, (took, ended), (guarded, _)) in &seen {
        let alone = match ended {
            None => format!("still waiting after {} s", watched.as_secs()),
            Some(_) => format!("ended after {}", words::latency(Some(*took))),
        };
        let said = ended.clone().unwrap_or_else(|| "-".to_owned()).replace(['|', '\n'], " ");
        table.row([(*client).into(), (*waits_for).into(), alone.into(), Cell::Time(Some(*guarded)), said.into()]);
    }
    outcome.tables.push(table);
    let waiting = |name: &str, what: &str| {
        seen.iter().any(|(client, waits_for, (_, ended), _)| *client == name && *waits_for == what && ended.is_none())
    };
    let count = seen.iter().filter(|(_, _, (_, ended), _)| ended.is_none()).count();
    let find = |name: &str, what: &str| {
        seen.iter().find(|(client, waits_for, ..)| *client == name && *waits_for == what).map(|(.., alone, _)| alone)
    };
    let state = |alone: Option<&(Duration, Option<Ended>)>| match alone {
        Some((took, Some(_))) => format!("ended after {}", words::latency(Some(*took))),
        _ => format!("still waiting after {} s", watched.as_secs()),
    };
    outcome.claim(
        "reqwest waits for an answer for as long as it was watched",
        waiting("reqwest", "an answer"),
        state(find("reqwest", "an answer")),
    );
    outcome.claim("And hyper does", waiting("hyper", "an answer"), state(find("hyper", "an answer")));
    outcome.claim(
        "And tokio-postgres does",
        waiting("tokio-postgres", "a server that says nothing"),
        state(find("tokio-postgres", "a server that says nothing")),
    );
    outcome.claim(
        "Most have no limit, or one that did not matter here",
        count * 2 > seen.len(),
        format!("{count} of {} still waiting", seen.len()),
    );
    let longest = seen.iter().map(|(_, _, _, (took, _))| *took).max().unwrap_or_default();
    outcome.milder(bench.quick, "35 s of waiting");
    outcome.claim(
        "Guarded, every one of them ends",
        longest < Duration::from_secs(2),
        format!("the last after {}", words::latency(Some(longest))),
    );
    let answer = find("reqwest", "an answer");
    outcome.beside(
        "an answer that does not come",
        "fetch 301 s, http.request never",
        format!("reqwest: {}", state(answer)),
        match answer {
            Some((_, Some(said))) => format!("It ended by itself, with: {said}."),
            _ => format!(
                "No end was seen. A limit of 301 s would not have shown in the {} s that were watched, either.",
                watched.as_secs()
            ),
        },
    );
    let (connection, bare) = (find("reqwest", "a connection"), find("tokio", "a connection"));
    outcome.beside(
        "a connection that is not made",
        "fetch 10.5 s",
        format!("reqwest: {}", state(connection)),
        format!(
            "{} A plain connection by tokio, beside it: {}.",
            match connection {
                Some((took, Some(_))) => format!("{}.", compared(took.as_secs_f64(), 10.5)),
                _ => "Longer than it was watched.".to_owned(),
            },
            state(bare),
        ),
    );
    Ok(outcome)
}
