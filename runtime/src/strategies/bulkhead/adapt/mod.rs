//! A number of slots that is found by measuring instead of being written down.
//!
//! The right number is the one at which the dependency is busy and does not queue: by Little's law, what it can answer
//! in a second times the time one answer takes. Whoever writes it down has to know both, and both change with every
//! release of somebody else's. What a caller can see is latency: below that number, one more call in flight costs the
//! others nothing; beyond it, every further one waits inside the dependency, where we cannot count, bound or refuse it.
//!
//! ```text
//!   latency                     ·
//!      │                     ·          the knee is the number of slots wanted:
//!      │                  ·             left of it slots are wasted,
//!      │· · · · · · · · ·               right of it they only make queues
//!      └───────────────┴─────────▶ calls in flight
//! ```
//!
//! [`decide::Controller`] steers by the gradient, the latency of an undisturbed call over the latency seen, as the gradient
//! limit of Netflix's `concurrency-limits` and Envoy's adaptive concurrency filter do. What neither does well is to know
//! the undisturbed latency: a long-term mean creeps up with the congestion it is meant to show, and a minimum measured
//! at three calls in flight turns nearly everyone away while it is measured. Here it is asked for by an experiment that
//! costs little and tells congestion from slowness: for a moment the slots are halved. If latency falls with them, the
//! dependency had been queueing, and by how much it falls says where the knee is. If it does not, the dependency is as
//! slow as that by itself, and the slots come back. The experiment is made now and then, and whenever latency has risen
//! for several windows running.
//!
//! The latency of a window is the geometric mean of its attempts. A tail of slow calls moves it by their number and not
//! by their length, and it needs no histogram. Errors are left out, since a fast error says nothing of the time an
//! answer takes; attempts cut off count with the time they had, and when many are cut off the slots shrink whatever
//! the latency of the others is: a dependency that hangs is asked by as few as the floor allows.
//!
//! Invariants: the number stays within floor and ceiling; it grows only while the present one is in use; no call waits
//! for the lock (one that finds it taken is not measured); waiters and slots survive every change, as with any resize.

mod decide;
#[cfg(all(test, not(watertight_loom)))]
mod tests;

use std::sync::{Mutex, TryLockError};

use super::Bulkhead;
use crate::base::clock::Moment;
use crate::base::rng::roll;
pub(crate) use decide::Ended;
use decide::{Controller, Sample};

/// The smallest floor unless declared otherwise: one call in flight cannot be halved, and shows nothing.
pub(crate) const DEFAULT_FLOOR: u32 = 2;
/// The ceiling unless declared otherwise.
pub(crate) const DEFAULT_CEILING: u32 = 128;

/// What a compartment learns from.
#[derive(Debug)]
pub(super) struct Learner(Mutex<Controller>);

impl Learner {
    pub(super) fn new(floor: u32, ceiling: u32) -> Self {
        Self(Mutex::new(Controller::new(floor, ceiling)))
    }

    /// The number of slots to start with.
    pub(super) fn first(floor: u32, ceiling: u32) -> u32 {
        Controller::new(floor, ceiling).slots()
    }
}

impl Bulkhead {
    /// Whether its slots follow what is measured.
    pub(crate) fn is_adaptive(&self) -> bool {
        self.learner.get().is_some()
    }

    /// From here on its slots are found by measuring, between `floor` and the slots of `limits`.
    pub(crate) fn adapt(&self, floor: u32, limits: super::Limits) {
        let learner = || Learner::new(floor, limits.slots);
        self.learner.get_or_init(learner);
        self.resize(super::Limits { slots: Learner::first(floor, limits.slots), ..limits });
    }

    /// An attempt that took so many nanoseconds is about to give its slot back: and how that ended.
    pub(crate) fn learn(&self, took: u64, ended: Ended, now: Moment) {
        let Some(Learner(controller)) = self.learner.get() else { return };
        let seen = self.word();
        let sample = Sample { took, ended, busy: seen.running() >= seen.slots() };
        let slots = {
            let mut controller = match controller.try_lock() {
                Ok(controller) => controller,
                Err(TryLockError::Poisoned(controller)) => controller.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            controller.learn(sample, now, roll())
        };
        if let Some(slots) = slots {
            self.resize(super::Limits { slots, ..self.limits() });
        }
    }
}
