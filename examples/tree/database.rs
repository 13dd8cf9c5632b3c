//! The database whose queries take half a minute today.
//!
//! Invariant: without a server, everything else is as with one.

use std::fmt;
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use tokio::time::{sleep, timeout};
use watertight::Failure;
use watertight::integrations::sqlx::{acquire, failure};

const HALF_A_MINUTE: Duration = Duration::from_secs(30);
const NAME: &str = "watertight-tree";

/// A pool, or why there is none.
#[derive(Clone, Debug)]
pub(crate) enum Database {
    Postgres(PgPool),
    Pretended(String),
}

/// A query without an answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    Refused(watertight::Error),
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
    /// The server at `DATABASE_URL`, if one answers within two seconds.
    pub(crate) async fn find() -> Self {
        let url = std::env::var("DATABASE_URL");
        let url = url.unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
        let options = match url.parse::<PgConnectOptions>() {
            Ok(options) => options.application_name(NAME),
            Err(error) => return Self::Pretended(error.to_string()),
        };
        let pool = PgPoolOptions::new().max_connections(10).connect_with(options);
        match timeout(Duration::from_secs(2), pool).await {
            Ok(Ok(pool)) => Self::Postgres(pool),
            Ok(Err(error)) => Self::Pretended(error.to_string()),
            Err(_) => Self::Pretended("no answer".to_owned()),
        }
    }

    /// Asks it something.
    pub(crate) async fn ask(&self) -> Result<String, Trouble> {
        match self {
            Self::Postgres(pool) => {
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

    /// Waits until no query of ours runs on the server; false if there is none.
    pub(crate) async fn until_idle(&self) -> anyhow::Result<bool> {
        let Self::Postgres(pool) = self else { return Ok(false) };
        let running = "SELECT count(*) FROM pg_stat_activity \
                       WHERE application_name = $1 AND query LIKE '%pg_sleep($1)%' AND state <> 'idle'";
        loop {
            let (number,): (i64,) = sqlx::query_as(running).bind(NAME).fetch_one(pool).await?;
            if number <= 1 {
                // This one, which speaks of the others.
                return Ok(true);
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres(_) => f.write_str("with Postgres, whose queries take 30 s today"),
            Self::Pretended(why) => write!(
                f,
                "no Postgres ({why}): start one at 127.0.0.1:5432 or set DATABASE_URL; until then queries of 30 s are pretended"
            ),
        }
    }
}
