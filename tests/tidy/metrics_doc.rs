//! The table in docs/metrics.md is the list in the code: every name, in its order, with its kind, labels and meaning.

use watertight::metrics::names::{ALL, Kind};

use crate::source::{root, table, ticked};

#[test]
fn the_documented_metrics_are_the_published_ones() {
    let text = std::fs::read_to_string(root().join("docs/metrics.md")).expect("docs/metrics.md");
    let documented: Vec<_> = table(&text, "metrics")
        .into_iter()
        .map(|row| {
            let [name, kind, labels, meaning] = &row[..] else { panic!("four cells: {row:?}") };
            (ticked(name).join(" "), kind.clone(), ticked(labels).join(", "), meaning.clone())
        })
        .collect();
    let published: Vec<_> = ALL
        .iter()
        .map(|metric| {
            let kind = match metric.kind {
                Kind::Counter => "counter",
                Kind::Gauge => "gauge",
                Kind::Histogram => "histogram",
                _ => "unknown",
            };
            (metric.name.to_owned(), kind.to_owned(), metric.labels.join(", "), metric.help.to_owned())
        })
        .collect();
    for row in &published {
        assert!(documented.contains(row), "not documented, or otherwise: {row:?}");
    }
    assert_eq!(documented, published, "nothing else is documented, and the order is the list's");
}
