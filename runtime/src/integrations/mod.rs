//! Other libraries, one file and one feature each.
//!
//! Two kinds. One puts their traits on top of ours, so that a guard is a `tower` layer. The other lets a deadline come into the
//! process with a request, and leave it with one or with a query: a limit that only the caller keeps frees the caller and nobody else, while the database goes on computing an
//! answer that nobody reads, holding the locks and the connection that the next caller needs. So whoever stands between
//! a guarded function and another system tells that system how long the answer is of use, and tells it when the caller has
//! left. What travels is the time that is left for the running attempt, whichever ends it first, its timeout or its
//! deadline; never a point in time, since clocks differ.
//!
//! Invariants: an integration that runs calls drives them through [`crate::guard`] and has no way of its own; none imports
//! another; nothing below knows that they are here.

#[cfg(feature = "axum")]
mod axum;
#[cfg(any(feature = "http", feature = "reqwest", feature = "tonic"))]
mod hop;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "sqlx", feature = "tokio-postgres"))]
mod postgres;
#[cfg(feature = "reqwest")]
pub mod reqwest;
#[cfg(feature = "sqlx")]
pub mod sqlx;
#[cfg(feature = "tokio-postgres")]
pub mod tokio_postgres;
#[cfg(feature = "tokio-util")]
pub mod tokio_util;
#[cfg(feature = "tonic")]
pub mod tonic;
#[cfg(feature = "tower")]
pub(crate) mod tower;
