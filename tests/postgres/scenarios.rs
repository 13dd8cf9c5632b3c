//! What has to hold, once for each driver.

/// The tests, on the functions of one driver.
macro_rules! scenarios {
    ($module:ident, $driver:ident) => {
        mod $module {
            use std::time::Duration;

            use futures::future::join_all;
            use tokio::time::{sleep, timeout};
            use watertight::{ErrorKind, deadline};
            use watertight_tests::{Meeting, Stopwatch, ms};

            use crate::support::{ADDRESS, Server, Trouble, inheriting, median};
            use crate::$driver as driver;

            /// An application of this test's own name, so that nobody else is counted.
            fn app(test: &str) -> String {
                format!("{}-{test}", stringify!($module))
            }

            /// Whether a call was cut off; by its own timer as a rule, and by the server's if this machine stalls.
            fn is_over(error: &Trouble) -> bool {
                matches!(error.kind(), Some(ErrorKind::TimedOut | ErrorKind::Deadline))
            }

            /// How long the server goes on after the limit of 300 ms.
            async fn overrun(server: &Server, app: &str, pool: &driver::Pool, statements: &[&str]) -> Duration {
                let clock = Stopwatch::start();
                let error = driver::in_300ms(pool, statements).await.expect_err("cut off");
                assert!(is_over(&error), "{error}");
                server.until_busy(app, 0).await;
                clock.read().saturating_sub(ms(300))
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_query_that_times_out_ends_on_the_server_within_100_ms() {
                let Some(server) = Server::find().await else { return };
                let app = app("timeout");
                let pool = driver::pool(&app, 2, ADDRESS, None);
                driver::run(&pool, &["SELECT 1"]).await.expect("a warm pool");
                for (what, statements) in [
                    ("a first statement", &["SELECT pg_sleep(5)"][..]),
                    ("a later statement", &["SELECT pg_sleep(0.15)", "SELECT pg_sleep(5)"]),
                ] {
                    let before = driver::cleanups();
                    let mut overruns = Vec::new();
                    for _ in 0..5 {
                        overruns.push(overrun(&server, &app, &pool, statements).await);
                    }
                    println!("{what} ended after {overruns:?}; {before:?} then, {:?} now", driver::cleanups());
                    assert!(median(overruns) < ms(100), "{what}");
                }
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_caller_that_goes_away_takes_its_query_along() {
                let Some(server) = Server::find().await else { return };
                let app = app("gone");
                let pool = driver::pool(&app, 2, ADDRESS, None);
                let mut overruns = Vec::new();
                for _ in 0..5 {
                    let (own, pool) = (app.clone(), pool.clone());
                    let call = tokio::spawn(async move {
                        deadline::within(ms(10_000), driver::run(&pool, &["SELECT pg_sleep(5)"])).await
                    });
                    server.until_busy(&own, 1).await;
                    sleep(ms(20)).await;
                    let clock = Stopwatch::start();
                    call.abort();
                    assert!(call.await.expect_err("aborted").is_cancelled());
                    server.until_busy(&own, 0).await;
                    overruns.push(clock.read());
                }
                println!("ended after {overruns:?}");
                assert!(median(overruns) < ms(100));
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn without_it_the_query_runs_on() {
                let Some(server) = Server::find().await else { return };
                let app = app("bare");
                let pool = driver::pool(&app, 1, ADDRESS, None);
                let clock = Stopwatch::start();
                let error = driver::in_300ms_bare(&pool, &["SELECT pg_sleep(1.5)"]).await.expect_err("cut off");
                assert_eq!(error.kind(), Some(ErrorKind::TimedOut));
                sleep(ms(600)).await;
                assert_eq!(server.busy(&app).await, 1, "the caller is gone and the server works on");
                server.until_busy(&app, 0).await;
                assert!(clock.read() >= ms(1_500), "to the end: {:?}", clock.read());
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn after_200_dropped_queries_a_pool_of_10_serves_10_at_once() {
                let Some(server) = Server::find().await else { return };
                let app = app("burst");
                let pool = driver::pool(&app, 10, ADDRESS, None);
                let before = driver::cleanups();
                let calls = timeout(ms(30_000), join_all((0..200).map(|_| driver::burst(&pool)))).await;
                let ended: Vec<_> = calls.expect("all have ended").into_iter().filter_map(Result::err).collect();
                assert!(ended.len() == 200 && ended.iter().all(is_over), "{ended:?}");
                let by_timer = ended.iter().filter(|error| error.kind() == Some(ErrorKind::TimedOut)).count();
                // As a rule the caller's timer is the first; on a busy machine the server's often is.
                assert!(by_timer > 20, "{by_timer} of 200");
                let meeting = Meeting::of(10);
                let clock = Stopwatch::start();
                let together = join_all((0..10).map(|_| driver::meet(&pool, &meeting)));
                let together = timeout(ms(5_000), together).await.expect("all ten have a connection at once");
                assert!(together.iter().all(Result::is_ok), "{together:?}");
                println!("ten at once after {:?}; {before:?} then, {:?} now", clock.read(), driver::cleanups());
                server.until_busy(&app, 0).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_transaction_dropped_half_way_leaves_no_lock_and_no_change() {
                let Some(server) = Server::find().await else { return };
                let (app, table) = (app("locks"), format!("wt_{}_locks", stringify!($module)));
                server.does(&format!("DROP TABLE IF EXISTS {table}; CREATE TABLE {table} AS SELECT 1 AS n")).await;
                let pool = driver::pool(&app, 1, ADDRESS, None);
                let update = format!("UPDATE {table} SET n = 2");
                overrun(&server, &app, &pool, &[&update, "SELECT pg_sleep(5)"]).await;
                let held = format!("SELECT count(*) FROM pg_locks WHERE relation = '{table}'::regclass");
                assert_eq!(server.number(&held).await, 0, "no lock");
                let lock = format!("SELECT n FROM {table} FOR UPDATE NOWAIT");
                driver::in_300ms(&pool, &[&lock]).await.expect("the pool's one connection serves the next");
                assert_eq!(server.number(&format!("SELECT n::int8 FROM {table}")).await, 1, "no change");
                // A predicate of the caller's ends it as well: nothing runs, only the rollback is due.
                let before = driver::cleanups();
                let error = driver::run(&pool, &[&update, "SELECT 1 / 0"]).await.expect_err("no such number");
                assert_eq!(error.code(), Some("22012"));
                driver::in_300ms(&pool, &[&lock]).await.expect("at rest again");
                assert_eq!(driver::cleanups().closed, before.closed, "and the connection was kept");
                server.does(&format!("DROP TABLE {table}")).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_beginning_dropped_at_any_point_leaves_no_transaction_open() {
                let Some(server) = Server::find().await else { return };
                let (app, table) = (app("begin"), format!("wt_{}_begin", stringify!($module)));
                server.does(&format!("DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (n int)")).await;
                let pool = driver::pool(&app, 1, ADDRESS, None);
                let insert = format!("INSERT INTO {table} VALUES (1)");
                for steps in 0..60 {
                    let mut call = Box::pin(driver::run(&pool, &["SELECT 1"]));
                    for _ in 0..steps {
                        if futures::poll!(&mut call).is_ready() {
                            break;
                        }
                        tokio::time::sleep(Duration::from_micros(100)).await;
                    }
                    drop(call);
                    // A borrower who knows of no transaction: what it writes has to be there for everyone.
                    driver::write_alone(&pool, &insert).await.expect("the pool's one connection serves the next");
                    let written = server.number(&format!("SELECT count(*) FROM {table}")).await;
                    assert_eq!(written, steps + 1, "dropped after {steps} polls");
                }
                server.does(&format!("DROP TABLE {table}")).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_savepoint_rolled_back_leaves_the_rest_of_the_transaction() {
                let Some(server) = Server::find().await else { return };
                let (app, table) = (app("nested"), format!("wt_{}_nested", stringify!($module)));
                server.does(&format!("DROP TABLE IF EXISTS {table}; CREATE TABLE {table} (n int8)")).await;
                let pool = driver::pool(&app, 1, ADDRESS, None);
                let insert = |n: u32| format!("INSERT INTO {table} VALUES ({n})");
                driver::nest(&pool, &insert(1), &insert(2)).await.expect("committed");
                assert_eq!(server.number(&format!("SELECT sum(n)::int8 FROM {table}")).await, 1);
                server.does(&format!("DROP TABLE {table}")).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_server_that_accepts_and_never_answers_bounds_the_wait() {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
                let address = listener.local_addr().expect("bound").to_string();
                let hole = tokio::spawn(async move {
                    let mut kept = Vec::new();
                    while let Ok(accepted) = listener.accept().await {
                        kept.push(accepted);
                    }
                });
                let pool = driver::pool("hole", 1, &address, None);
                let clock = Stopwatch::start();
                let calls = join_all((0..3).map(|_| driver::in_300ms(&pool, &["SELECT 1"]))).await;
                assert!(calls.iter().all(|it| it.as_ref().is_err_and(is_over)), "{calls:?}");
                assert!(clock.read() < ms(1_000), "those in the pool's queue too: {:?}", clock.read());
                hole.abort();
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_wait_for_a_connection_ends_with_a_deadline_that_nobody_else_keeps() {
                let Some(_server) = Server::find().await else { return };
                let pool = driver::pool(&app("queue"), 1, ADDRESS, None);
                let _held = driver::hold(&pool).await.expect("the only connection");
                let waiting = pool.clone();
                let clock = Stopwatch::start();
                let answer = inheriting(ms(100), async move { driver::run(&waiting, &["SELECT 1"]).await }).await;
                assert_eq!(answer.as_ref().expect_err("refused").kind(), Some(ErrorKind::Deadline));
                let Err(Trouble::Refused(error)) = answer else { panic!("refused") };
                assert!(error.is_refusal(), "nothing can have happened: {error}");
                assert!(clock.read() >= ms(100) && clock.read() < ms(1_000), "{:?}", clock.read());
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn what_the_server_stops_at_the_deadline_is_an_error_of_the_deadline() {
                let Some(_server) = Server::find().await else { return };
                let pool = driver::pool(&app("stopped"), 1, ADDRESS, None);
                let answer =
                    inheriting(ms(200), async move { driver::run(&pool, &["SELECT pg_sleep(5)"]).await }).await;
                let Err(Trouble::Refused(error)) = answer else { panic!("stopped: {answer:?}") };
                assert_eq!((error.kind(), error.is_refusal()), (ErrorKind::Deadline, false));
                let source = std::error::Error::source(&error).expect("the driver's error is kept");
                assert!(source.to_string().contains("cancel") || source.source().is_some(), "{source}");
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_stricter_timeout_of_the_role_stays_and_is_an_error_of_its_own() {
                let Some(_server) = Server::find().await else { return };
                let strict = driver::pool(&app("strict"), 1, ADDRESS, Some("50ms"));
                assert_eq!(driver::limit(&strict).await.expect("a limit"), 50);
                let call = deadline::within(ms(10_000), driver::run(&strict, &["SELECT pg_sleep(5)"]));
                assert_eq!(call.await.expect("in time").expect_err("stopped").code(), Some("57014"));
                let loose = driver::pool(&app("loose"), 1, ADDRESS, Some("60s"));
                let limit = driver::limit(&loose).await.expect("a limit");
                assert!((1..=310).contains(&limit), "what is left of the attempt: {limit}");
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_limit_that_is_only_observed_is_not_sent() {
                let Some(_server) = Server::find().await else { return };
                let pool = driver::pool(&app("observed"), 1, ADDRESS, None);
                assert_eq!(driver::observed_limit(&pool).await.expect("a limit"), 0, "none");
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn a_runtime_dropped_under_load_stops_its_queries() {
                let Some(server) = Server::find().await else { return };
                let app = app("shutdown");
                let other = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
                let other = other.expect("a runtime");
                let name = app.clone();
                for _ in 0..4 {
                    let name = name.clone();
                    other.spawn(async move {
                        let pool = driver::pool(&name, 1, ADDRESS, None);
                        deadline::within(ms(10_000), driver::run(&pool, &["SELECT pg_sleep(5)"])).await
                    });
                }
                server.until_busy(&app, 4).await;
                let clock = Stopwatch::start();
                tokio::task::spawn_blocking(move || drop(other)).await.expect("no panic");
                server.until_busy(&app, 0).await;
                assert!(clock.read() < ms(1_000), "{:?}", clock.read());
            }
        }
    };
}

pub(crate) use scenarios;
