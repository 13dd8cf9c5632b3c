//! The figures as text that Prometheus scrapes, from nothing but the runtime's own counters.
//!
//! No recorder, no registry, no background task: a scrape reads a snapshot and writes it down. So what is scraped is what
//! has happened since the process started, whoever came first, and a function that was never called is there at zero.
//!
//! A histogram has one bucket for each doubling from 2^18 ns (262 µs) to 2^36 ns (69 s), and the last one. Those bounds are
//! bounds of the runtime's own, sixteen times finer bands, so nothing is guessed, and they are the same in every process and
//! for every function: buckets add over hosts and over functions. (A length of exactly a bound, to the nanosecond, counts
//! to the bucket above it.)
//!
//! Invariants: every series of [`names::ALL`] is there exactly once, metric by metric; a label's value may be any text, and
//! is escaped as the format says; no series depends on a caller's data.

use std::collections::HashMap;
use std::fmt::{self, Write};

use crate::base::histogram::{Bands, index};
use crate::metrics::names::{self, Kind, Metric};
use crate::metrics::series::{Label, Sink, walk};
use crate::metrics::{Snapshot, snapshot};

/// The `content-type` of [`prometheus`].
pub const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The `content-type` of [`openmetrics`].
pub const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All figures in Prometheus' text format, version 0.0.4. To be served under [`PROMETHEUS`].
///
/// ```
/// use watertight::resilient;
///
/// #[resilient(timeout = "300ms")]
/// async fn scraped() -> Result<(), watertight::Error> {
///     Ok(())
/// }
///
/// let text = watertight::export::prometheus();
/// assert!(text.contains("# TYPE watertight_calls_total counter\n"));
/// assert!(text.lines().any(|line| line.starts_with("watertight_calls_total{function=\"scraped\"") && line.ends_with(" 0")));
/// ```
pub fn prometheus() -> String {
    text(&snapshot(), Format::Prometheus)
}

/// All figures in the `OpenMetrics` text format, version 1.0.0. To be served under [`OPENMETRICS`].
pub fn openmetrics() -> String {
    text(&snapshot(), Format::OpenMetrics)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Prometheus,
    OpenMetrics,
}

fn text(snapshot: &Snapshot, format: Format) -> String {
    let mut page = Page::default();
    walk(snapshot, &mut page);
    let mut text = String::new();
    for metric in names::ALL {
        head(&mut text, metric, format);
        text.push_str(page.lines.get(metric.name).map_or("", String::as_str));
    }
    if format == Format::OpenMetrics {
        text.push_str("# EOF\n");
    }
    text
}

fn head(text: &mut String, metric: &Metric, format: Format) {
    // A counter's family is called without its suffix by one and with it by the other.
    let family = match format {
        Format::Prometheus => metric.name,
        Format::OpenMetrics => metric.name.strip_suffix("_total").unwrap_or(metric.name),
    };
    let kind = match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Histogram => "histogram",
    };
    let _ = writeln!(text, "# HELP {family} {}\n# TYPE {family} {kind}", Escaped(metric.help, false));
    if format == Format::OpenMetrics && family.ends_with("_seconds") {
        let _ = writeln!(text, "# UNIT {family} seconds");
    }
}

/// The lines of each metric, which the walk meets function by function.
#[derive(Default)]
struct Page {
    lines: HashMap<&'static str, String>,
}

impl Page {
    fn line(&mut self, name: &'static str, suffix: &str, labels: &[Label], le: Option<&str>, value: impl fmt::Display) {
        let text = self.lines.entry(name).or_default();
        // Writing to a string does not fail.
        let _ = write!(text, "{name}{suffix}");
        let mut before = '{';
        for (key, value) in labels.iter().copied().chain(le.map(|le| ("le", le))) {
            let _ = write!(text, "{before}{key}=\"{}\"", Escaped(value, true));
            before = ',';
        }
        if before == ',' {
            text.push('}');
        }
        let _ = writeln!(text, " {value}");
    }
}

impl Sink for Page {
    fn counter(&mut self, name: &'static str, labels: &[Label], total: u64) {
        self.line(name, "", labels, None, total);
    }

    fn gauge(&mut self, name: &'static str, labels: &[Label], value: f64) {
        self.line(name, "", labels, None, value);
    }

    fn histogram(&mut self, name: &'static str, labels: &[Label], bands: &Bands) {
        let (mut below, mut band) = (0, 0);
        for power in LOWEST..=HIGHEST {
            let bound = 1_u64 << power;
            // The first band that does not lie below the bound.
            let end = index(bound);
            below += (band..end).map(|band| bands.in_band(band)).sum::<u64>();
            band = end;
            let le = (bound as f64 / 1e9).to_string();
            self.line(name, "_bucket", labels, Some(&le), below);
        }
        let count = bands.count();
        self.line(name, "_bucket", labels, Some("+Inf"), count);
        self.line(name, "_sum", labels, None, bands.sum().as_secs_f64());
        self.line(name, "_count", labels, None, count);
    }
}

/// The powers of two, in nanoseconds, that bound the buckets.
const LOWEST: u32 = 18;
const HIGHEST: u32 = 36;

/// Text as the format wants it: backslash and line feed escaped, in a label's value the quote too, and nothing else.
struct Escaped<'a>(&'a str, bool);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\\' => f.write_str("\\\\"),
            '\n' => f.write_str("\\n"),
            '"' if self.1 => f.write_str("\\\""),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tally::TallyFigures;
    use crate::declaration::Declaration;
    use crate::metrics::SiteFigures;

    fn one(name: &'static str) -> Snapshot {
        let declaration = Declaration::new(name, "m", "f.rs", 1);
        Snapshot { sites: vec![SiteFigures::of(&declaration, TallyFigures::default())], ..Snapshot::default() }
    }

    #[test]
    fn any_text_can_be_a_name_and_three_characters_are_escaped() {
        let long: &'static str = "x".repeat(10_000).leak();
        let cases = [
            ("a\"b", r#"a\"b"#),
            (r"a\b", r"a\\b"),
            ("a\nb", r"a\nb"),
            ("<b>\u{1f6a2}\t", "<b>\u{1f6a2}\t"),
            ("", ""),
            (long, long),
        ];
        for (name, escaped) in cases {
            let text = text(&one(name), Format::Prometheus);
            let line = format!("watertight_calls_in_flight{{function=\"{escaped}\",module=\"m\"}} 0");
            assert!(text.lines().any(|it| it == line), "{name:?}");
        }
        assert_eq!(Escaped("a \"b\" \\ \n", false).to_string(), "a \"b\" \\\\ \\n", "a help text keeps its quotes");
    }

    #[test]
    fn buckets_count_everything_up_to_their_bound_and_the_last_one_all() {
        let mut bands = Bands::default();
        for ms in [0.1, 0.2, 1.0, 1.1, 300.0, 100_000.0] {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            bands.record((ms * 1e6) as u64);
        }
        let mut page = Page::default();
        page.histogram(names::LATENCY, &[("function", "f")], &bands);
        let lines: Vec<_> = page.lines[names::LATENCY].lines().collect();
        let bucket = |le: &str| {
            let start = format!("watertight_attempt_seconds_bucket{{function=\"f\",le=\"{le}\"}} ");
            lines.iter().find_map(|line| line.strip_prefix(&start)).expect(le).parse::<u64>().expect("a count")
        };
        assert_eq!(bucket("0.000262144"), 2);
        assert_eq!(bucket("0.000524288"), 2);
        assert_eq!(bucket("0.001048576"), 3, "1 ms and less");
        assert_eq!(bucket("0.002097152"), 4);
        assert_eq!(bucket("0.536870912"), 5);
        assert_eq!(bucket("68.719476736"), 5);
        assert_eq!(bucket("+Inf"), 6);
        assert_eq!(lines.len(), 19 + 3);
        assert!(lines[21].ends_with("_count{function=\"f\"} 6"));
    }
}
