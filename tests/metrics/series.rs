//! Which series there are: those of the list, with its labels, all of them from the start.

use std::collections::BTreeSet;

use metrics_util::MetricKind;
use watertight::export::Publisher;
use watertight::metrics::names::{self, Kind};
use watertight::{AttemptFate, Cut, FallbackUse, Fate, Refusal, StopReason, WaitFate, resilient};
use watertight_tests::{AppError, ms};

use crate::Exporter;

#[resilient(
    timeout = "10ms",
    deadline = "1s",
    retry(1, backoff = "1ms..1ms"),
    breaker,
    bulkhead = "series:1",
    rate = "100/s",
    fallback = || 0
)]
async fn series(hangs: bool) -> Result<u32, AppError> {
    if hangs {
        std::future::pending::<()>().await;
    }
    Err(AppError::Broken("down"))
}

#[allow(dead_code)] // there for the series of old successes
#[resilient(timeout = "1s", fallback = last_good("60s"))]
async fn series_kept() -> Result<u32, AppError> {
    Ok(1)
}

#[resilient(timeout = "10ms", idempotent, observe = "100%")]
async fn series_observed(takes: u64) -> Result<(), AppError> {
    tokio::time::sleep(ms(takes)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn attempts_that_run_on_are_published_by_what_became_of_them() {
    assert!(series_observed(15).await.is_err());
    tokio::time::sleep(ms(10)).await;
    let mut publisher = Publisher::new();
    let scrape = Exporter::new().publish(&mut publisher);
    let function = ("function", "series_observed");
    scrape.assert_number(names::OBSERVED, &[function, ("outcome", "answered")], 1);
    scrape.assert_number(names::OBSERVED, &[function, ("outcome", "no_room")], 0);
    scrape.assert_number(names::ATTEMPTS, &[function, ("outcome", "timed_out")], 1);
    let text = watertight::export::prometheus();
    let counts = [names::OBSERVED_LATENCY, names::OBSERVED_UNANSWERED].map(|name| {
        let line = format!("{name}_count{{function=\"series_observed\"");
        text.lines().find(|it| it.starts_with(&line)).and_then(|it| it.rsplit(' ').next()).map(str::to_owned)
    });
    assert_eq!(counts, [Some("1".to_owned()), Some("0".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn every_series_is_one_of_the_list_with_its_kind_its_labels_and_its_help() {
    series(true).await.unwrap();
    series(false).await.unwrap();
    let scrape = Exporter::new().publish(&mut Publisher::new());
    for seen in &scrape.0 {
        let listed = names::ALL.iter().find(|metric| metric.name == seen.name);
        let listed = listed.unwrap_or_else(|| panic!("`{}` is not in the list", seen.name));
        let kind = match seen.kind {
            MetricKind::Counter => Kind::Counter,
            MetricKind::Gauge => Kind::Gauge,
            MetricKind::Histogram => Kind::Histogram,
        };
        assert_eq!(listed.kind, kind, "{}", seen.name);
        let labels: Vec<_> = seen.labels.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(labels, listed.labels, "{}", seen.name);
        assert_eq!(seen.help.as_deref(), Some(listed.help));
    }
    let seen: BTreeSet<_> = scrape.0.iter().map(|series| series.name.as_str()).collect();
    let listed: BTreeSet<_> = names::ALL.iter().map(|metric| metric.name).collect();
    assert_eq!(seen, listed, "and each of the list is published");
    // The error's text, the arguments, the attempt's number: none of them is a label.
    assert!(scrape.0.iter().flat_map(|series| &series.labels).all(|(_, value)| value != "down"));
}

#[allow(dead_code)] // there for its threads' series
#[resilient(isolate = "series-threads:2/queue:3", fallback = || 0)]
fn isolated() -> Result<u32, AppError> {
    Ok(1)
}

#[test]
fn the_series_of_threads_are_there_at_zero_before_any_is_started() {
    let scrape = Exporter::new().publish(&mut Publisher::new());
    let figures = [
        (names::ISOLATE_THREADS, 2),
        (names::ISOLATE_STARTED, 0),
        (names::ISOLATE_RUNNING, 0),
        (names::ISOLATE_AT_LARGE, 0),
        (names::ISOLATE_QUEUED, 0),
        (names::ISOLATE_ABANDONED, 0),
    ];
    for (name, figure) in figures {
        scrape.assert_number(name, &[("isolate", "series-threads")], figure);
    }
}

#[allow(dead_code)] // never called is what it is about
#[resilient(timeout = "1s", retry = 2, bulkhead = "never_called_function:1", fallback = || 0)]
async fn never_called_function() -> Result<u32, AppError> {
    Ok(1)
}

#[test]
fn a_functions_series_are_there_at_zero_before_its_first_call() {
    let scrape = Exporter::new().publish(&mut Publisher::new());
    let function = ("function", "never_called_function");
    let module = ("module", "metrics::series");
    for fate in Fate::ALL {
        let reason = if let Fate::Refused(reason) = fate { reason.as_str() } else { "" };
        for used in FallbackUse::ALL {
            let labels = [function, module, ("fate", fate.as_str()), ("reason", reason), ("fallback", used.as_str())];
            scrape.assert_number(names::CALLS, &labels, 0);
        }
    }
    assert_eq!(Refusal::ALL.len() + 5, Fate::ALL.len());
    for outcome in AttemptFate::ALL {
        scrape.assert_number(names::ATTEMPTS, &[function, module, ("outcome", outcome.as_str())], 0);
    }
    for reason in StopReason::ALL {
        scrape.assert_number(names::RETRY_STOPS, &[function, module, ("reason", reason.as_str())], 0);
    }
    for outcome in WaitFate::ALL {
        scrape.assert_number(names::QUEUE_WAIT, &[function, module, ("outcome", outcome.as_str())], 0);
    }
    for reason in Refusal::ALL {
        scrape.assert_number(names::WOULD_REFUSE, &[function, module, ("reason", reason.as_str())], 0);
    }
    for cause in Cut::ALL {
        scrape.assert_number(names::WOULD_CUT, &[function, module, ("reason", cause.as_str())], 0);
    }
    for name in [names::WOULD_QUEUE, names::WOULD_RETRY] {
        scrape.assert_number(name, &[function, module], 0);
    }
    for name in [names::IN_FLIGHT, names::RETRIES, names::OVERRUNS, names::LENT, names::LATENCY, names::CUT_OFF] {
        scrape.assert_number(name, &[function, module], 0);
    }
}

#[allow(dead_code)] // the same
#[resilient(bulkhead = "never_called_bulkhead:8/queue:16", breaker(name = "never_called_breaker"))]
async fn never_called_stack() -> Result<u32, AppError> {
    Ok(1)
}

#[test]
fn a_bulkheads_and_a_breakers_series_are_there_before_its_first_call_too() {
    let scrape = Exporter::new().publish(&mut Publisher::new());
    let bulkhead = [("bulkhead", "never_called_bulkhead")];
    for name in
        [names::BULKHEAD_RUNNING, names::BULKHEAD_RUNNING_PEAK, names::BULKHEAD_QUEUED, names::BULKHEAD_QUEUED_PEAK]
    {
        scrape.assert_number(name, &bulkhead, 0);
    }
    scrape.assert_number(names::BULKHEAD_SLOTS, &bulkhead, 8);
    let breaker = ("breaker", "never_called_breaker");
    scrape.assert_number(names::BREAKER_STATE, &[breaker, ("state", "closed")], 1);
    for to in ["open", "half_open", "closed"] {
        scrape.assert_number(names::BREAKER_TRANSITIONS, &[breaker, ("to", to)], 0);
    }
}

#[resilient(timeout = "1s")]
async fn labels_are_bounded(_tenant: String) -> Result<(), AppError> {
    tokio::time::sleep(ms(1)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn b55_the_number_of_series_does_not_depend_on_who_calls() {
    let (exporter, mut publisher) = (Exporter::new(), Publisher::new());
    let of =
        |scrape: &crate::Scrape| scrape.0.iter().filter(|it| it.has(&[("function", "labels_are_bounded")])).count();
    let before = of(&exporter.publish(&mut publisher));
    for tenant in 0..1_000 {
        labels_are_bounded(format!("tenant-{tenant}")).await.unwrap();
    }
    assert_eq!(of(&exporter.publish(&mut publisher)), before);
    assert!(before > 0);
}
