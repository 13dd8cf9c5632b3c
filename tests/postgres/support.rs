//! The server, watched from outside, and what a call on it can end with.

use std::fmt;
use std::time::Duration;

use tokio::sync::{Mutex, MutexGuard};
use tokio::time::sleep;
use tokio_postgres::{Client, NoTls};
use watertight::{Error, ErrorKind, Failure, deadline};
use watertight_tests::{Stopwatch, ms};

/// Where the server is looked for.
pub(crate) const ADDRESS: &str = "127.0.0.1:5432";

/// A server that is there, and nobody else who measures.
pub(crate) struct Server {
    watcher: Client,
    _alone: MutexGuard<'static, ()>,
}

impl Server {
    /// The server, if there is one.
    pub(crate) async fn find() -> Option<Self> {
        static ALONE: Mutex<()> = Mutex::const_new(());
        let alone = ALONE.lock().await;
        match tokio_postgres::connect(&config("watcher", ADDRESS), NoTls).await {
            Ok((watcher, connection)) => {
                tokio::spawn(connection);
                Some(Self { watcher, _alone: alone })
            }
            Err(error) => {
                let required = std::env::var("WATERTIGHT_REQUIRE_SERVICES").is_ok_and(|it| it == "1");
                assert!(!required, "no Postgres at {ADDRESS}: {error}");
                println!("skipped, no Postgres at {ADDRESS}");
                None
            }
        }
    }

    /// Has the server do something.
    pub(crate) async fn does(&self, statements: &str) {
        self.watcher.batch_execute(statements).await.expect("the watcher's statements are right");
    }

    /// What a query of one number gives.
    pub(crate) async fn number(&self, query: &str) -> i64 {
        self.watcher.query_one(query, &[]).await.expect("the watcher's query is right").get(0)
    }

    /// How many connections of an application are at work, or hold a transaction open.
    pub(crate) async fn busy(&self, application: &str) -> i64 {
        let query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 \
                     AND (state = 'active' OR state LIKE 'idle in transaction%')";
        self.watcher.query_one(query, &[&application]).await.expect("the watcher's query is right").get(0)
    }

    /// Waits until so many are.
    pub(crate) async fn until_busy(&self, application: &str, number: i64) {
        let clock = Stopwatch::start();
        while self.busy(application).await != number {
            assert!(clock.read() < ms(10_000), "{application}: never {number} at work");
            sleep(ms(2)).await;
        }
    }
}

/// How to connect, as an application of that name.
pub(crate) fn config(application: &str, address: &str) -> String {
    let (host, port) = address.split_once(':').expect("host and port");
    format!("host={host} port={port} user=postgres dbname=postgres application_name={application}")
}

/// Runs something in a task that inherits a deadline, and that nobody drops when it passes.
pub(crate) async fn inheriting<F>(length: Duration, work: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut task = None;
    let spawned = deadline::within(length, async { task = Some(watertight::spawn(work)) });
    spawned.await.expect("spawning takes no time");
    task.expect("spawned").await.expect("no panic")
}

/// The middle one of some lengths, so that one stall of the machine decides nothing.
pub(crate) fn median(mut lengths: Vec<Duration>) -> Duration {
    lengths.sort_unstable();
    lengths[lengths.len() / 2]
}

/// What a call ends with if not well.
#[derive(Debug)]
pub(crate) enum Trouble {
    Refused(Error),
    /// The server's code, or what the driver says.
    Database(String),
}

impl Trouble {
    pub(crate) fn kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Refused(error) => Some(error.kind()),
            Self::Database(_) => None,
        }
    }

    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(_) => None,
            Self::Database(code) => Some(code),
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        match watertight::integrations::sqlx::failure(error) {
            Failure::Refused(error) => Self::Refused(error),
            Failure::Failed(sqlx::Error::Database(error)) => Self::Database(error.code().unwrap_or_default().into()),
            Failure::Failed(other) => Self::Database(other.to_string()),
        }
    }
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        watertight::integrations::tokio_postgres::failure(error).into()
    }
}

impl From<Failure<tokio_postgres::Error>> for Trouble {
    fn from(failure: Failure<tokio_postgres::Error>) -> Self {
        match failure {
            Failure::Refused(error) => Self::Refused(error),
            Failure::Failed(error) => match error.code() {
                Some(code) => Self::Database(code.code().to_owned()),
                None => Self::Database(error.to_string()),
            },
        }
    }
}

impl From<Failure<deadpool_postgres::PoolError>> for Trouble {
    fn from(failure: Failure<deadpool_postgres::PoolError>) -> Self {
        match failure {
            Failure::Refused(error) => Self::Refused(error),
            Failure::Failed(error) => Self::Database(error.to_string()),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => error.fmt(f),
            Self::Database(what) => f.write_str(what),
        }
    }
}
