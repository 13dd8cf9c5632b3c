//! The text endpoint: read by a strict parser of our own, and by Prometheus' own `promtool` where it is installed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

use watertight::export::{Publisher, openmetrics, prometheus};
use watertight::metrics::names::{self, Kind};
use watertight::resilient;
use watertight_tests::{AppError, ms};

use crate::Exporter;

#[resilient(
    timeout = "10ms",
    retry(2, backoff = "1ms..1ms"),
    breaker,
    bulkhead = "prometheus:1/queue:1",
    fallback = || 0,
    idempotent
)]
async fn prometheus_scraped(length: u64) -> Result<u32, AppError> {
    tokio::time::sleep(ms(length)).await;
    Ok(1)
}

struct OneType;
struct AnotherType;

impl OneType {
    #[resilient(timeout = "1s")]
    async fn twice_named(&self) -> Result<(), AppError> {
        Ok(())
    }
}

impl AnotherType {
    #[resilient(timeout = "1s")]
    async fn twice_named(&self) -> Result<(), AppError> {
        Ok(())
    }
}

/// Labels by name, in their order.
type Labels = Vec<(String, String)>;

/// A page, read as strictly as the format is written: every series once, after its family's head, families in one piece.
struct Page {
    kinds: BTreeMap<String, String>,
    series: BTreeMap<(String, Labels), f64>,
}

impl Page {
    fn read(text: &str) -> Self {
        let (mut kinds, mut series) = (BTreeMap::new(), BTreeMap::new());
        let mut family = String::new();
        assert!(text.ends_with('\n'));
        for line in text.lines() {
            if let Some(head) = line.strip_prefix("# HELP ") {
                head.split_once(' ').expect("a help text").0.clone_into(&mut family);
            } else if let Some(head) = line.strip_prefix("# TYPE ") {
                let (name, kind) = head.split_once(' ').expect("a kind");
                assert_eq!(name, family);
                assert!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} in one piece");
            } else {
                let (name, labels, value) = sample(line);
                assert!(name.starts_with(&family), "`{line}` stands under {family}");
                let is_new = series.insert((name, labels), value).is_none();
                assert!(is_new, "`{line}` is there twice");
            }
        }
        Self { kinds, series }
    }

    #[track_caller]
    fn number(&self, name: &str, wanted: &[(&str, &str)]) -> f64 {
        let has =
            |labels: &Labels| wanted.iter().all(|(k, v)| labels.iter().any(|(key, value)| key == k && value == v));
        let found: Vec<_> = self.series.iter().filter(|((it, labels), _)| it == name && has(labels)).collect();
        assert_eq!(found.len(), 1, "{name} {wanted:?}: {found:?}");
        *found[0].1
    }
}

fn sample(line: &str) -> (String, Labels, f64) {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let value = if value == "+Inf" { f64::INFINITY } else { value.parse().expect(line) };
    let Some((name, mut rest)) = series.split_once('{') else { return (series.to_owned(), Vec::new(), value) };
    let mut labels = Vec::new();
    while rest != "}" {
        let (key, after) = rest.trim_start_matches(',').split_once("=\"").expect(line);
        let mut text = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next().expect(line) {
                (at, '"') => break at,
                (_, '\\') => text.push(match chars.next().expect(line).1 {
                    'n' => '\n',
                    escaped @ ('\\' | '"') => escaped,
                    other => panic!("`\\{other}` in {line}"),
                }),
                (_, other) => text.push(other),
            }
        };
        labels.push((key.to_owned(), text));
        rest = &after[end + 1..];
    }
    (name.to_owned(), labels, value)
}

#[tokio::test(start_paused = true)]
async fn the_page_parses_and_says_what_the_facade_says() {
    prometheus_scraped(1).await.unwrap();
    prometheus_scraped(50).await.unwrap();
    let page = Page::read(&prometheus());
    let of = ("function", "prometheus_scraped");
    let ok = [of, ("fate", "ok"), ("fallback", "none")];
    let is = |name, labels: &[(&str, &str)], expected: f64| {
        let seen = page.number(name, labels);
        assert!((seen - expected).abs() < 1e-9, "{name} {labels:?} is {seen} instead of {expected}");
    };
    is("watertight_calls_total", &ok, 1.0);
    is("watertight_calls_total", &[of, ("fate", "timed_out"), ("fallback", "used")], 1.0);
    is("watertight_attempts_total", &[of, ("outcome", "timed_out")], 3.0);
    is("watertight_attempt_seconds_count", &[of], 1.0);
    is("watertight_attempt_cut_off_seconds_count", &[of], 3.0);
    is("watertight_attempt_seconds_bucket", &[of, ("le", "0.067108864")], 1.0);
    is("watertight_attempt_seconds_bucket", &[of, ("le", "0.000524288")], 0.0);
    is("watertight_queue_wait_seconds_count", &[of, ("outcome", "expired")], 0.0);
    is("watertight_bulkhead_slots", &[("bulkhead", "prometheus")], 1.0);
    // Every metric of the list, with its kind, and every series that the facade has.
    let listed: BTreeMap<_, _> = names::ALL.iter().map(|metric| (metric.name.to_owned(), kind(metric.kind))).collect();
    assert_eq!(page.kinds, listed);
    let published = Exporter::new().publish(&mut Publisher::new());
    let by_facade: BTreeSet<_> = published.0.iter().map(|it| (it.name.clone(), it.labels.clone())).collect();
    let by_text = page.series.keys().filter(|(_, labels)| !labels.iter().any(|(key, _)| key == "le"));
    let by_text: BTreeSet<_> = by_text
        .filter(|(name, _)| !name.ends_with("_count") || names::ALL.iter().any(|it| it.name == name))
        .map(|(name, labels)| (name.strip_suffix("_sum").unwrap_or(name).to_owned(), labels.clone()))
        .collect();
    assert_eq!(by_text, by_facade);
}

fn kind(kind: Kind) -> String {
    let word = match kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        _ => "histogram",
    };
    word.to_owned()
}

#[tokio::test(start_paused = true)]
async fn two_functions_with_the_same_labels_are_one_series_with_their_sum() {
    OneType.twice_named().await.unwrap();
    OneType.twice_named().await.unwrap();
    AnotherType.twice_named().await.unwrap();
    let labels = [("function", "twice_named"), ("fate", "ok"), ("fallback", "none")];
    let text = Page::read(&prometheus()).number("watertight_calls_total", &labels);
    assert!((text - 3.0).abs() < 1e-9, "{text}");
    Exporter::new().publish(&mut Publisher::new()).assert_number(names::CALLS, &labels, 3);
}

#[test]
fn openmetrics_ends_as_it_must_and_names_families_without_their_suffix() {
    let text = openmetrics();
    assert!(text.ends_with("\n# EOF\n"));
    assert!(text.contains("# TYPE watertight_calls counter\n") && text.contains("\nwatertight_calls_total{"));
    assert!(text.contains("# UNIT watertight_attempt_seconds seconds\n"));
}

#[allow(dead_code)] // listed is enough
#[resilient(timeout = "1s")]
async fn prometheus_plain() -> Result<(), AppError> {
    Ok(())
}

#[test]
fn a_function_that_declares_little_is_a_short_part_of_the_page() {
    let page = prometheus();
    let of = |name: &str| {
        page.lines().filter(|line| line.contains(&format!("function=\"{name}\""))).map(str::len).sum::<usize>()
    };
    assert!(of("prometheus_plain") < 20_000, "{}", of("prometheus_plain"));
    assert!(
        !page.lines().any(|line| line.contains("queue_wait") && line.contains("prometheus_plain")),
        "it waits for nothing"
    );
}

#[test]
fn promtool_finds_nothing_wrong_with_the_page() {
    let spawned = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut promtool) = spawned else {
        eprintln!("skipped: there is no `promtool` here");
        return;
    };
    promtool.stdin.take().unwrap().write_all(prometheus().as_bytes()).unwrap();
    let seen = promtool.wait_with_output().unwrap();
    let said = [seen.stdout, seen.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(seen.status.success(), "{said}");
}

#[resilient(timeout = "1s", retry(4, backoff = "1ms..1ms", budget = off))]
async fn laddered(fails: u32) -> Result<(), AppError> {
    if watertight::attempt() < fails { Err(AppError::Broken("not yet")) } else { Ok(()) }
}

#[tokio::test(start_paused = true)]
async fn the_ladder_says_at_which_attempt_calls_had_their_value() {
    for (times, fails) in [(26, 0), (3, 1), (2, 2), (1, 4), (1, 9)] {
        for _ in 0..times {
            let _ = laddered(fails).await;
        }
    }
    let ladder = watertight::snapshot().site("laddered").unwrap().ladder();
    assert_eq!(ladder.map(|rung| rung.answered), [26, 3, 2, 1]);
    assert_eq!(ladder.map(|rung| rung.begun), [33, 7, 4, 2 + 2], "two went on to a fourth and a fifth");
    let page = Page::read(&prometheus());
    let answers = |attempt| page.number("watertight_answers_total", &[("function", "laddered"), ("attempt", attempt)]);
    assert!((answers("1") - 26.0).abs() < 1e-9 && (answers("later") - 1.0).abs() < 1e-9);
}
