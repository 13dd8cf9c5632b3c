//! Each figure as `PromQL`, once: rules record it, alerts ask for what was recorded, panels ask for it anew.
//!
//! Shares are of sums and percentiles of summed buckets, never means of shares or of percentiles: the buckets are the same in
//! every process, so they add. A percentile counts an attempt that was cut off by what it had run, so it says "at least"; left
//! out, those attempts would make a function look faster the more of them time out.
//!
//! Invariant: a share has no value where there is nothing to have a share of.

use super::scope::Scope;
use crate::call::tally::{AttemptFate, StopReason};
use crate::call::{FallbackUse, Fate, Refusal};
use crate::metrics::BreakerState;
use crate::metrics::names;

/// One figure. What it is recorded as is in [`Figure::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// Calls a second.
    Calls,
    /// The share of calls that did not get what they came for.
    Harmed,
    /// The share of calls that got no answer at all.
    Failed,
    /// The share of calls that were refused.
    Refused,
    /// The share of calls that got no slot.
    NoSlot,
    /// Attempts a call.
    RetryFactor,
    /// The share of attempts that were cut off.
    CutOff,
    /// Retries that the budget refused, a call.
    RetriesRefused,
    /// Half of all attempts took at least so long at most.
    P50,
    /// The same of ninety-nine in a hundred.
    P99,
    /// Calls that have begun and not ended, the fewest in the range.
    Hanging,
    /// The share of a bulkhead's slots that were taken.
    Saturation,
    /// The share of threads that were taken.
    Threads,
    /// The share of threads that run what nobody waits for.
    Stuck,
    /// 1 while the breaker of any process is not closed.
    NotClosed,
}

impl Figure {
    /// All that are recorded.
    pub(super) const ALL: [Self; 15] = [
        Self::Calls,
        Self::Harmed,
        Self::Failed,
        Self::Refused,
        Self::NoSlot,
        Self::RetryFactor,
        Self::CutOff,
        Self::RetriesRefused,
        Self::P50,
        Self::P99,
        Self::Hanging,
        Self::Saturation,
        Self::Threads,
        Self::Stuck,
        Self::NotClosed,
    ];

    /// What it is recorded as: level, metric and operations, as Prometheus' own manual has it.
    pub(super) fn name(self, over: &str) -> String {
        let (start, operation) = match self {
            Self::Calls => ("function:watertight_calls", "rate"),
            Self::Harmed => ("function:watertight_calls_harmed", "ratio_rate"),
            Self::Failed => ("function:watertight_calls_failed", "ratio_rate"),
            Self::Refused => ("function:watertight_calls_refused", "ratio_rate"),
            Self::NoSlot => ("function:watertight_calls_without_slot", "ratio_rate"),
            Self::RetryFactor => ("function:watertight_attempts_per_call", "ratio_rate"),
            Self::CutOff => ("function:watertight_attempts_cut_off", "ratio_rate"),
            Self::RetriesRefused => ("function:watertight_retries_refused_per_call", "ratio_rate"),
            Self::P50 => ("function:watertight_attempt_seconds", "p50_rate"),
            Self::P99 => ("function:watertight_attempt_seconds", "p99_rate"),
            Self::Hanging => ("function:watertight_calls_in_flight", "min"),
            Self::Saturation => ("bulkhead:watertight_bulkhead_running", "ratio_avg"),
            Self::Threads => ("isolate:watertight_isolate_running", "ratio_avg"),
            Self::Stuck => ("isolate:watertight_isolate_running_abandoned", "ratio_avg"),
            Self::NotClosed => return "breaker:watertight_breaker_not_closed:max".to_owned(),
        };
        format!("{start}:{operation}{over}")
    }

    /// How it is worked out.
    pub(super) fn expr(self, of: &Scope) -> String {
        match self {
            Self::Calls => calls(of, ""),
            Self::Harmed => share_of_calls(of, &harmed()),
            Self::Failed => share_of_calls(of, &failed()),
            Self::Refused => share_of_calls(of, &format!("fate=\"{}\"", Fate::Refused(Refusal::Full).as_str())),
            Self::NoSlot => {
                let (full, waited) = (Refusal::Full.as_str(), Refusal::Waited.as_str());
                share_of_calls(of, &format!("reason=~\"{full}|{waited}\""))
            }
            Self::RetryFactor => over(&attempts(of, ""), &calls(of, "")),
            Self::CutOff => {
                let cut = format!("outcome=\"{}\"", AttemptFate::TimedOut.as_str());
                over(&attempts(of, &cut), &attempts(of, ""))
            }
            Self::RetriesRefused => {
                let refused = format!("reason=\"{}\"", StopReason::Budget.as_str());
                over(&of.sum(&["reason"], &of.rate(names::RETRY_STOPS, &refused)), &calls(of, ""))
            }
            Self::P50 => percentile(of, "0.5"),
            Self::P99 => percentile(of, "0.99"),
            Self::Hanging => of.sum(&[], &format!("min_over_time({}[{}])", of.of(names::IN_FLIGHT, ""), of.over)),
            Self::Saturation => taken(of, names::BULKHEAD_RUNNING, names::BULKHEAD_SLOTS),
            Self::Threads => taken(of, names::ISOLATE_RUNNING, names::ISOLATE_THREADS),
            Self::Stuck => taken(of, names::ISOLATE_AT_LARGE, names::ISOLATE_THREADS),
            Self::NotClosed => {
                let not_closed = format!("state!=\"{}\"", BreakerState::Closed.as_str());
                of.over_processes("max", &["state"], &of.of(names::BREAKER_STATE, &not_closed))
            }
        }
    }
}

/// The declared timeout of each function that has one, in seconds: a line for charts.
pub(super) const TIMEOUT: &str = "function:watertight_timeout_seconds:declared";

/// Matches calls that did not get what they came for, without those whose caller had gone.
pub(super) fn harmed() -> String {
    format!("fate!~\"{}|{}\"", Fate::Ok.as_str(), Fate::Cancelled.as_str())
}

/// Matches those of them that nothing answered.
pub(super) fn failed() -> String {
    let (used, last_good) = (FallbackUse::Used.as_str(), FallbackUse::LastGood.as_str());
    format!("{},fallback!~\"{used}|{last_good}\"", harmed())
}

pub(super) fn calls(of: &Scope, more: &str) -> String {
    of.sum(&["fate", "reason", "fallback"], &of.rate(names::CALLS, more))
}

fn share_of_calls(of: &Scope, more: &str) -> String {
    over(&calls(of, more), &calls(of, ""))
}

fn attempts(of: &Scope, more: &str) -> String {
    of.sum(&["outcome"], &of.rate(names::ATTEMPTS, more))
}

/// Nothing, where the whole is nothing.
fn over(part: &str, whole: &str) -> String {
    format!("{part} / ({whole} > 0)")
}

/// From the buckets of completed and of cut-off attempts together.
pub(super) fn percentile(of: &Scope, quantile: &str) -> String {
    let buckets = |name: &str| of.sum(&[], &of.rate(&format!("{name}_bucket"), ""));
    format!("histogram_quantile({quantile}, {} + {})", buckets(names::LATENCY), buckets(names::CUT_OFF))
}

fn taken(of: &Scope, running: &str, room: &str) -> String {
    let mean = |name: &str| of.sum(&[], &format!("avg_over_time({}[{}])", of.of(name, ""), of.over));
    over(&mean(running), &mean(room))
}
