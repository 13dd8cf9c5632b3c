//! # The database whose queries take half a minute today
//!
//! A real server, if there is one; otherwise its queries are pretended, and whoever shows figures says so.
//!
//! Invariants:
//! * without a server, everything else is as with one;
//! * two processes do not take each other's queries for their own.

use std::fmt;
use std::time::Duration;

use anyhow::Context;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::time::{sleep, timeout};
use watertight::Failure;
use watertight::integrations::sqlx::{acquire, failure};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
/// How long the server is given to be idle again.
const IDLE: Duration = Duration::from_secs(40);

/// A pool, or why there is none.
#[derive(Clone, Debug)]
pub enum Database {
    /// A server's.
    Postgres(PgPool, String),
    /// None, and why.
    Pretended(String),
}

/// A query without an answer.
#[derive(Debug)]
pub enum Trouble {
    /// By the guard.
    Refused(watertight::Error),
    /// The database's own.
    Database,
}

impl From<watertight::Error> for Trouble {
    fn from(error: watertight::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        match failure(error) {
            Failure::Refused(error) => Self::Refused(error),
            Failure::Failed(_) => Self::Database,
        }
    }
}

impl Database {
    /// The server at a URL, else at `DATABASE_URL`, if one answers within two seconds; `number` tells those of one process
    /// apart.
    pub async fn find(url: Option<&str>, number: usize) -> Self {
        let name = format!("watertight-tree-{}-{number}", std::process::id());
        let url = url.map(str::to_owned).or_else(|| std::env::var("DATABASE_URL").ok());
        let url = url.unwrap_or_else(|| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
        let options = match url.parse::<PgConnectOptions>() {
            Ok(options) => options.application_name(&name),
            Err(error) => return Self::Pretended(error.to_string()),
        };
        let pool = PgPoolOptions::new().max_connections(10).connect_with(options);
        match timeout(Duration::from_secs(2), pool).await {
            Ok(Ok(pool)) => Self::Postgres(pool, name),
            Ok(Err(error)) => Self::Pretended(error.to_string()),
            Err(_) => Self::Pretended("no answer".to_owned()),
        }
    }

    /// Asks it something.
    ///
    /// # Errors
    /// The guard's or the database's.
    pub async fn ask(&self) -> Result<String, Trouble> {
        match self {
            Self::Postgres(pool, _) => {
                let mut connection = acquire(pool).await?;
                let mut transaction = connection.begin().await?;
                let slow = "SELECT 'details' FROM pg_sleep($1)";
                let (details,) =
                    sqlx::query_as(slow).bind(HALF_A_MINUTE.as_secs_f64()).fetch_one(&mut *transaction).await?;
                transaction.commit().await?;
                Ok(details)
            }
            Self::Pretended(_) => {
                sleep(HALF_A_MINUTE).await;
                Ok("details".to_owned())
            }
        }
    }

    /// Waits until no query of ours runs on the server, for a bounded time; false if there is none.
    ///
    /// # Errors
    /// The database's, and when it is not idle in time.
    pub async fn until_idle(&self) -> anyhow::Result<bool> {
        let Self::Postgres(pool, name) = self else { return Ok(false) };
        timeout(IDLE, idle(pool, name)).await.context("queries of the tree still run on the server")??;
        Ok(true)
    }

    /// Closes its connections, if there are any.
    pub async fn close(&self) {
        if let Self::Postgres(pool, _) = self {
            pool.close().await;
        }
    }
}

async fn idle(pool: &PgPool, name: &str) -> sqlx::Result<()> {
    let running = "SELECT count(*) FROM pg_stat_activity \
                   WHERE application_name = $1 AND query LIKE '%pg_sleep($1)%' AND state <> 'idle'";
    loop {
        let (number,): (i64,) = sqlx::query_as(running).bind(name).fetch_one(pool).await?;
        if number <= 1 {
            // This one, which speaks of the others.
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(..) => f.write_str("with Postgres, whose queries take 30 s today"),
            Self::Pretended(why) => write!(
                f,
                "no Postgres ({why}): start one at 127.0.0.1:5432 or set DATABASE_URL; until then queries of 30 s are pretended"
            ),
        }
    }
}
