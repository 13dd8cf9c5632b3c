//! The figures through the `metrics` facade, read by a recorder as an exporter would.
//!
//! | module | what it holds |
//! |---|---|
//! | `publishing` | whichever came first, recorder or call; histograms fed once; publishing by hand, shared, and by the clock |
//! | `series` | names, kinds and labels are those of the list; everything is there before the first call, at zero |
//! | `breaker_state` | exactly one state is 1 at every scrape, and an opening between two scrapes is not lost |
//! | `prometheus` | the same figures as text, read strictly, and by `promtool` where there is one |
//! | `events` | what is told by `tracing`, and that calls which went well are silent |
//! | `catalogue` | functions are listed that were never called, generic ones and those in other modules too |

mod breaker_state;
mod catalogue;
mod events;
mod prometheus;
mod publishing;
mod series;

use metrics_util::MetricKind;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};
use watertight::export::Publisher;

/// An exporter: a recorder, and what it reads at a scrape.
struct Exporter {
    recorder: DebuggingRecorder,
    snapshotter: Snapshotter,
}

/// One series at one scrape.
#[derive(Debug)]
struct Series {
    name: String,
    kind: MetricKind,
    labels: Vec<(String, String)>,
    help: Option<String>,
    value: DebugValue,
}

/// One scrape.
struct Scrape(Vec<Series>);

impl Exporter {
    fn new() -> Self {
        let recorder = DebuggingRecorder::new();
        let snapshotter = recorder.snapshotter();
        Self { recorder, snapshotter }
    }

    /// Runs something with this recorder in force.
    fn with<T>(&self, run: impl FnOnce() -> T) -> T {
        metrics::with_local_recorder(&self.recorder, run)
    }

    /// Reads everything.
    fn scrape(&self) -> Scrape {
        let series = self.snapshotter.snapshot().into_vec().into_iter().map(|(key, _, help, value)| Series {
            name: key.key().name().to_owned(),
            kind: key.kind(),
            labels: key.key().labels().map(|label| (label.key().to_owned(), label.value().to_owned())).collect(),
            help: help.map(|help| help.to_string()),
            value,
        });
        Scrape(series.collect())
    }

    /// Publishes and reads.
    fn publish(&self, publisher: &mut Publisher) -> Scrape {
        self.with(|| publisher.publish());
        self.scrape()
    }
}

impl Series {
    fn has(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(key, value)| self.labels.iter().any(|(k, v)| (k.as_str(), v.as_str()) == (*key, *value)))
    }

    /// A counter's or a gauge's value, or how many values a histogram was fed.
    fn number(&self) -> f64 {
        match &self.value {
            DebugValue::Counter(count) => *count as f64,
            DebugValue::Gauge(value) => value.into_inner(),
            DebugValue::Histogram(values) => values.len() as f64,
        }
    }
}

impl Scrape {
    fn all(&self, name: &str, labels: &[(&str, &str)]) -> Vec<&Series> {
        self.0.iter().filter(|series| series.name == name && series.has(labels)).collect()
    }

    /// The one series of this name and these labels.
    #[track_caller]
    fn one(&self, name: &str, labels: &[(&str, &str)]) -> &Series {
        let found = self.all(name, labels);
        assert_eq!(found.len(), 1, "{name} {labels:?}: {found:?}");
        found[0]
    }

    #[track_caller]
    fn number(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.one(name, labels).number()
    }

    /// The sum over all series of this name and these labels.
    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.all(name, labels).into_iter().map(Series::number).sum()
    }

    #[track_caller]
    fn assert_number(&self, name: &str, labels: &[(&str, &str)], expected: u32) {
        let seen = self.number(name, labels);
        assert!((seen - f64::from(expected)).abs() < 1e-9, "{name} {labels:?} is {seen} instead of {expected}");
    }
}
