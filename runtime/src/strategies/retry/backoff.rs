//! How long to pause before the next attempt. Pure: handed the roll and the pause before.
//!
//! A pause has two parts. The *curve* says how the bound grows: a blip is over at once, an overload is not, so the bound
//! should grow until it is long enough for either. The *jitter* says where below the bound a caller lands: callers that
//! failed together and pause equally long come back together, which is the overload again. Full jitter, evenly between
//! nothing and the bound, spreads them best and is the default; what keeps a part of the bound (equal) or moves it by a
//! little ("20ms") buys a predictable pause with less spreading; none at all is for tests, and for a dependency with one
//! caller.
//!
//! | curve | bound before further attempt 1, 2, 3, … |
//! |---|---|
//! | constant | first, first, first |
//! | linear | first, 2 first, 3 first |
//! | fibonacci | first, 2 first, 3 first, 5 first, 8 first |
//! | exponential | first, factor × first, factor² × first |
//! | decorrelated | drawn between first and three times the pause before (Marc Brooker, AWS architecture blog); no other jitter |
//!
//! The curve is worked out for each retry from its number and not by multiplying on, so jitter never feeds the next bound
//! (decorrelated, which is made of that, aside), and a late retry cannot run over: what is too large to hold is the cap.
//!
//! Invariants: no pause is above the cap, jitter included; the bound never falls from one retry to the next; every roll and
//! every number of retries gives a pause.

use super::config::{Backoff, Curve, Jitter};

/// The pause before further attempt number `retry` (0 for the first), in nanoseconds. `before` is the pause before it, 0 if
/// there was none.
pub(super) fn pause(backoff: Backoff, retry: u32, before: u64, roll: f64) -> u64 {
    let Backoff { curve, first, cap, jitter } = backoff;
    let (least, most) = match (curve, jitter) {
        (Curve::Decorrelated, _) => (first.min(cap), before.max(first).saturating_mul(3).min(cap)),
        (_, Jitter::Full) => (0, bound(backoff, retry)),
        (_, Jitter::Equal) => (bound(backoff, retry) / 2, bound(backoff, retry)),
        (_, Jitter::None) => (bound(backoff, retry), bound(backoff, retry)),
        (_, Jitter::Within(by)) => {
            let bound = bound(backoff, retry);
            (bound.saturating_sub(by), bound.saturating_add(by).min(cap))
        }
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the range; saturates above
    let drawn = ((most - least) as f64 * roll.clamp(0.0, 1.0)) as u64;
    least.saturating_add(drawn).min(most)
}

/// The sum of so many pauses when every one of them is the longest it can be, in nanoseconds.
pub(super) fn longest(backoff: Backoff, retries: u32) -> u64 {
    let mut before = 0;
    (0..retries).fold(0, |sum: u64, retry| {
        before = pause(backoff, retry, before, 1.0);
        sum.saturating_add(before)
    })
}

fn bound(Backoff { curve, first, cap, .. }: Backoff, retry: u32) -> u64 {
    let grown = match curve {
        Curve::Constant | Curve::Decorrelated => first,
        Curve::Linear => first.saturating_mul(u64::from(retry) + 1),
        Curve::Fibonacci => fibonacci(first, cap, retry),
        Curve::Exponential { factor } => exponential(first, factor, retry),
    };
    grown.min(cap)
}

/// Stops at the cap, so however late the retry is, it is a few dozen additions.
fn fibonacci(first: u64, cap: u64, retry: u32) -> u64 {
    let (mut before, mut this) = (first, first);
    for _ in 0..retry {
        if this >= cap || this == 0 {
            return this;
        }
        (before, this) = (this, this.saturating_add(before));
    }
    this
}

fn exponential(first: u64, factor: f64, retry: u32) -> u64 {
    // Nothing stays nothing, also where the power is infinite.
    if first == 0 {
        return 0;
    }
    if factor.to_bits() == 2.0_f64.to_bits() {
        // Exactly, where a float would round.
        return first.checked_shl(retry).filter(|long| long >> retry == first).unwrap_or(u64::MAX);
    }
    // Infinity, and whatever is no number, saturates below.
    let power = factor.max(1.0).powi(i32::try_from(retry).unwrap_or(i32::MAX));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive; saturates above
    let grown = (first as f64 * power) as u64;
    grown.max(first)
}
