//! # `probe`
//!
//! Probes alone: each address is called in an even beat, whatever became of the calls before. What the load does to a route
//! that it does not call is seen here.
//!
//! Invariants:
//! * a call not answered well within its limit has failed.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use watertight_examples::probe::Probe;
use watertight_examples::report::words;
use watertight_examples::stop;
use watertight_examples::tally::{Figures, Tally};

use super::{address, ended, every_second, length, say, write};
use crate::writable;

#[derive(clap::Args, Debug)]
#[command(after_help = super::RECIPE)]
pub(crate) struct Args {
    /// What is called, each in the same beat.
    #[arg(value_name = "URL", required = true, num_args = 1..=8, value_parser = address)]
    urls: Vec<String>,
    /// The beat.
    #[arg(long, default_value = "200ms", value_name = "LENGTH", value_parser = length)]
    every: Duration,
    /// How long an answer may take.
    #[arg(long, default_value = "2500ms", value_name = "LENGTH", value_parser = length)]
    limit: Duration,
    /// For how long calls are begun.
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// Write the figures here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(args.every >= Duration::from_millis(1), "`--every 0ms` is no beat; write `200ms`");
    let file = args.json.as_deref().map(writable).transpose()?;
    let stop = stop::on_interrupt();
    let tallies: Vec<_> = args.urls.iter().map(|_| Arc::new(Tally::default())).collect();
    let probe = Probe { every: args.every, limit: args.limit, length: Duration::from_secs(args.seconds) };
    let probes = join_all(args.urls.iter().zip(&tallies).map(|(url, tally)| probe.run(url.clone(), tally, &stop)));
    let line = || {
        let one = |(url, tally): (&String, &Arc<Tally>)| {
            let (requests, ok) = tally.so_far();
            format!("{url} good {ok} of {requests}")
        };
        args.urls.iter().zip(&tallies).map(one).collect::<Vec<_>>().join("  ")
    };
    tokio::select! {
        _ = probes => {}
        () = every_second(line) => {}
    }
    let all: Vec<_> = args.urls.iter().zip(&tallies).map(|(url, tally)| (url, tally.figures())).collect();
    for (url, figures) in &all {
        let shown = [words::share(figures.success()), words::latency(figures.p50), words::latency(figures.p99)];
        say(&format!("{url}: good {} of {}, p50 {}, p99 {}", shown[0], figures.requests, shown[1], shown[2]));
    }
    write(file, &Value::Array(all.iter().map(|(url, it)| figures_of(url, it)).collect()))?;
    Ok(ended(&stop))
}

/// One address's figures.
pub(super) fn figures_of(url: &str, figures: &Figures) -> Value {
    let millis = |took: Option<Duration>| took.map(|took| took.as_secs_f64() * 1e3);
    json!({
        "url": url,
        "requests": figures.requests,
        "ok": figures.ok,
        "success_percent": figures.success(),
        "p50_ms": millis(figures.p50),
        "p99_ms": millis(figures.p99),
    })
}
