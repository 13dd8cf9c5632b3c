//! What went wrong, as `tracing` events with the function's own fields.
//!
//! Counters say how often, an event says which call: it is emitted where the call is, inside whatever span the service has
//! opened around it, so a refused call can be found by its request. Nothing is emitted for a call that went well.
//!
//! | message | level | fields beside `function`, `module`, `file`, `line` |
//! |---|---|---|
//! | refused | debug | `strategy`, `name`, `error` |
//! | cut off | debug | `strategy`, `error` |
//! | overran its limit | warn | `took_ms`, `late_ms` |
//! | breaker changed | warn | `breaker`, `from`, `to`, `cause`, `change` (no function: a breaker may be many functions') |
//! | fleet: .. | info, warn | `fleet`, `replicas`, `error`, `left_ms` (no function: a fleet is the process's) |
//!
//! Refusals and cut-offs are `debug`, since an outage makes thousands of them a second and a log that drowns is the next
//! outage. An overrun is a programming mistake and a breaker's change is rare: both `warn`.
//!
//! Invariants: without the feature `tracing` these functions are nothing at all; events leave sideways, and no path of a
//! call that succeeds leads here.

use super::{Detail, Identity};

/// The target of every event.
#[cfg(feature = "tracing")]
const TARGET: &str = "watertight";

#[cfg(feature = "tracing")]
macro_rules! tell {
    ($level:ident, $site:expr, $($rest:tt)+) => {{
        let Identity { name, module, file, line } = *$site;
        tracing::$level!(target: TARGET, function = name, module, file, line, $($rest)+);
    }};
}

/// Whether there is anybody to tell.
pub(crate) fn is_on() -> bool {
    cfg!(feature = "tracing")
}

/// An attempt was refused.
#[cfg(feature = "tracing")]
#[cold]
pub(crate) fn refused(site: &'static Identity, why: Detail) {
    let error = super::Error::new(Some(site), why);
    tell!(debug, site, strategy = error.strategy(), name = error.name(), %error, "refused");
}

/// An attempt was cut off.
#[cfg(feature = "tracing")]
#[cold]
pub(crate) fn cut_off(site: &'static Identity, why: Detail) {
    let error = super::Error::new(Some(site), why);
    tell!(debug, site, strategy = error.strategy(), %error, "cut off");
}

/// An attempt answered after its limit, because its body blocked its thread.
#[cfg(feature = "tracing")]
#[cold]
pub(crate) fn overran(site: &'static Identity, took: u64, late: u64) {
    let ms = |nanos: u64| nanos as f64 / 1e6;
    tell!(warn, site, took_ms = ms(took), late_ms = ms(late), "overran its limit: the body blocks its thread");
}

/// A breaker changed its state; the words are those of the state before, the state since, and the cause.
#[cfg(feature = "tracing")]
#[cold]
pub(crate) fn breaker_changed(breaker: &str, [from, to, cause]: [&str; 3], change: &dyn std::fmt::Display) {
    tracing::warn!(target: TARGET, breaker, from, to, cause, %change, "breaker changed");
}

#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) fn refused(_: &'static Identity, _: Detail) {}

#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) fn cut_off(_: &'static Identity, _: Detail) {}

#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) fn overran(_: &'static Identity, _: u64, _: u64) {}

#[cfg(not(feature = "tracing"))]
#[inline]
pub(crate) fn breaker_changed(_: &str, _: [&str; 3], _: &dyn std::fmt::Display) {}

/// A process has its shares from the store, for the first time or again.
#[cfg(all(feature = "redis", feature = "tracing"))]
pub(crate) fn fleet_leased(fleet: &str, replicas: u32) {
    tracing::info!(target: TARGET, fleet, replicas, "fleet: shares are leased");
}

/// The store does not answer; what was leased last holds for a while.
#[cfg(all(feature = "redis", feature = "tracing"))]
pub(crate) fn fleet_failing(fleet: &str, why: &str, left: u64) {
    tracing::warn!(target: TARGET, fleet, error = why, left_ms = left / 1_000_000, "fleet: no answer, the last share holds");
}

/// The lease has ended, and there is no other.
#[cfg(all(feature = "redis", feature = "tracing"))]
pub(crate) fn fleet_alone(fleet: &str, replicas: u32) {
    tracing::warn!(target: TARGET, fleet, replicas, "fleet: the lease has ended, one of so many equal parts holds");
}

#[cfg(all(feature = "redis", not(feature = "tracing")))]
pub(crate) fn fleet_leased(_: &str, _: u32) {}

#[cfg(all(feature = "redis", not(feature = "tracing")))]
pub(crate) fn fleet_failing(_: &str, _: &str, _: u64) {}

#[cfg(all(feature = "redis", not(feature = "tracing")))]
pub(crate) fn fleet_alone(_: &str, _: u32) {}
