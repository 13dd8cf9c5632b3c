//! The scenarios' functions, with sqlx.

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Connection as _, PgPool, Row as _};
use watertight::integrations::sqlx::acquire;
pub(crate) use watertight::integrations::sqlx::cleanups;
use watertight::resilient;
use watertight_tests::Meeting;

use crate::support::Trouble;

pub(crate) type Pool = PgPool;

pub(crate) fn pool(application: &str, size: u32, address: &str, role_timeout: Option<&str>) -> Pool {
    let (host, port) = address.split_once(':').expect("host and port");
    let mut options = PgConnectOptions::new_without_pgpass()
        .host(host)
        .port(port.parse().expect("a port"))
        .username("postgres")
        .database("postgres")
        .ssl_mode(PgSslMode::Disable)
        .application_name(application);
    if let Some(timeout) = role_timeout {
        options = options.options([("statement_timeout", timeout)]);
    }
    PgPoolOptions::new().max_connections(size).connect_lazy_with(options)
}

/// A transaction of these statements.
pub(crate) async fn run(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    let mut connection = acquire(pool).await?;
    let mut transaction = connection.begin().await?;
    for statement in statements {
        sqlx::query(AssertSqlSafe(*statement)).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// The same as the driver alone has it.
pub(crate) async fn run_bare(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    let mut transaction = pool.begin().await?;
    for statement in statements {
        sqlx::query(AssertSqlSafe(*statement)).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(())
}

#[resilient(name = "sqlx_300ms", timeout = "300ms")]
pub(crate) async fn in_300ms(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    run(pool, statements).await
}

#[resilient(name = "sqlx_300ms_bare", timeout = "300ms")]
pub(crate) async fn in_300ms_bare(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    run_bare(pool, statements).await
}

#[resilient(name = "sqlx_burst", timeout = "30ms", bulkhead = "pg-sqlx-burst:10/queue:200/wait:20s")]
pub(crate) async fn burst(pool: &Pool) -> Result<(), Trouble> {
    run(pool, &["SELECT pg_sleep(5)"]).await
}

/// What the transaction's `statement_timeout` is, in milliseconds.
async fn read_limit(pool: &Pool) -> Result<i64, Trouble> {
    assert_eq!(watertight::deadline::remaining(), None, "a timeout is no deadline");
    let mut connection = acquire(pool).await?;
    let mut transaction = connection.begin_with("BEGIN READ ONLY").await?;
    let query = "SELECT setting::int8 FROM pg_settings WHERE name = 'statement_timeout'";
    let limit = sqlx::query(query).fetch_one(&mut *transaction).await?.get(0);
    transaction.commit().await?;
    Ok(limit)
}

#[resilient(name = "sqlx_limit", timeout = "300ms")]
pub(crate) async fn limit(pool: &Pool) -> Result<i64, Trouble> {
    read_limit(pool).await
}

#[resilient(name = "sqlx_observed", timeout = "300ms", mode = observe)]
pub(crate) async fn observed_limit(pool: &Pool) -> Result<i64, Trouble> {
    read_limit(pool).await
}

/// Holds a transaction open until all have come.
pub(crate) async fn meet(pool: &Pool, meeting: &Meeting) -> Result<(), Trouble> {
    let mut connection = acquire(pool).await?;
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT 1").execute(&mut *transaction).await?;
    meeting.join().await;
    transaction.commit().await?;
    Ok(())
}

/// Holds a connection without using it.
pub(crate) async fn hold(pool: &Pool) -> Result<impl Sized + use<>, Trouble> {
    Ok(acquire(pool).await?)
}

/// Writes a row, as a plain borrower of the pool would: without a transaction.
pub(crate) async fn write_alone(pool: &Pool, statement: &str) -> Result<(), Trouble> {
    let mut connection = pool.acquire().await?;
    sqlx::query(AssertSqlSafe(statement)).execute(&mut *connection).await?;
    Ok(())
}

/// A transaction within the transaction.
pub(crate) async fn nest(pool: &Pool, outer: &str, inner: &str) -> Result<(), Trouble> {
    let mut connection = acquire(pool).await?;
    let mut transaction = connection.begin().await?;
    sqlx::query(AssertSqlSafe(outer)).execute(&mut *transaction).await?;
    let mut nested = transaction.begin().await?;
    sqlx::query(AssertSqlSafe(inner)).execute(&mut *nested).await?;
    drop(nested);
    transaction.commit().await?;
    Ok(())
}
