//! # `load`
//!
//! The load alone: clients who ask, wait, and ask again, so that never more than so many requests are under way; or, with
//! `--rate`, calls that come at a rate, whatever became of those before.
//!
//! Invariants:
//! * good means a 2xx, whole and in time.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use watertight_examples::load::Load;
use watertight_examples::probe::Probe;
use watertight_examples::report::words;
use watertight_examples::stop;
use watertight_examples::tally::Tally;

use super::{address, ended, every_second, length, say, write};
use crate::writable;

#[derive(clap::Args, Debug)]
#[command(after_help = super::RECIPE)]
pub(crate) struct Args {
    /// What is called.
    #[arg(value_name = "URL", value_parser = address)]
    url: String,
    /// How many ask at once.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=400))]
    clients: u16,
    /// So many calls a second in an even beat, in place of clients.
    #[arg(long, value_name = "N", conflicts_with = "clients", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rate: Option<u32>,
    /// For how long calls are begun.
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// How long a caller waits for an answer.
    #[arg(long, default_value = "30s", value_name = "LENGTH", value_parser = length)]
    patience: Duration,
    /// What a client does between an answer and the next call.
    #[arg(long, default_value = "50ms", value_name = "LENGTH", value_parser = length)]
    pause: Duration,
    /// Write the figures here.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) async fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = args.json.as_deref().map(writable).transpose()?;
    let (stop, tally, length) = (stop::on_interrupt(), Arc::new(Tally::default()), Duration::from_secs(args.seconds));
    let calls = async {
        if let Some(rate) = args.rate {
            let arrivals = Probe { every: Duration::from_secs(1) / rate, limit: args.patience, length };
            arrivals.run(args.url.clone(), &tally, &stop).await;
        } else {
            let grace = args.patience.min(Duration::from_secs(2));
            let (clients, patience) = (args.clients.into(), args.patience);
            let load = Load { clients, length, pause: args.pause, patience, grace };
            load.run(|_, _| args.url.clone(), &tally, &stop).await;
        }
    };
    let line = || {
        let (requests, ok) = tally.so_far();
        format!("ended {requests}  good {ok}")
    };
    tokio::select! {
        () = calls => {}
        () = every_second(line) => {}
    }
    let figures = tally.figures();
    let shown = [words::share(figures.success()), words::latency(figures.p50), words::latency(figures.p99)];
    say(&format!("{}: good {} of {}, p50 {}, p99 {}", args.url, shown[0], figures.requests, shown[1], shown[2]));
    write(file, &json!([super::probe::figures_of(&args.url, &figures)]))?;
    Ok(ended(&stop))
}
