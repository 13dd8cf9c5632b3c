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

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use ::metrics::{Label, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};

use crate::base::histogram::Bands;
use crate::metrics::names::{self, Kind};
use crate::metrics::series::{self, Sink};
use crate::metrics::snapshot;

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
    fed: HashMap<(&'static str, Vec<series::Label>), Bands>,
}

impl Publisher {
    /// One that has published nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Publishes all figures to the recorder that is in force on this thread.
    pub fn publish(&mut self) {
        describe();
        series::walk(&snapshot(), self);
    }
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

fn facade(labels: &[series::Label]) -> Vec<Label> {
    labels.iter().map(|&(key, value)| Label::new(key, value)).collect()
}

impl Sink for Publisher {
    fn counter(&mut self, name: &'static str, labels: &[series::Label], total: u64) {
        counter!(name, facade(labels)).absolute(total);
    }

    fn gauge(&mut self, name: &'static str, labels: &[series::Label], value: f64) {
        gauge!(name, facade(labels)).set(value);
    }

    /// Feeds what is new, each band at its upper bound.
    fn histogram(&mut self, name: &'static str, labels: &[series::Label], bands: &Bands) {
        let handle = histogram!(name, facade(labels));
        let fed = self.fed.entry((name, labels.to_vec())).or_default();
        if fed == bands {
            return;
        }
        for (bound, count) in bands.since(fed).iter() {
            let seconds = bound.map_or(f64::INFINITY, |bound| bound.as_secs_f64());
            handle.record_many(seconds, usize::try_from(count).unwrap_or(usize::MAX));
        }
        fed.clone_from(bands);
    }
}
