//! What happens to a call, step by step, for whoever wants to see the order.
//!
//! Strategies never report to each other; the pipeline notes each step as it takes it. Without the feature `testing` a
//! note is nothing at all. With it, a test records the steps of the calls on its own thread and compares the list with
//! the order that the documentation draws.
//!
//! Invariant: events leave sideways and never return; recording cannot change what happens.

/// One step of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Event {
    /// The call began.
    CallBegun,
    /// Its deadline allows it to go on.
    DeadlineChecked,
    /// The breaker let the attempt through.
    BreakerPassed,
    /// The attempt waits for a token.
    Throttled,
    /// The attempt has its token.
    TokenTaken,
    /// The attempt waits for a slot.
    Queued,
    /// The attempt has its slot.
    SlotTaken,
    /// The body is polled for the first time, its timeout runs.
    BodyStarted,
    /// The body returned.
    BodyReturned,
    /// The body was cut off.
    BodyCutOff,
    /// A second attempt begins beside the one that runs.
    Hedged,
    /// The body was dropped: the other attempt of the two answered first.
    BodyLost,
    /// The slot was given back.
    SlotFreed,
    /// The breaker was told the result.
    BreakerSettled,
    /// A pause before the next attempt began.
    Paused,
    /// The fallback was asked.
    FallbackAsked,
    /// The call has its fate.
    CallEnded,
}

/// Notes a step.
#[inline]
pub(crate) fn note(event: Event) {
    #[cfg(feature = "testing")]
    super::watch::see(event);
    #[cfg(not(feature = "testing"))]
    let _ = event;
}
