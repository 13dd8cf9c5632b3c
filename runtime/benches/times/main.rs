//! Time by criterion: every row on one thread, and what takes more than one thread.
//!
//! Every figure is a ratio within one run: machines differ, and so does one machine from hour to hour. Nothing here asserts
//! a time. `cargo bench -p watertight-benches` runs it and ends with the table of ratios and goals;
//! `WATERTIGHT_WRITE=1` writes the tables into `docs/performance.md`. A filter measures what it
//! names: `cargo bench -p watertight-benches --bench times -- "open breaker"`.

// Criterion's macro makes a public function of its own, and bodies that are ready at once await nothing.
#![allow(clippy::unused_async, missing_docs)]

#[path = "../rows/mod.rs"]
mod rows;
#[path = "../tables.rs"]
mod tables;

mod contended;
mod estimates;
mod hand_over;
mod threads;

use std::time::Duration;

use criterion::{Criterion, Throughput};
use tokio::runtime::{Builder, Runtime};

/// Calls in one iteration.
const CALLS: u32 = 1_000;

/// One thread's rows.
fn rows(criterion: &mut Criterion) {
    for row in rows::all() {
        let mut group = criterion.benchmark_group(row.family);
        group.throughput(Throughput::Elements(u64::from(CALLS)));
        let who = row.who;
        // Set up when it is its turn and not filtered out.
        let mut row = Some(row);
        let mut run = None;
        group.bench_function(who, |bencher| {
            let run = run.get_or_insert_with(|| row.take().expect("a row is set up once").prepare());
            bencher.iter(|| run(CALLS));
        });
        group.finish();
    }
}

fn two_threads() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime of two threads")
}

fn main() {
    let begun = estimates::begun();
    let mut criterion = Criterion::default()
        .sample_size(20)
        .nresamples(1_000)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_millis(1_200))
        .without_plots()
        .configure_from_args();
    contended::all(&mut criterion);
    hand_over::all(&mut criterion);
    threads::all(&mut criterion);
    rows(&mut criterion);
    criterion.final_summary();
    estimates::since(begun).report("times", "nanoseconds");
}
