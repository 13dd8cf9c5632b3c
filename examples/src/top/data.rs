//! # What the addresses answer
//!
//! Those parts that are drawn here. Whatever is missing is nothing, so an older or a newer service is shown as far as it is
//! understood.
//!
//! Invariants:
//! * lengths are in milliseconds;
//! * what is not known is `None`, never zero.

use serde::Deserialize;

/// The first screen: `api/wall`, and every event of `api/stream`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Wall {
    /// Who hurts, in one sentence.
    pub headline: String,
    /// Whether anybody is harmed.
    pub harmed: bool,
    /// Calls a second.
    pub calls_per_second: f64,
    /// Those of them that are harmed.
    pub harmed_per_second: f64,
    /// Every function, those first that hurt most.
    pub sites: Vec<Site>,
    /// Every breaker.
    pub breakers: Vec<Breaker>,
    /// Every bulkhead and set of threads.
    pub bulkheads: Vec<Bulkhead>,
    /// What has changed, the newest first.
    pub changes: Vec<Change>,
}

/// One function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Site {
    /// Its name in addresses.
    pub id: String,
    /// Its name.
    pub name: String,
    /// File and line.
    pub source: String,
    /// Calls a second.
    pub calls_per_second: f64,
    /// Those of them that are harmed.
    pub harmed_per_second: f64,
    /// By what.
    pub reason: Option<String>,
    /// Calls of the last minute by class.
    pub minute: Vec<u64>,
    /// Calls since the process started.
    pub total: u64,
    /// Calls of each of the last seconds.
    pub rate: Option<Vec<u64>>,
    /// Those of them that were harmed.
    pub harm: Option<Vec<u64>>,
    /// How long attempts take.
    pub latency: Option<Latency>,
    /// The most that ran at once.
    pub saturation: Option<Saturation>,
    /// Attempts a call.
    pub factor: Option<f64>,
    /// Its breaker.
    pub breaker: Option<Breaker>,
    /// Whether a strategy only observes.
    pub observing: bool,
}

/// How long attempts take.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Latency {
    /// p50, p90, p99, p99.9.
    pub quantiles: Option<Vec<Option<f64>>>,
    /// The limit.
    pub timeout: Option<f64>,
}

/// The most that ran at once in the last seconds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Saturation {
    /// How many ran.
    pub peak: u64,
    /// How many may.
    pub slots: u64,
    /// How many waited.
    pub queued: u64,
}

/// A breaker.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Its name.
    pub name: String,
    /// `closed`, `open`, `half_open` or `isolated`.
    pub state: String,
    /// Failures in its window.
    pub failures: u64,
    /// Results in its window.
    pub results: u64,
    /// How often it has opened.
    pub opened: u64,
    /// Its own changes, where one function is shown.
    pub changes: Vec<Change>,
}

/// A bulkhead, or threads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Bulkhead {
    /// Its name.
    pub name: String,
    /// How many may run.
    pub slots: u64,
    /// How many run.
    pub running: u64,
    /// How many wait.
    pub queued: u64,
    /// The most that ran at once.
    pub peak: u64,
}

/// Something that has changed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Change {
    /// Seconds ago.
    pub ago: f64,
    /// What.
    pub text: String,
}

/// One function with its panels: `api/function`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Function {
    /// Its name in addresses.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is.
    pub module: String,
    /// File and line.
    pub source: String,
    /// As it stands in the source.
    pub attribute: String,
    /// How calls ended.
    pub fates: Option<Fates>,
    /// How long attempts took.
    pub latency: Option<Bands>,
    /// What its timeout does.
    pub picker: Option<Picker>,
    /// Attempts a call.
    pub retry: Option<Retry>,
    /// Its bulkhead or threads.
    pub compartment: Option<Compartment>,
    /// Its breaker.
    pub breaker: Option<Breaker>,
    /// Where the time goes.
    pub deadline: Option<Deadline>,
    /// Its keys.
    pub keys: Option<Keys>,
}

/// How calls ended, second by second.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Fates {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// Calls by class, the oldest first.
    pub frames: Vec<Vec<u64>>,
    /// Calls by class since the process started.
    pub total: Vec<u64>,
}

/// Quantiles, second by second.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Bands {
    /// p50, p90, p99, p99.9, the oldest first.
    pub quantiles: Vec<Vec<Option<f64>>>,
    /// The limit.
    pub timeout: Option<f64>,
}

/// What is known of timeouts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Picker {
    /// What follows.
    pub advice: Advice,
}

/// What follows for the timeout.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Advice {
    /// The limit in force.
    pub timeout_ms: Option<f64>,
    /// What it cuts off.
    pub cut_by_timeout: Option<Share>,
    /// The one that cuts off one in a thousand.
    pub advised_timeout: Option<Length>,
}

/// A share, from 0 to 1.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Share {
    /// It.
    pub share: f64,
}

/// A length.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Length {
    /// It.
    pub ms: f64,
}

/// Attempts a call, of the last hour.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Retry {
    /// Calls.
    pub calls: u64,
    /// Attempts.
    pub attempts: u64,
    /// Which attempt answered.
    pub ladder: Vec<Rung>,
    /// Why none followed.
    pub stops: Vec<Stopped>,
}

/// The attempts of one number.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Rung {
    /// Which.
    pub attempt: String,
    /// How many.
    pub begun: u64,
    /// How many of them answered.
    pub answered: u64,
}

/// Why no attempt followed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Stopped {
    /// Why.
    pub reason: String,
    /// How often.
    pub count: u64,
}

/// A bulkhead or threads, second by second.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Compartment {
    /// Its name.
    pub name: String,
    /// Now.
    pub now: Option<Occupancy>,
    /// How many may wait.
    pub queue: Option<u64>,
    /// The share of seconds in which it was full.
    pub full_share: f64,
    /// Who shares it.
    pub shared_by: Vec<String>,
}

/// How many run and wait.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Occupancy {
    /// How many run.
    pub running: u64,
    /// How many wait.
    pub queued: u64,
    /// How many may run.
    pub slots: u64,
}

/// Where the time of a call goes, on average.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Deadline {
    /// The limit of a call.
    pub deadline: Option<f64>,
    /// Waiting for a slot.
    pub waiting: f64,
    /// Attempts that answered.
    pub answered: f64,
    /// Attempts that were cut off.
    pub cut_off: f64,
    /// Calls that came too late.
    pub too_late_share: f64,
}

/// The busiest keys.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Keys {
    /// Most calls first.
    pub busiest: Vec<Key>,
}

/// A key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Key {
    /// It.
    pub key: String,
    /// How often, at most.
    pub count: u64,
}
