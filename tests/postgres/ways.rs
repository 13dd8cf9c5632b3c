//! The ways to make a server stop when a future is dropped, side by side: why the integration for sqlx closes connections.
//!
//! A statement of two seconds is dropped after a moment; how long the server goes on is measured. `cargo test -p
//! watertight-tests --test postgres ways -- --nocapture` prints the table.

use std::time::Duration;

use sqlx::{PgConnection, PgPool};
use tokio::time::{sleep, timeout};
use watertight_tests::{Stopwatch, ms};

use crate::by_sqlx::pool;
use crate::support::{ADDRESS, Server};

/// Runs a statement of two seconds on a connection and drops it after 50 ms.
async fn begin_and_drop(connection: &mut PgConnection) {
    let statement = sqlx::query("SELECT pg_sleep(2)").execute(connection);
    assert!(timeout(ms(50), statement).await.is_err(), "dropped while it runs");
}

async fn process(connection: &mut PgConnection) -> i32 {
    sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(connection).await.expect("a number")
}

async fn cancel(canceller: &PgPool, process: i32) {
    let cancel = sqlx::query("SELECT pg_cancel_backend($1)").bind(process).execute(canceller);
    // A pool without a spare connection lets the canceller wait for the very statement.
    let _ = timeout(ms(5_000), cancel).await;
}

/// How long the server went on.
async fn until_quiet(server: &Server, app: &str, clock: Stopwatch) -> Duration {
    server.until_busy(app, 0).await;
    clock.read()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ways_to_stop_a_dropped_statement() {
    let Some(server) = Server::find().await else { return };
    let app = "ways";
    let (quick, slow) = (ms(500), ms(1_000));

    // Dropped, and given back to the pool: what `pool.acquire()` does.
    let one = pool(app, 1, ADDRESS, None);
    let mut connection = one.acquire().await.expect("connected");
    begin_and_drop(&mut connection).await;
    let clock = Stopwatch::start();
    drop(connection);
    let given_back = until_quiet(&server, app, clock).await;

    // Closed, as far as this side goes.
    let mut connection = one.acquire().await.expect("connected");
    begin_and_drop(&mut connection).await;
    let clock = Stopwatch::start();
    drop(connection.detach());
    let closed = until_quiet(&server, app, clock).await;

    // Closed, and the server looks.
    let mut connection = one.acquire().await.expect("connected");
    sqlx::query("SET client_connection_check_interval = 25").execute(&mut *connection).await.expect("set");
    begin_and_drop(&mut connection).await;
    let clock = Stopwatch::start();
    drop(connection.detach());
    let closed_and_seen = until_quiet(&server, app, clock).await;

    // Cancelled from another connection of the pool, while there is one.
    let two = pool(app, 2, ADDRESS, None);
    sqlx::query("SELECT 1").execute(&two).await.expect("a spare connection");
    let mut connection = two.acquire().await.expect("connected");
    let number = process(&mut connection).await;
    begin_and_drop(&mut connection).await;
    let clock = Stopwatch::start();
    cancel(&two, number).await;
    let by_spare = until_quiet(&server, app, clock).await;
    drop(connection);

    // The same when all connections are held by statements that are to be cancelled.
    let mut connections = [one.acquire().await.expect("connected")];
    let number = process(&mut connections[0]).await;
    begin_and_drop(&mut connections[0]).await;
    let clock = Stopwatch::start();
    drop(connections);
    cancel(&one, number).await;
    let by_none_to_spare = until_quiet(&server, app, clock).await;

    // From a connection made for it.
    let mut connection = one.acquire().await.expect("connected");
    let number = process(&mut connection).await;
    begin_and_drop(&mut connection).await;
    let clock = Stopwatch::start();
    cancel(&pool("canceller", 1, ADDRESS, None), number).await;
    let by_its_own = until_quiet(&server, app, clock).await;
    drop(connection);

    println!("given back to the pool             {given_back:?}");
    println!("closed                             {closed:?}");
    println!("closed, and the server looks       {closed_and_seen:?}");
    println!("cancelled, from a spare connection {by_spare:?}");
    println!("cancelled, with none to spare      {by_none_to_spare:?}");
    println!("cancelled, from one made for it    {by_its_own:?}");
    assert!(given_back > slow && closed > slow && by_none_to_spare > slow, "these stop nothing");
    assert!(closed_and_seen < quick && by_spare < quick && by_its_own < quick, "these do");
    sleep(ms(50)).await;
}
