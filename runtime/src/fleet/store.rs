//! The port: what a process asks of the memory that all processes share, and what it is told.
//!
//! One question and one answer, for all limits of a process together: a sync is one round trip however many there are. What
//! the store does with it is a rule of its own (`sync.lua` in Redis, `grant` in the tests), so that the simulator can put
//! another store, a slow network and a partition behind the same port.
//!
//! Invariant: nothing that crosses the port is a point in time. A process counts from when it asked, the store from when it
//! was asked, and no two clocks are compared.

use std::sync::Arc;

/// One limit, as a process reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// Which limit; the same word in all processes.
    pub(super) limit: Arc<str>,
    /// The whole of it.
    pub(super) whole: u32,
    /// What the process may be using now at most: its slots, or what runs above them.
    pub(super) held: u32,
    /// What it would use if it could.
    pub(super) want: u32,
}

/// What a process asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ask {
    /// Which process, and which run of it.
    pub(super) process: Arc<str>,
    /// Each question has a higher number than the one before, so that one that is late is known to be.
    pub(super) number: u64,
    /// For how long it asks, in milliseconds.
    pub(super) lease: u64,
    /// From 0 to 999 999, the process's own: who gets the slot that cannot be divided.
    pub(super) dice: u32,
    /// It goes, and holds nothing any more.
    pub(super) leaves: bool,
    /// Every limit it has a share in. What it does not name, it has given back.
    pub(super) claims: Vec<Claim>,
}

/// What it is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// How many processes have a lease, this one included.
    pub(super) replicas: u32,
    /// Whether the store has heard of everyone who may hold something. Until then nobody gets more than it held.
    pub(super) settled: bool,
    /// Whether somebody waits for what this process is to give back.
    pub(super) hurry: bool,
    /// The share of each limit, in the order of the claims.
    pub(super) shares: Vec<u32>,
}

/// Why there is no answer: one sentence for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure(pub(super) String);

/// The memory that all processes share.
pub(super) trait Store: Send + 'static {
    /// Asks. Dropping it before it has answered is giving up on the answer, not on the question: that may have been heard.
    fn sync(&mut self, ask: &Ask) -> impl Future<Output = Result<Answer, Failure>> + Send;
}
