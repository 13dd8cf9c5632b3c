//! The same call with a recorder of the `metrics` facade installed and published to, and without one.
//!
//! Figures are read by whoever publishes them, so that a call should not notice. The last rows of all: a recorder stays
//! installed for the rest of the process.

use watertight::resilient;

use super::{Failed, Row, bare};

#[resilient(retry = 2, breaker, bulkhead = "recorded:8/queue:16", timeout = "300ms")]
async fn full_stack(n: u32) -> Result<u32, Failed> {
    bare(n).await
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![Row::of("stack of 4, recorder", "none", full_stack)];
    if cfg!(feature = "metrics") {
        rows.push(Row::each(
            "stack of 4, recorder",
            "installed",
            async || install(),
            async |(), n| full_stack(n).await,
        ));
    }
    rows
}

#[cfg(feature = "metrics")]
fn install() {
    // A second one is refused, which is as well.
    let _ = metrics_util::debugging::DebuggingRecorder::new().install();
    watertight::export::publish();
}

#[cfg(not(feature = "metrics"))]
fn install() {}
