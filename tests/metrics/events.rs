//! `tracing` events: which there are, with which fields, and none for a call that went well.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use watertight::resilient;
use watertight_tests::{AppError, Gate, ms};

/// An event, field by field, with its level.
type Seen = (Level, BTreeMap<String, String>);

/// Keeps every event of ours.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Vec<Seen>>>);

struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}").trim_matches('"').to_owned());
    }
}

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "watertight"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(BTreeMap::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push((*event.metadata().level(), fields.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Ear {
    /// What was heard of one function or breaker.
    fn of(&self, key: &str, value: &str) -> Vec<Seen> {
        let all = self.0.lock().unwrap();
        all.iter().filter(|(_, fields)| fields.get(key).is_some_and(|it| it == value)).cloned().collect()
    }
}

#[resilient(
    timeout = "10ms",
    bulkhead = "events:1",
    breaker(name = "events", window = 2, failures = "100%", min_calls = 2)
)]
async fn events(gate: &Gate) -> Result<(), AppError> {
    gate.opened().await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn refusals_cut_offs_and_breaker_changes_are_told_and_what_went_well_is_not() {
    let ear = Ear::default();
    let _heard = tracing::subscriber::set_default(ear.clone());
    let (open, shut) = (Gate::shut(), Gate::shut());
    open.open();
    events(&open).await.unwrap();
    assert_eq!(ear.of("function", "events"), [], "nothing to tell");
    let mut hangs = Box::pin(events(&shut));
    assert!(futures::poll!(&mut hangs).is_pending());
    events(&shut).await.unwrap_err();
    hangs.await.unwrap_err();
    events(&shut).await.unwrap_err();
    let told = ear.of("function", "events");
    let messages: Vec<_> = told.iter().map(|(level, fields)| (*level, fields["message"].as_str())).collect();
    assert_eq!(messages, [(Level::DEBUG, "refused"), (Level::DEBUG, "cut off"), (Level::DEBUG, "cut off")]);
    let (_, refused) = &told[0];
    assert_eq!((refused["strategy"].as_str(), refused["name"].as_str()), ("bulkhead", "events"));
    assert_eq!(refused["module"], "metrics::events");
    assert!(refused["file"].ends_with("tests/metrics/events.rs") && refused.contains_key("line"), "{refused:?}");
    assert!(refused["error"].contains("events"), "{refused:?}");
    let changes = ear.of("breaker", "events");
    assert_eq!(changes.len(), 1);
    assert_eq!((changes[0].0, changes[0].1["to"].as_str()), (Level::WARN, "open"));
    assert!(changes[0].1["change"].contains("2 of 2 failed"), "{changes:?}");
}

#[resilient(timeout = "10ms")]
async fn events_blocking() -> Result<(), AppError> {
    // On a paused clock, moving it within one poll is what blocking the thread is.
    let _ = futures::poll!(Box::pin(tokio::time::advance(ms(25))));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_body_that_answers_after_its_limit_is_told_with_its_name() {
    let ear = Ear::default();
    let _heard = tracing::subscriber::set_default(ear.clone());
    events_blocking().await.expect("it has answered");
    let told = ear.of("function", "events_blocking");
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].0, Level::WARN);
    assert!(told[0].1["message"].starts_with("overran"), "{told:?}");
    let late: f64 = told[0].1["late_ms"].parse().unwrap();
    assert!((15.0..17.0).contains(&late), "{told:?}");
}
