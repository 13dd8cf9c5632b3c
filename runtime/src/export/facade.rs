//! The figures through the `metrics` facade, whichever came first: the recorder or the first call.
//!
//! A handle taken from the facade before a recorder is installed stays a no-op for ever, and one kept across an
//! exporter's idle eviction writes into the void. So no handle is kept: each pass asks for all of them anew, and hands
//! over totals that the runtime has counted itself since the process started. Nothing that happened before the recorder
//! came is lost but one thing: a histogram cannot be set, only fed, so a pass feeds what is new since the last one.
//!
//! Publishing is not on the path of a call and nothing is published unless somebody asks: no hidden task, no hidden
//! timer in your runtime.
//!
//! Invariants: publishing twice changes no counter that did not move; every series is there from the first pass on, at
//! zero; user text (names) appears in label values only.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ::metrics::{Label, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use crate::base::histogram::Bands;
use crate::call::tally::{AttemptFate, StopReason, WaitFate};
use crate::call::would::Cut;
use crate::call::{FallbackUse, Fate, HedgeFate, Refusal};
use crate::metrics::names::{self, Kind};
use crate::metrics::{BreakerState, IsolateFigures, SiteFigures, Snapshot, snapshot};

/// Publishes all figures to the recorder that is installed now. Without one it does nothing that anyone could see.
///
/// Call it before a scrape, or let [`publish_every`] do so.
///
/// ```
/// use metrics_util::debugging::DebuggingRecorder;
///
/// let recorder = DebuggingRecorder::new();
/// let seen = recorder.snapshotter();
/// metrics::with_local_recorder(&recorder, watertight::export::publish);
/// # // Without guarded functions in this program there is nothing to see.
/// let _ = seen.snapshot();
/// ```
pub fn publish() {
    static SHARED: OnceLock<Mutex<Publisher>> = OnceLock::new();
    SHARED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner).publish();
}

/// Publishes all figures once a `period`, for ever: to be spawned, and aborted or dropped to end it.
///
/// # Panics
///
/// When polled outside a tokio runtime with its timer enabled, or when the period is zero.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use std::time::Duration;
///
/// let publishing = tokio::spawn(watertight::export::publish_every(Duration::from_secs(1)));
/// // ... the service runs ...
/// publishing.abort();
/// # }
/// ```
pub async fn publish_every(period: Duration) {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        publish();
    }
}

/// Publishes to one recorder, and remembers what its histograms have been fed already.
///
/// [`publish`] shares one for the whole process. A program with more than one recorder keeps one of these for each.
#[derive(Debug, Default)]
pub struct Publisher {
    last: Option<Snapshot>,
}

impl Publisher {
    /// One that has published nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Publishes all figures to the recorder that is in force on this thread.
    pub fn publish(&mut self) {
        let now = snapshot();
        describe();
        for site in &now.sites {
            let before = self.last.as_ref().and_then(|last| last.sites.iter().find(|old| is_same(old, site)));
            publish_site(site, before);
        }
        publish_shared(&now);
        for isolate in &now.isolates {
            let before = self.last.as_ref().and_then(|last| last.isolate(isolate.name));
            publish_isolate(isolate, before);
        }
        self.last = Some(now);
    }
}

fn is_same(one: &SiteFigures, other: &SiteFigures) -> bool {
    (one.module, one.line, one.name, one.file) == (other.module, other.line, other.name, other.file)
}

fn describe() {
    for metric in names::ALL {
        match metric.kind {
            Kind::Counter => describe_counter!(metric.name, metric.help),
            Kind::Gauge => describe_gauge!(metric.name, metric.help),
            Kind::Histogram => describe_histogram!(metric.name, ::metrics::Unit::Seconds, metric.help),
        }
    }
}

fn publish_site(site: &SiteFigures, before: Option<&SiteFigures>) {
    let labels = |more: &[(&'static str, &'static str)]| {
        let mut labels = vec![Label::new("function", site.name), Label::new("module", site.module)];
        labels.extend(more.iter().map(|&(key, value)| Label::new(key, value)));
        labels
    };
    for fate in Fate::ALL {
        let reason = if let Fate::Refused(reason) = fate { reason.as_str() } else { "" };
        for fallback in FallbackUse::ALL {
            let labels = labels(&[("fate", fate.as_str()), ("reason", reason), ("fallback", fallback.as_str())]);
            counter!(names::CALLS, labels).absolute(site.fate_with(fate, fallback));
        }
    }
    gauge!(names::IN_FLIGHT, labels(&[])).set(site.in_flight as f64);
    for fate in AttemptFate::ALL {
        counter!(names::ATTEMPTS, labels(&[("outcome", fate.as_str())])).absolute(site.attempts_by(fate));
    }
    counter!(names::RETRIES, labels(&[])).absolute(site.retries);
    for reason in StopReason::ALL {
        counter!(names::RETRY_STOPS, labels(&[("reason", reason.as_str())])).absolute(site.stopped_for(reason));
    }
    for fate in HedgeFate::ALL {
        counter!(names::HEDGES, labels(&[("outcome", fate.as_str())])).absolute(site.hedges_by(fate));
    }
    counter!(names::OVERRUNS, labels(&[])).absolute(site.overruns);
    counter!(names::LENT, labels(&[])).absolute(site.lent);
    for reason in Refusal::ALL {
        counter!(names::WOULD_REFUSE, labels(&[("reason", reason.as_str())])).absolute(site.would_refuse_for(reason));
    }
    for cause in Cut::ALL {
        counter!(names::WOULD_CUT, labels(&[("reason", cause.as_str())])).absolute(site.would_cut_by(cause));
    }
    counter!(names::WOULD_QUEUE, labels(&[])).absolute(site.would_queue);
    counter!(names::WOULD_RETRY, labels(&[])).absolute(site.would_retry);
    feed(names::LATENCY, labels(&[]), &site.latency, before.map(|old| &old.latency));
    feed(names::CUT_OFF, labels(&[]), &site.cut_off, before.map(|old| &old.cut_off));
    feed(names::LAST_GOOD_AGE, labels(&[]), &site.last_good_age, before.map(|old| &old.last_good_age));
    for fate in WaitFate::ALL {
        let labels = labels(&[("outcome", fate.as_str())]);
        feed(names::QUEUE_WAIT, labels.clone(), site.waits(fate), before.map(|old| old.waits(fate)));
        feed(names::TOKEN_WAIT, labels, site.token_waits(fate), before.map(|old| old.token_waits(fate)));
    }
}

/// Feeds a histogram what is new, each band at its upper bound.
fn feed(name: &'static str, labels: Vec<Label>, now: &Bands, before: Option<&Bands>) {
    let handle = histogram!(name, labels);
    let new = before.map_or_else(|| now.clone(), |before| now.since(before));
    for (bound, count) in new.iter() {
        let seconds = bound.map_or(f64::INFINITY, |bound| bound.as_secs_f64());
        handle.record_many(seconds, usize::try_from(count).unwrap_or(usize::MAX));
    }
}

fn publish_shared(now: &Snapshot) {
    for bulkhead in &now.bulkheads {
        let figures = [
            (names::BULKHEAD_SLOTS, bulkhead.slots),
            (names::BULKHEAD_RUNNING, bulkhead.running),
            (names::BULKHEAD_RUNNING_PEAK, bulkhead.peak_running),
            (names::BULKHEAD_QUEUED, bulkhead.queued),
            (names::BULKHEAD_QUEUED_PEAK, bulkhead.peak_queued),
        ];
        for (name, figure) in figures {
            gauge!(name, "bulkhead" => bulkhead.name).set(figure);
        }
    }
    for rate in &now.rates {
        gauge!(names::RATE_WAITING, "rate" => rate.name).set(rate.waiting);
    }
    for breaker in &now.breakers {
        for state in BreakerState::ALL {
            let is_in = if breaker.state == state { 1.0 } else { 0.0 };
            gauge!(names::BREAKER_STATE, "breaker" => breaker.name, "state" => state.as_str()).set(is_in);
        }
        for (to, count) in [("open", breaker.opened), ("half_open", breaker.half_opened), ("closed", breaker.closed)] {
            counter!(names::BREAKER_TRANSITIONS, "breaker" => breaker.name, "to" => to).absolute(count);
        }
    }
}

fn publish_isolate(isolate: &IsolateFigures, before: Option<&IsolateFigures>) {
    let figures = [
        (names::ISOLATE_THREADS, isolate.threads.into()),
        (names::ISOLATE_STARTED, isolate.started.into()),
        (names::ISOLATE_RUNNING, isolate.running.into()),
        (names::ISOLATE_RUNNING_PEAK, isolate.peak_running.into()),
        (names::ISOLATE_AT_LARGE, isolate.running_abandoned),
        (names::ISOLATE_QUEUED, isolate.queued.into()),
        (names::ISOLATE_QUEUED_PEAK, isolate.peak_queued.into()),
    ];
    for (name, figure) in figures {
        gauge!(name, "isolate" => isolate.name).set(figure as f64);
    }
    counter!(names::ISOLATE_ABANDONED, "isolate" => isolate.name).absolute(isolate.abandoned);
    let labels = vec![Label::new("isolate", isolate.name)];
    feed(names::ISOLATE_OVERRAN, labels, &isolate.overran, before.map(|old| &old.overran));
}
