//! B55. Tenants as labels: series grew without end, in the process and wherever they were sent.

use std::collections::BTreeSet;

use metrics_util::debugging::DebuggingRecorder;
use watertight::resilient;
use watertight_tests::AppError;

#[resilient(bulkhead = "b55:1", rate = "b55:1000/s", key = tenant)]
async fn b55(tenant: &str) -> Result<(), AppError> {
    Ok(())
}

/// The series there are, and their label values.
fn series() -> (usize, BTreeSet<String>) {
    let recorder = DebuggingRecorder::new();
    let seen = recorder.snapshotter();
    metrics::with_local_recorder(&recorder, || watertight::export::Publisher::new().publish());
    let all = seen.snapshot().into_vec();
    let ours = all.iter().filter(|(key, ..)| key.key().labels().any(|label| label.value().contains("b55")));
    let values =
        ours.flat_map(|(key, ..)| key.key().labels().map(|label| label.value().to_owned()).collect::<Vec<_>>());
    let values: BTreeSet<_> = values.collect();
    (all.iter().filter(|(key, ..)| key.key().labels().any(|label| label.value().contains("b55"))).count(), values)
}

#[tokio::test(start_paused = true)]
async fn the_number_of_series_does_not_depend_on_the_number_of_keys() {
    b55("tenant-first").await.unwrap();
    let (before, _) = series();
    for tenant in 0..20_000 {
        b55(&format!("tenant-{tenant}")).await.unwrap();
    }
    let (after, values) = series();
    assert_eq!(after, before);
    assert!(values.iter().all(|value| !value.contains("tenant-")), "{values:?}");
    let snapshot = watertight::snapshot();
    let keys = snapshot.bulkhead("b55").and_then(|bulkhead| bulkhead.keys.clone()).expect("keyed");
    assert!(keys.busiest.len() <= 10 && keys.kept <= 512, "and what is kept of them is bounded: {}", keys.kept);
}
