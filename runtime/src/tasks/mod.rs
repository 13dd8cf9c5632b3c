//! The scope of the running code, in other tasks.
//!
//! What a future inherits depends on where it is polled. `join!`, `select!` and `FuturesUnordered` poll where they are, so
//! everything in them inherits; a task is polled by the runtime, and a plain `tokio::spawn` starts from nothing. Losing the
//! deadline that way is silent: the task just runs on. [`spawn`] and [`JoinSet`] carry it over.
//!
//! Carrying it over is right for a part of the work at hand, which is of no use once its caller has gone, and wrong for a job that
//! outlives it: a job that is only started here has a deadline of its own or none, and `tokio::spawn` is the way to say so.
//!
//! A task is not dropped when its deadline passes. The guarded functions in it end by it, and so do the requests and queries that it
//! makes by an integration; code that waits for something else does not. A task of a [`JoinSet`] is dropped with the set.
//!
//! Invariants: a task inherits deadline, attempt and call id of the code that spawned it, and no slot.

mod join_set;
mod spawn;

pub use join_set::JoinSet;
pub use spawn::spawn;
