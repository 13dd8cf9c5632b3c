//! Every metric name, once. The table of `docs/metrics.md` is compared with this list by a test.

/// What kind of series a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// A distribution.
    Histogram,
}

/// One metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// What it says, with the unit.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident = $name:literal, $kind:ident, [$($label:literal),*], $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: &str = $name;)*

        /// All of them.
        pub const ALL: &[Metric] = &[
            $(Metric { name: $name, kind: Kind::$kind, labels: &[$($label),*], help: $help }),*
        ];
    };
}

metrics! {
    CALLS = "watertight_calls_total", Counter, ["function", "module", "fate", "reason", "fallback"],
        "Calls that ended, by fate; the reason is that of a refusal, the fallback says whether one answered.";
    IN_FLIGHT = "watertight_calls_in_flight", Gauge, ["function", "module"],
        "Calls that have begun and not ended.";
    ATTEMPTS = "watertight_attempts_total", Counter, ["function", "module", "outcome"],
        "Runs of the body, by outcome.";
    RETRIES = "watertight_retries_total", Counter, ["function", "module"],
        "Attempts after a call's first.";
    RETRY_STOPS = "watertight_retry_stops_total", Counter, ["function", "module", "reason"],
        "Failed attempts that were not followed by another, by reason.";
    ANSWERS = "watertight_answers_total", Counter, ["function", "module", "attempt"],
        "Calls whose body returned a value, by the number of the attempt that did.";
    HEDGES = "watertight_hedges_total", Counter, ["function", "module", "outcome"],
        "Second attempts that were due beside a slow one, by what became of them.";
    LATENCY = "watertight_attempt_seconds", Histogram, ["function", "module"],
        "How long completed attempts took, in seconds.";
    CUT_OFF = "watertight_attempt_cut_off_seconds", Histogram, ["function", "module"],
        "How long attempts had run when they were cut off, in seconds; they would have taken longer.";
    OBSERVED = "watertight_observed_attempts_total", Counter, ["function", "module", "outcome"],
        "Attempts that were to run on beyond their limit, to learn how long they take, by what became of them.";
    OBSERVED_RUNNING = "watertight_observed_attempts_running", Gauge, ["function", "module"],
        "How many attempts run on beyond their limit, without a caller and without a slot.";
    OBSERVED_LATENCY = "watertight_observed_attempt_seconds", Histogram, ["function", "module"],
        "How long attempts took that ran on beyond their limit and answered, in seconds.";
    OBSERVED_UNANSWERED = "watertight_observed_attempt_unanswered_seconds", Histogram, ["function", "module"],
        "How long attempts were watched that ran on beyond their limit and did not answer, in seconds; they would have taken longer.";
    LAST_GOOD_AGE = "watertight_last_good_age_seconds", Histogram, ["function", "module"],
        "How old the successes were that were served again, in seconds.";
    QUEUE_WAIT = "watertight_queue_wait_seconds", Histogram, ["function", "module", "outcome"],
        "How long callers waited for a slot, in seconds, by how the wait ended.";
    TOKEN_WAIT = "watertight_token_wait_seconds", Histogram, ["function", "module", "outcome"],
        "How long callers waited for a token of their rate, in seconds, by how the wait ended.";
    RATE_WAITING = "watertight_rate_waiting", Gauge, ["rate"],
        "How many wait for a token.";
    OVERRUNS = "watertight_overruns_total", Counter, ["function", "module"],
        "Attempts that answered after their limit, because the body blocked its thread.";
    LENT = "watertight_slots_lent_total", Counter, ["function", "module"],
        "Nested calls that ran in the slot of the call around them.";
    WOULD_REFUSE = "watertight_would_refuse_total", Counter, ["function", "module", "reason"],
        "Attempts that ran, and that an observing strategy would have refused, by reason.";
    WOULD_CUT = "watertight_would_cut_total", Counter, ["function", "module", "reason"],
        "Attempts that an observing timeout or deadline would have cut off.";
    WOULD_QUEUE = "watertight_would_queue_total", Counter, ["function", "module"],
        "Attempts that would have waited for a token of an observing rate or a slot of an observing bulkhead.";
    WOULD_RETRY = "watertight_would_retry_total", Counter, ["function", "module"],
        "Calls that an observing retry would have tried again.";
    BULKHEAD_SLOTS = "watertight_bulkhead_slots", Gauge, ["bulkhead"],
        "How many may run at once.";
    BULKHEAD_LIMIT = "watertight_bulkhead_limit", Gauge, ["bulkhead"],
        "How many may run at once by declaration: of a fleet's limit in all processes together, else as many as slots.";
    BULKHEAD_RUNNING = "watertight_bulkhead_running", Gauge, ["bulkhead"],
        "How many run.";
    BULKHEAD_RUNNING_PEAK = "watertight_bulkhead_running_peak", Gauge, ["bulkhead"],
        "How many have run at once at most, since the process started.";
    BULKHEAD_QUEUED = "watertight_bulkhead_queued", Gauge, ["bulkhead"],
        "How many wait for a slot.";
    BULKHEAD_QUEUED_PEAK = "watertight_bulkhead_queued_peak", Gauge, ["bulkhead"],
        "How many have waited at once at most, since the process started.";
    ISOLATE_THREADS = "watertight_isolate_threads", Gauge, ["isolate"],
        "How many threads there may be.";
    ISOLATE_STARTED = "watertight_isolate_threads_started", Gauge, ["isolate"],
        "How many threads have been started.";
    ISOLATE_RUNNING = "watertight_isolate_running", Gauge, ["isolate"],
        "How many threads are taken, by abandoned work too.";
    ISOLATE_RUNNING_PEAK = "watertight_isolate_running_peak", Gauge, ["isolate"],
        "How many threads have been taken at once at most, since the process started.";
    ISOLATE_AT_LARGE = "watertight_isolate_running_abandoned", Gauge, ["isolate"],
        "How many threads run what nobody waits for any more.";
    ISOLATE_QUEUED = "watertight_isolate_queued", Gauge, ["isolate"],
        "How many wait for a thread.";
    ISOLATE_QUEUED_PEAK = "watertight_isolate_queued_peak", Gauge, ["isolate"],
        "How many have waited for a thread at once at most, since the process started.";
    ISOLATE_ABANDONED = "watertight_isolate_abandoned_total", Counter, ["isolate"],
        "Work whose caller had gone while its code ran, so that nothing could stop it.";
    ISOLATE_OVERRAN = "watertight_isolate_overrun_seconds", Histogram, ["isolate"],
        "How long abandoned work that came back had gone on without its caller, in seconds.";
    BREAKER_STATE = "watertight_breaker_state", Gauge, ["breaker", "state"],
        "1 for the state the breaker is in, 0 for the others.";
    BREAKER_TRANSITIONS = "watertight_breaker_transitions_total", Counter, ["breaker", "to"],
        "State changes, by the state entered.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_say_their_unit() {
        let mut names: Vec<_> = ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len());
        for metric in ALL {
            let suffix = match metric.kind {
                Kind::Counter => metric.name.ends_with("_total"),
                Kind::Histogram => metric.name.ends_with("_seconds"),
                Kind::Gauge => !metric.name.ends_with("_total"),
            };
            assert!(suffix, "{}", metric.name);
        }
    }
}
