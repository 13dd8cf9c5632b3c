//! Deadlines that travel by gRPC, with `tonic`: in by [`ServerLayer`], out by [`ClientLayer`].
//!
//! gRPC has a header for it, `grpc-timeout`, and tonic a timer on either side that keeps it. Both are used and neither
//! suffices. The server's timer ends the call and tells nobody inside: what the handler calls next knows of no deadline. And it
//! answers `CANCELLED`, which is what a caller that went away looks like, where the protocol has `DEADLINE_EXCEEDED`; a caller
//! that retries the one and not the other is misled.
//!
//! **First come.** tonic's timers cannot be switched off, so ours is earlier: the server keeps back 2 ms of what it is told.
//! For the same reason the client layer holds back what comes in the last 5 ms and says that the time was over, be it from tonic's own
//! timer or from the other side. It comes in the very moment at which the guarded function around it ends the attempt, and
//! should lose: an attempt that was cut off is to be counted as such, and not as an error of its body, which would be retried
//! even where running twice does harm.
//!
//! | what happened | code | comes with when to come back |
//! |---|---|---|
//! | timed out, deadline spent, not enough time left | `DEADLINE_EXCEEDED` | no |
//! | breaker open, shutting down | `UNAVAILABLE` | yes |
//! | no slot, no thread, no token | `RESOURCE_EXHAUSTED` | yes |
//!
//! When to come back stands in two metadata: `grpc-retry-pushback-ms`, which gRPC clients with a retry policy heed by
//! themselves, and `retry-after` in seconds, as over HTTP. The message is one of a few constants; the error itself is the
//! status' source, which stays in the process.
//!
//! **The first message is the end** of what is timed: a stream of answers runs on after that, unless it is one that holds on to
//! the scope (feature `futures`).
//!
//! Invariants: see `super::hop`; at most eight digits are written and read; a value that cannot be read was not said.

mod client;
mod server;
mod status;

pub use client::{ClientFuture, ClientLayer, ClientService};
pub use server::{ResponseFuture, ServerLayer, ServerService};
pub use status::failure;

/// Where the remaining time stands.
const HEADER: &str = "grpc-timeout";
