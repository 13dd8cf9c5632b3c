//! # The query nobody waits for
//!
//! The claim: giving up on a query frees the caller and nothing else. The backend goes on to the end, for nobody, with its
//! locks and its share of the processor, unless the server has been given a limit as well.
//!
//! Measured in `pg_stat_activity`, from a connection of its own: how many backends are at work, and until when, after five
//! queries of five seconds each were given up after 300 ms.
//!
//! The body is the same with and without the attribute: a connection by `acquire`, which asks what is left and tells the
//! server. Without an attribute nothing is left to tell. Between the two stands a limit that only the client knows.
//!
//! Invariants:
//! * each variant has a pool of its own, whose backends are known by their application's name;
//! * without a Postgres there is no result, and it says so.

use std::time::Duration;

use futures::future::{BoxFuture, join_all};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use tokio::time::{Instant, interval, timeout};
use watertight::integrations::sqlx::acquire;
use watertight::resilient;

use super::frame::{Bench, Experiment, attribute};
use super::outcome::{Cell, Outcome, Table};
use crate::report::words;

/// The experiment.
pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "abandon",
    question: "What does the database do after its caller has given up?",
    setup: "Five queries of 5 s on a pool of ten connections to a Postgres, left alone, given up after 300 ms by the client \
            alone, and under the attribute with the connection taken by `watertight::integrations::sqlx::acquire`.",
    meaning: "Every limit on the client needs one on the server. A `statement_timeout` for the role is the least; it cannot \
              know how long this caller still has.",
    run: |bench| Box::pin(run(bench)),
};

type Queried = Result<(), sqlx::Error>;
type Way = fn(PgPool) -> BoxFuture<'static, Queried>;

const CALLS: usize = 5;
const LIMIT: Duration = Duration::from_millis(300);
const WATCHED: Duration = Duration::from_secs(7);
const SAMPLE: Duration = Duration::from_millis(50);

async fn query(pool: &PgPool) -> Queried {
    let mut connection = acquire(pool).await?;
    let mut transaction = connection.begin().await?;
    sqlx::query("select pg_sleep(5)").execute(&mut *transaction).await?;
    transaction.commit().await
}

#[resilient(timeout = "300ms")]
async fn abandon(pool: &PgPool) -> Queried {
    query(pool).await
}

async fn client_only(pool: &PgPool) -> Queried {
    let plain = sqlx::query("select pg_sleep(5)").execute(pool);
    timeout(LIMIT, plain).await.map_err(|_| sqlx::Error::PoolTimedOut)?.map(|_| ())
}

const WAYS: [(&str, Way); 3] = [
    ("left alone", |pool| Box::pin(async move { query(&pool).await })),
    ("given up by the client", |pool| Box::pin(async move { client_only(&pool).await })),
    ("guarded", |pool| Box::pin(async move { abandon(&pool).await })),
];

/// When the callers were free, and what the server did.
struct Seen {
    free: Duration,
    active_after_a_second: i64,
    busy_until: Duration,
}

async fn run(bench: &Bench) -> anyhow::Result<Outcome> {
    let url = bench.postgres.clone().or_else(|| std::env::var("DATABASE_URL").ok());
    let url = url.unwrap_or_else(|| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
    let options = match url.parse::<PgConnectOptions>() {
        Ok(options) => options,
        Err(error) => return Ok(Outcome::skipped(format!("it needs a Postgres, and its URL cannot be read: {error}"))),
    };
    let connecting =
        PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(2)).connect_with(options.clone());
    let observer = match connecting.await {
        Ok(observer) => observer,
        Err(error) => return Ok(Outcome::skipped(format!("it needs a Postgres, given by --postgres URL: {error}"))),
    };
    let line = ("guarded".to_owned(), attribute(include_str!("abandon.rs"), "abandon"));
    let mut outcome = Outcome { lines: vec![line], ..Outcome::default() };
    outcome.set("queries", CALLS);
    outcome.set("query_seconds", 5);
    outcome.set("given_up_after_ms", 300);
    let all = join_all(WAYS.iter().enumerate().map(|(at, (_, way))| play(bench, at, *way, &options, &observer)));
    let seen = tokio::select! {
        seen = all => seen.into_iter().collect::<anyhow::Result<Vec<_>>>()?,
        () = bench.live.follow("five queries of 5 s", WATCHED, String::new) => return Ok(outcome),
    };
    observer.close().await;
    let mut table = Table::new(
        "Backends at work for nobody",
        &["", "callers free after", "backends at work a second after the start", "the last one done after"],
    );
    for ((name, _), it) in WAYS.iter().zip(&seen) {
        let active = u64::try_from(it.active_after_a_second).unwrap_or_default();
        table.row([(*name).into(), Cell::Time(Some(it.free)), active.into(), Cell::Time(Some(it.busy_until))]);
    }
    outcome.tables.push(table);
    judge(&seen, &mut outcome);
    Ok(outcome)
}

async fn play(
    bench: &Bench,
    at: usize,
    way: Way,
    options: &PgConnectOptions,
    observer: &PgPool,
) -> anyhow::Result<Seen> {
    let name = format!("watertight-lab-{}-{at}", std::process::id());
    let pool = PgPoolOptions::new().max_connections(10).min_connections(10);
    let pool = pool.connect_with(options.clone().application_name(&name)).await?;
    let begun = Instant::now();
    let calls = async {
        join_all((0..CALLS).map(|_| way(pool.clone()))).await;
        begun.elapsed()
    };
    let watched = async {
        let (mut after_a_second, mut busy_until) = (0, Duration::ZERO);
        let mut beat = interval(SAMPLE);
        while begun.elapsed() < WATCHED {
            beat.tick().await;
            let active = active(observer, &name).await?;
            // The last look within the first second stands for it.
            if begun.elapsed() <= Duration::from_secs(1) + SAMPLE {
                after_a_second = active;
            }
            if active > 0 {
                busy_until = begun.elapsed();
            }
        }
        Ok::<_, sqlx::Error>((after_a_second, busy_until))
    };
    let (free, watched) = tokio::select! {
        both = async { tokio::join!(calls, watched) } => both,
        () = bench.stop.clone().stopped() => (begun.elapsed(), Ok((0, Duration::ZERO))),
    };
    let _ = timeout(Duration::from_secs(1), pool.close()).await;
    let (active_after_a_second, busy_until) = watched?;
    Ok(Seen { free, active_after_a_second, busy_until })
}

async fn active(observer: &PgPool, name: &str) -> Result<i64, sqlx::Error> {
    let count = "select count(*) from pg_stat_activity where application_name = $1 and query like '%pg_sleep%' and state = 'active'";
    sqlx::query_scalar(count).bind(name).fetch_one(observer).await
}

fn judge(seen: &[Seen], outcome: &mut Outcome) {
    let [alone, client, guarded] = seen else { return };
    let shown = |it: &Seen| {
        format!("free after {}, backends until {}", words::latency(Some(it.free)), words::latency(Some(it.busy_until)))
    };
    outcome.claim("Left alone, callers wait to the end", alone.free > LIMIT * 3, shown(alone));
    outcome.claim(
        "Given up by the client, the backends go on long after",
        client.busy_until > client.free * 3,
        shown(client),
    );
    outcome.claim(
        "Guarded, they end soon after their callers",
        guarded.busy_until * 3 < client.busy_until,
        shown(guarded),
    );
    let after = |it: &Seen| words::latency(Some(it.busy_until.saturating_sub(it.free)));
    outcome.beside(
        "the backend after its caller has gone",
        "goes on burning unless the server has a limit too",
        format!("for another {} by the client alone, {} guarded", after(client), after(guarded)),
        "Looked at every 50 ms. The attribute's limit goes to the server as a `statement_timeout`, and a query that is dropped \
         is stopped there.",
    );
}
