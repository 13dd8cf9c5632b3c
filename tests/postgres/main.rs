//! Deadlines that travel into Postgres: what a real server does when a call on it ends early.
//!
//! The same scenarios for both drivers, on real sockets and in real time. The server is watched from a connection of its own,
//! through `pg_stat_activity`. Where there is no server at [`support::ADDRESS`] the tests say so and pass, unless
//! `WATERTIGHT_REQUIRE_SERVICES=1` is set, as in CI. They run one after another, since they measure and since a server has
//! a hundred connections.

mod by_sqlx;
mod by_tokio_postgres;
mod scenarios;
mod support;
mod ways;

use scenarios::scenarios;

scenarios!(sqlx, by_sqlx);
scenarios!(tokio_postgres, by_tokio_postgres);
