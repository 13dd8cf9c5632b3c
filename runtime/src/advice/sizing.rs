//! How many slots a stream of work needs. Pure.
//!
//! Little's law (1961): work that comes `rate` times a second and holds its slot for `hold` on average occupies `rate × hold`
//! slots on average, whatever the distribution. That many slots would be a full house at all times, with a queue that never
//! ends; how many more are needed so that few have to wait is Erlang's delay formula (1917), for arrivals that know nothing
//! of each other.
//!
//! Invariants: never fewer slots than Little's law asks for; more traffic or longer work never needs fewer slots.

use std::time::Duration;

/// One in so many may have to wait for a slot.
const MAY_WAIT: f64 = 0.05;
/// What a bulkhead can have.
const MOST: u32 = 1_000_000;

/// The slots occupied on average.
pub(crate) fn occupied(rate: f64, hold: Duration) -> f64 {
    rate.max(0.0) * hold.as_secs_f64()
}

/// The fewest slots with which at most one in twenty waits.
pub(crate) fn slots(rate: f64, hold: Duration) -> u32 {
    let load = occupied(rate, hold);
    if load <= 0.0 {
        return 1;
    }
    // From Little's law on upwards; the search ends, since each further slot lowers the share.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive; saturates above
    let least = (load.floor() as u32).saturating_add(1).min(MOST);
    // Above some thousands the square root that is added makes no difference that the figure could carry.
    let most = least.saturating_add(10_000).min(MOST);
    (least..most).find(|&slots| share_that_waits(load, slots) <= MAY_WAIT).unwrap_or(most)
}

/// Erlang's delay formula by way of his loss formula, which can be worked out without a factorial.
pub(crate) fn share_that_waits(load: f64, slots: u32) -> f64 {
    let n = f64::from(slots);
    if load >= n {
        return 1.0;
    }
    let lost = (1..=slots).fold(1.0, |lost, k| load * lost / (f64::from(k) + load * lost));
    lost / (1.0 - (load / n) * (1.0 - lost))
}
