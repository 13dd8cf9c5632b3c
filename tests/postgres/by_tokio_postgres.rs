//! The scenarios' functions, with tokio-postgres and deadpool.

use deadpool_postgres::{Manager, Pool as Clients};
use tokio_postgres::NoTls;
use watertight::integrations::tokio_postgres::acquire;
pub(crate) use watertight::integrations::tokio_postgres::cleanups;
use watertight::resilient;
use watertight_tests::Meeting;

use crate::support::{Trouble, config};

pub(crate) type Pool = Clients;

pub(crate) fn pool(application: &str, size: u32, address: &str, role_timeout: Option<&str>) -> Pool {
    let mut config: tokio_postgres::Config = config(application, address).parse().expect("a configuration");
    if let Some(timeout) = role_timeout {
        config.options(format!("-c statement_timeout={timeout}"));
    }
    Clients::builder(Manager::new(config, NoTls)).max_size(size as usize).build().expect("a pool")
}

/// A transaction of these statements.
pub(crate) async fn run(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    let mut connection = acquire(pool.get()).await?;
    let transaction = connection.begin().await?;
    for statement in statements {
        transaction.execute(*statement, &[]).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// The same as the driver alone has it.
pub(crate) async fn run_bare(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    let mut client = pool.get().await.map_err(watertight::Failure::Failed)?;
    let transaction = client.transaction().await?;
    for statement in statements {
        transaction.execute(*statement, &[]).await?;
    }
    transaction.commit().await?;
    Ok(())
}

#[resilient(name = "tokio_postgres_300ms", timeout = "300ms")]
pub(crate) async fn in_300ms(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    run(pool, statements).await
}

#[resilient(name = "tokio_postgres_300ms_bare", timeout = "300ms")]
pub(crate) async fn in_300ms_bare(pool: &Pool, statements: &[&str]) -> Result<(), Trouble> {
    run_bare(pool, statements).await
}

#[resilient(name = "tokio_postgres_burst", timeout = "30ms", bulkhead = "pg-tokio-burst:10/queue:200/wait:20s")]
pub(crate) async fn burst(pool: &Pool) -> Result<(), Trouble> {
    run(pool, &["SELECT pg_sleep(5)"]).await
}

/// What the transaction's `statement_timeout` is, in milliseconds.
async fn read_limit(pool: &Pool) -> Result<i64, Trouble> {
    assert_eq!(watertight::deadline::remaining(), None, "a timeout is no deadline");
    let mut connection = acquire(pool.get()).await?;
    let transaction = connection.begin_as(|start| start.read_only(true)).await?;
    let query = "SELECT setting::int8 FROM pg_settings WHERE name = 'statement_timeout'";
    let limit = transaction.query_one(query, &[]).await?.get(0);
    transaction.commit().await?;
    Ok(limit)
}

#[resilient(name = "tokio_postgres_limit", timeout = "300ms")]
pub(crate) async fn limit(pool: &Pool) -> Result<i64, Trouble> {
    read_limit(pool).await
}

#[resilient(name = "tokio_postgres_observed", timeout = "300ms", mode = observe)]
pub(crate) async fn observed_limit(pool: &Pool) -> Result<i64, Trouble> {
    read_limit(pool).await
}

/// Holds a transaction open until all have come.
pub(crate) async fn meet(pool: &Pool, meeting: &Meeting) -> Result<(), Trouble> {
    let mut connection = acquire(pool.get()).await?;
    let transaction = connection.begin().await?;
    transaction.execute("SELECT 1", &[]).await?;
    meeting.join().await;
    transaction.commit().await?;
    Ok(())
}

/// Holds a connection without using it.
pub(crate) async fn hold(pool: &Pool) -> Result<impl Sized + use<>, Trouble> {
    Ok(acquire(pool.get()).await?)
}

/// Writes a row, as a plain borrower of the pool would: without a transaction.
pub(crate) async fn write_alone(pool: &Pool, statement: &str) -> Result<(), Trouble> {
    let client = pool.get().await.map_err(watertight::Failure::Failed)?;
    client.execute(statement, &[]).await?;
    Ok(())
}

/// A transaction within the transaction.
pub(crate) async fn nest(pool: &Pool, outer: &str, inner: &str) -> Result<(), Trouble> {
    let mut connection = acquire(pool.get()).await?;
    let mut transaction = connection.begin().await?;
    transaction.execute(outer, &[]).await?;
    let nested = transaction.transaction().await?;
    nested.execute(inner, &[]).await?;
    drop(nested);
    transaction.commit().await?;
    Ok(())
}
