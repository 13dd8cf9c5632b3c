//! How many processes a fleet's limits are for, as far as this one knows.
//!
//! `"recs:64/fleet"` is a limit of all processes together. A process that has not joined the others, or has lost them, can
//! only take an equal part, and for that it has to know in how many. Somebody says so ([`declare_replicas`]), or the fleet
//! has ([`crate::fleet`]): the larger of the two counts, since a part too small costs calls and a part too large costs the
//! dependency.
//!
//! This stands below the registry, which has to know it when a limit is first used, and knows nothing of how a fleet is
//! found.
//!
//! Invariants: nothing here is on the path of a call; what was declared is never forgotten.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What somebody has said; 0 is nothing.
static DECLARED: AtomicU32 = AtomicU32::new(0);
/// What the fleet has said last; 0 is nothing.
static SEEN: AtomicU32 = AtomicU32::new(0);
/// Whether this process has joined.
static JOINED: AtomicBool = AtomicBool::new(false);

/// Says how many processes of this service there are, for limits that are a fleet's (`"recs:64/fleet"`).
///
/// It is what a process goes by until it has joined the others with `fleet::join`, and when it has lost them: its part of
/// such a limit is one of `replicas`. Without it, a process that has never heard of others takes the whole limit. With more
/// processes than that, the number that was counted last is what holds.
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(bulkhead = "doc-fleet-recs:64/fleet")]
/// async fn recommendations() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// watertight::fleet::declare_replicas(8);
/// let snapshot = watertight::snapshot();
/// assert_eq!(snapshot.bulkhead("doc-fleet-recs").expect("listed").slots, 8);
/// ```
pub fn declare_replicas(replicas: u32) {
    DECLARED.store(replicas, Ordering::Relaxed);
}

/// In how many parts a limit is divided.
pub(crate) fn known() -> u32 {
    DECLARED.load(Ordering::Relaxed).max(SEEN.load(Ordering::Relaxed)).max(1)
}

/// What somebody has said, if anybody has.
pub(crate) fn declared() -> Option<u32> {
    Some(DECLARED.load(Ordering::Relaxed)).filter(|replicas| *replicas > 0)
}

/// How many the fleet has counted last.
#[cfg(feature = "redis")]
pub(crate) fn saw(replicas: u32) {
    SEEN.store(replicas, Ordering::Relaxed);
}

/// Whether this process has joined the others.
pub(crate) fn has_joined() -> bool {
    JOINED.load(Ordering::Relaxed)
}

/// This process joins or leaves; what was so before.
#[cfg(feature = "redis")]
pub(crate) fn join(joined: bool) -> bool {
    JOINED.swap(joined, Ordering::Relaxed)
}
