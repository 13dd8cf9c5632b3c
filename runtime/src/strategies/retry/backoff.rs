//! How long to pause before the next attempt. Pure: handed the roll.

use super::config::Backoff;

/// The pause before further attempt number `retry` (0 for the first), in nanoseconds: evenly between nothing and
/// `first` doubled `retry` times, never above the cap.
pub(super) fn pause(backoff: Backoff, retry: u32, roll: f64) -> u64 {
    let doubled = backoff.first.checked_shl(retry).filter(|long| long >> retry == backoff.first);
    // Doubling nothing gives nothing, also where the shift is out of range.
    let doubled = if backoff.first == 0 { Some(0) } else { doubled };
    let bound = doubled.unwrap_or(u64::MAX).min(backoff.cap);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the bound; saturates above
    let drawn = (bound as f64 * roll.clamp(0.0, 1.0)) as u64;
    drawn.min(bound)
}
