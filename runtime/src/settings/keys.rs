//! The keys there are, the form of each, and the reader of each.
//!
//! One table, from which files, environment variables, overrides and the dashboard are read, errors take the allowed form,
//! and the manual its list. What a figure may be is what the attribute says it may be: lengths and shares are read by
//! the attribute's own reader ([`units`](crate::declaration::units)), ranges are its ranges
//! ([`limits`](crate::declaration::limits)).
//!
//! Invariant: a value that is read is one that the attribute would take.

use super::read;
use super::value::{Raw, Value};

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Process,
    Function,
    Bulkhead,
    Isolate,
    Breaker,
    Rate,
    Budget,
}

/// What is wrong with a value, and what to write instead.
#[derive(Debug)]
pub(crate) struct Wrong(pub(crate) String, pub(crate) String);

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The same in a table: `timeout.value` for `timeout`. Empty where there is none.
    longer: &'static str,
    pub(crate) of: Of,
    /// What to write, as an example.
    pub(crate) form: &'static str,
    pub(crate) read: fn(&Raw) -> Result<Value, Wrong>,
}

const fn key(of: Of, name: &'static str, form: &'static str, read: fn(&Raw) -> Result<Value, Wrong>) -> Key {
    Key { name, longer: "", of, form, read }
}

const fn short(
    (of, name): (Of, &'static str),
    longer: &'static str,
    form: &'static str,
    read: fn(&Raw) -> Result<Value, Wrong>,
) -> Key {
    Key { longer, ..key(of, name, form, read) }
}

const ENABLED: &str = "true or false";
const MODE: &str = "\"observe\" or \"enforce\"";

/// Every key, in the order of the pipeline.
pub(crate) static KEYS: [Key; 49] = {
    use Of::{Breaker, Bulkhead, Function, Isolate, Process, Rate};
    use read::{
        after, allowance, calls, enabled, force, length, mode, pauses, probes, queue, rate, retries, share, slots,
        threads, window,
    };
    [
        key(Process, "kill_switch", ENABLED, enabled),
        key(Function, "enabled", ENABLED, enabled),
        key(Function, "mode", MODE, mode),
        key(Function, "fallback.enabled", ENABLED, enabled),
        short((Function, "deadline"), "deadline.value", "\"2s\"", length),
        key(Function, "deadline.enabled", ENABLED, enabled),
        key(Function, "deadline.mode", MODE, mode),
        short((Function, "retry"), "retry.max", "2", retries),
        key(Function, "retry.backoff", "\"50ms..2s\"", pauses),
        key(Function, "retry.max_duration", "\"3s\"", length),
        key(Function, "retry.budget", "\"10%\" or \"10%+5/s\"", allowance),
        key(Function, "retry.enabled", ENABLED, enabled),
        key(Function, "retry.mode", MODE, mode),
        short((Function, "hedge"), "hedge.after", "\"p95\" or \"50ms\"", after),
        key(Function, "hedge.enabled", ENABLED, enabled),
        key(Function, "breaker.window", "100 or \"10s\"", window),
        key(Function, "breaker.failures", "\"50%\"", share),
        key(Function, "breaker.min_calls", "20", calls),
        key(Function, "breaker.slow", "\"1s\"", length),
        key(Function, "breaker.slow_rate", "\"80%\"", share),
        key(Function, "breaker.cooldown", "\"5s\"", length),
        key(Function, "breaker.probes", "1", probes),
        key(Function, "breaker.force", "\"open\" or \"closed\"", force),
        key(Function, "breaker.enabled", ENABLED, enabled),
        key(Function, "breaker.mode", MODE, mode),
        short((Function, "rate"), "rate.value", "\"100/s\" or \"100/s/burst:10\"", rate),
        key(Function, "rate.wait", "\"50ms\"", length),
        key(Function, "rate.enabled", ENABLED, enabled),
        key(Function, "rate.mode", MODE, mode),
        key(Function, "bulkhead.wait", "\"100ms\"", length),
        key(Function, "bulkhead.enabled", ENABLED, enabled),
        key(Function, "bulkhead.mode", MODE, mode),
        key(Function, "isolate.wait", "\"100ms\"", length),
        short((Function, "timeout"), "timeout.value", "\"300ms\"", length),
        key(Function, "timeout.enabled", ENABLED, enabled),
        key(Function, "timeout.mode", MODE, mode),
        key(Bulkhead, "slots", "8", slots),
        key(Bulkhead, "queue", "16", queue),
        key(Isolate, "threads", "4", threads),
        key(Isolate, "queue", "16", queue),
        key(Breaker, "window", "100 or \"10s\"", window),
        key(Breaker, "failures", "\"50%\"", share),
        key(Breaker, "min_calls", "20", calls),
        key(Breaker, "slow", "\"1s\"", length),
        key(Breaker, "slow_rate", "\"80%\"", share),
        key(Breaker, "cooldown", "\"5s\"", length),
        key(Breaker, "probes", "1", probes),
        key(Breaker, "force", "\"open\" or \"closed\"", force),
        short((Rate, ""), "value", "\"100/s\" or \"100/s/burst:10\"", rate),
    ]
};

/// The one more that is written as a whole.
pub(crate) static BUDGET: Key = short((Of::Budget, ""), "value", "\"10%\" or \"10%+5/s\"", read::allowance);

impl Key {
    pub(crate) fn all_of(of: Of) -> impl Iterator<Item = &'static Self> {
        KEYS.iter().chain([&BUDGET]).filter(move |key| key.of == of)
    }

    /// The key of a spelling.
    pub(crate) fn find(of: Of, spelling: &str) -> Option<&'static Self> {
        let is_it = |key: &&Self| key.name == spelling || !key.longer.is_empty() && key.longer == spelling;
        Self::all_of(of).find(is_it)
    }

    /// How it may be written.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> {
        [self.name, self.longer].into_iter().filter(|spelling| !spelling.is_empty())
    }
}
