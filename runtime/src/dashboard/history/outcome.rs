//! How calls ended, as a user of the service would tell it: one class per call.
//!
//! The runtime books a fate and what the fallback did. A person asks: did it work, was it patched over, or did it fail, and
//! for which reason. A call that a fallback answered is never shown as a success, whatever the answer was.
//!
//! Invariant: every call is in exactly one class, so the classes sum to the calls.

use crate::call::{FallbackUse, Fate, Refusal};
use crate::metrics::SiteFigures;

/// Reasons, in the order in which they stand in the two groups of classes.
pub(crate) const REASONS: [&str; 7] =
    ["timed out", "no slot", "breaker open", "too often", "no time left", "shutting down", "error"];

/// The classes, in the order in which they are stacked: good ones, those that a fallback answered, those that failed.
pub(crate) const CLASSES: [&str; 19] = [
    "ok",
    "ok after a retry",
    "fallback: an old success",
    "fallback: timed out",
    "fallback: no slot",
    "fallback: breaker open",
    "fallback: too often",
    "fallback: no time left",
    "fallback: shutting down",
    "fallback: error",
    "failed: timed out",
    "failed: no slot",
    "failed: breaker open",
    "failed: too often",
    "failed: no time left",
    "failed: shutting down",
    "failed: error",
    "failed: panicked",
    "dropped by the caller",
];

const STALE: usize = 2;
const FALLBACK: usize = 3;
const FAILED: usize = FALLBACK + REASONS.len();
const PANICKED: usize = FAILED + REASONS.len();
const DROPPED: usize = PANICKED + 1;

/// Calls by class.
pub(crate) type Outcomes = [u64; CLASSES.len()];

/// A function's calls since the process started.
pub(crate) fn of(site: &SiteFigures) -> Outcomes {
    let mut all = [0; CLASSES.len()];
    let [first, later @ ..] = site.ladder();
    all[0] = first.answered;
    all[1] = later.iter().map(|rung| rung.answered).sum();
    for fate in Fate::ALL {
        for fallback in FallbackUse::ALL {
            if let Some(class) = class(fate, fallback) {
                all[class] += site.fate_with(fate, fallback);
            }
        }
    }
    all
}

/// `None` for what worked, which the ladder tells apart.
fn class(fate: Fate, fallback: FallbackUse) -> Option<usize> {
    let reason = match fate {
        Fate::Ok => return None,
        Fate::Panicked => return Some(PANICKED),
        Fate::Cancelled => return Some(DROPPED),
        Fate::TimedOut => 0,
        Fate::Refused(Refusal::Full | Refusal::Waited) => 1,
        Fate::Refused(Refusal::Open) => 2,
        Fate::Refused(Refusal::Rate) => 3,
        Fate::Refused(Refusal::Deadline | Refusal::Doomed) => 4,
        Fate::Refused(Refusal::Shutdown) => 5,
        Fate::Error => 6,
    };
    Some(match fallback {
        FallbackUse::LastGood => STALE,
        FallbackUse::Used => FALLBACK + reason,
        FallbackUse::None | FallbackUse::Failed | FallbackUse::Full => FAILED + reason,
    })
}

/// Calls that did not get what they came for, without those whose caller had gone.
pub(crate) fn harmed(outcomes: &[u64]) -> u64 {
    outcomes[STALE..DROPPED].iter().sum()
}

/// Calls that ended without a slot.
pub(crate) fn no_slot(outcomes: &[u32]) -> u64 {
    u64::from(outcomes[FALLBACK + 1]) + u64::from(outcomes[FAILED + 1])
}

/// Calls that came, or waited, until too little time was left.
pub(crate) fn no_time(outcomes: &[u64]) -> u64 {
    outcomes[FALLBACK + 4] + outcomes[FAILED + 4]
}

/// Calls that failed with nothing in place of an answer.
pub(crate) fn failed(outcomes: &[u64]) -> u64 {
    outcomes[FAILED..DROPPED].iter().sum()
}

/// The reason that harmed most, if anything did.
pub(crate) fn worst_reason(outcomes: &[u64]) -> Option<(&'static str, u64)> {
    let both = |at: usize| outcomes[FALLBACK + at] + outcomes[FAILED + at];
    let reasons = REASONS.into_iter().enumerate().map(|(at, reason)| (reason, both(at)));
    let all = reasons.chain([("a panic", outcomes[PANICKED]), ("served from memory", outcomes[STALE])]);
    all.filter(|(_, count)| *count > 0).max_by_key(|(_, count)| *count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tally::TallyFigures;
    use crate::declaration::Declaration;

    #[test]
    fn every_call_is_in_one_class_and_good_ones_are_those_that_worked() {
        let mut all = TallyFigures::default();
        for (at, fates) in all.fates.iter_mut().enumerate() {
            *fates = [10 + at as u64, 1, 2, 3, 4];
        }
        all.rungs[0].1 = 4;
        let site = SiteFigures::of(&Declaration::new("f", "m", "f.rs", 1), all);
        let outcomes = of(&site);
        assert_eq!(outcomes[1], 4);
        assert_eq!(outcomes[0] + outcomes[1], site.ok);
        assert_eq!(outcomes.iter().sum::<u64>(), site.calls);
        assert_eq!(harmed(&outcomes), site.calls - site.ok - site.cancelled);
        for (at, reason) in REASONS.into_iter().enumerate() {
            assert_eq!(CLASSES[FALLBACK + at], format!("fallback: {reason}"));
            assert_eq!(CLASSES[FAILED + at], format!("failed: {reason}"));
        }
    }
}
