//! Async functions that survive slow dependencies.
//!
//! One attribute, [`resilient`], gives an async function a deadline that cancels its work, a compartment of its own,
//! measured retries and an answer for the day its dependency hangs. Its documentation is the manual. What happened is in
//! [`snapshot`] from process start, for every annotated function, called or not.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! use watertight::resilient;
//!
//! #[resilient(timeout = "300ms", bulkhead = "recs-of-the-front-page:8/queue:16", fallback = Vec::new)]
//! async fn recommendations(user: u64) -> Vec<String> {
//!     let _ = user;
//!     std::future::pending().await // a service that accepts and never answers
//! }
//!
//! assert_eq!(recommendations(7).await, Vec::<String>::new());
//! # }
//! ```
//!
//! - [`Guard`]: the same strategies for closures, put together by hand.
//! - [`deadline`]: scopes by hand, and reading what is left.
//! - [`spawn`] and [`JoinSet`]: tasks that inherit the deadline.
//! - [`attempt`] and [`call_id`]: which attempt runs, and a key that is the same over all attempts of a call.
//! - [`Error`]: why a call was refused or cut short. [`Classify`]: which of your errors are worth another try.
//! - [`catalogue()`]: every annotated function with its settings and the longest a call can take. [`mod@check`]: what is
//!   wrong with the declarations of a binary, at start-up or in CI.
//! - [`mod@settings`]: figures from outside the code, in place, each with its origin.
//! - [`shutdown`]: refusing what is new, finishing what was begun, and saying what was left.
//! - [`metrics`] and [`export`]: figures as data, and for other systems.
//!
//! Time comes from tokio's clock alone, so a test with a paused clock drives every timeout, pause and cooldown.
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `catalogue` | on | functions are listed before their first call, through a list the linker makes |
//! | `metrics` | on | [`export`] through the `metrics` facade |
//! | `dashboard` | off | `dashboard`: a page that says which function hurts users now |
//! | `json` | off | catalogue and findings as JSON |
//! | `rate` | off | the key `rate`, through the `governor` crate |
//! | `tracing` | off | events on refusals, cut-offs, overruns and breaker changes; `docs/metrics.md` |
//! | `tower` | off | [`Guard`]s as `tower` layers |
//! | `redis` | off | [`fleet`]: limits that hold over all processes, by shares that are leased from a Redis |
//! | `axum`, `http` | off | `integrations`: deadlines that come in with a request, and errors as responses |
//! | `tonic` | off | `integrations`: deadlines that travel by gRPC, in and out |
//! | `reqwest` | off | `integrations`: deadlines that go out with a request |
//! | `settings` | off | [`mod@settings`] from a file and the environment |
//! | `sqlx`, `tokio-postgres` | off | `integrations`: deadlines that travel into Postgres |
//! | `futures` | off | [`mod@stream`]: a stream that keeps slot and limit of the function it was made in |
//! | `tokio-util` | off | `integrations`: cancellation tokens beside deadlines |
//! | `testing` | off | `testing`: for the tests of your service; `docs/testing.md` walks through one |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod __private;
pub mod advice;
mod base;
mod call;
mod catalogue;
pub mod check;
#[cfg(feature = "dashboard")]
pub mod dashboard;
mod declaration;
pub mod export;
pub mod fleet;
pub mod guard;
pub mod integrations;
pub mod listing;
pub mod metrics;
mod pipeline;
mod pools;
mod registry;
mod replicas;
pub mod settings;
pub mod shutdown;
mod site;
mod strategies;
#[cfg(feature = "futures")]
pub mod stream;
mod tasks;
#[cfg(feature = "testing")]
pub mod testing;

pub use advice::{advise, advise_since};
pub use base::histogram::Bands;
pub use call::ids::{attempt, call_id};
pub use call::tally::{AttemptFate, StopReason, WaitFate};
pub use call::would::Cut;
pub use call::{
    CallId, Class, Classify, Error, ErrorKind, Event, Failure, FallbackUse, Fate, HedgeFate, Identity, ObservedFate,
    Refusal, Verdict,
};
pub use check::check;
pub use guard::Guard;
pub use listing::catalogue;
pub use metrics::{Snapshot, snapshot};
pub use pools::declare_pool;
pub use tasks::{JoinSet, spawn};
#[doc = include_str!("../MANUAL.md")]
pub use watertight_macros::resilient;

/// Deadlines that travel down the tree of calls.
pub mod deadline {
    pub use crate::strategies::deadline::{Within, clamp, remaining, within};
}

/// Guards as `tower` layers, see [`Guard::layer`].
#[cfg(feature = "tower")]
pub mod tower {
    pub use crate::integrations::tower::{
        Again, AsErrors, AsResponses, Boxed, Cloned, CopiedBy, GuardLayer, GuardService, Refusals, Responses, SendOnce,
    };
}

/// Breakers: by hand, and being told of their changes.
pub mod breaker {
    pub use crate::registry::{isolate_breaker as isolate, reset};
    pub use crate::strategies::breaker::{Cause, Change, State, on_any_change, on_change};
}

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The pages of the documentation, so that their examples are compiled.
#[cfg(doctest)]
mod pages {
    #[cfg(feature = "testing")]
    #[doc = include_str!("../../docs/testing.md")]
    struct Testing;

    #[cfg(feature = "json")]
    #[doc = include_str!("../../docs/check.md")]
    struct Check;

    #[cfg(feature = "dashboard")]
    #[doc = include_str!("../../docs/dashboard.md")]
    struct Dashboard;

    #[doc = include_str!("../../docs/metrics.md")]
    struct Metrics;

    #[cfg(feature = "settings")]
    #[doc = include_str!("../../docs/settings.md")]
    struct Settings;

    #[doc = include_str!("../../docs/strategies/keyed.md")]
    struct Keyed;

    #[cfg(all(feature = "redis", feature = "rate"))]
    #[doc = include_str!("../../docs/fleet.md")]
    struct Fleet;

    #[cfg(feature = "rate")]
    #[doc = include_str!("../../docs/strategies/rate.md")]
    struct Rate;

    #[doc = include_str!("../../docs/strategies/timeout.md")]
    struct Timeout;

    #[doc = include_str!("../../docs/strategies/deadline.md")]
    struct Deadline;

    #[doc = include_str!("../../docs/strategies/bulkhead.md")]
    struct Bulkhead;

    #[doc = include_str!("../../docs/strategies/fallback.md")]
    struct Fallback;

    #[doc = include_str!("../../docs/strategies/bulkhead-auto.md")]
    struct BulkheadAuto;

    #[doc = include_str!("../../docs/strategies/breaker.md")]
    struct Breaker;

    #[doc = include_str!("../../docs/strategies/retry.md")]
    struct Retry;
    #[doc = include_str!("../../docs/strategies/hedge.md")]
    struct Hedge;

    #[doc = include_str!("../../docs/strategies/isolate.md")]
    struct Isolate;

    #[doc = include_str!("../../docs/integrations/tasks.md")]
    struct Tasks;

    #[cfg(feature = "axum")]
    #[doc = include_str!("../../docs/shutdown.md")]
    struct Shutdown;

    #[cfg(feature = "axum")]
    #[doc = include_str!("../../docs/integrations/axum.md")]
    struct Axum;

    #[cfg(feature = "reqwest")]
    #[doc = include_str!("../../docs/integrations/reqwest.md")]
    struct Reqwest;

    #[cfg(feature = "tonic")]
    #[doc = include_str!("../../docs/integrations/tonic.md")]
    struct Tonic;

    #[cfg(any(feature = "sqlx", feature = "tokio-postgres"))]
    #[doc = include_str!("../../docs/integrations/postgres.md")]
    struct Postgres;
}
