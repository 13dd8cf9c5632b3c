//! # The soak
//!
//! `cargo run --release -p watertight-soak -- --minutes 60`: hundreds of guarded functions under random load for a set
//! time. Bodies answer, fail, hang, panic, block, spin and call one another; callers leave at every await, move calls between
//! tasks and threads, and shut the process down in the middle; breakers are held open by hand; every figure is read meanwhile.
//!
//! It runs in epochs. While one runs, what must hold at every moment is looked at ([`rest::Watch`]). At its end the callers
//! come to rest, and then every cell of every function's figures agrees with what its callers got, nothing runs or waits,
//! every compartment takes exactly as many callers as it has places, and every function lets somebody through.
//!
//! What is allocated is shown and not judged. Each function has figures for each of 33 lanes, and rarer histograms in each, made
//! when something first falls there; with more threads than lanes and hundreds of functions that takes longer than minutes, and
//! a leak would have to be larger than what is still being made to show before.
//!
//! Exit code 0 when all held for the whole time, 1 with the first thing that did not, and the seed. What happens depends on
//! the scheduler besides, so a seed narrows a failure down and need not repeat it.
//!
//! Invariant: standard output holds the report alone; progress goes to standard error.

mod body;
mod caller;
mod drain;
mod gauge;
mod guards;
mod load;
mod memory;
mod places;
mod report;
mod rest;
mod sites;
mod verdict;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, Subcommand};
use fastrand::Rng;
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep_until};

use load::Load;
use report::{Epoch, Report};

/// Guarded functions under random load, and what must hold checked all the while.
#[derive(Debug, Parser)]
struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// For how long.
    #[arg(long, default_value_t = 1.0)]
    minutes: f64,
    /// Where the random numbers start; one is chosen and printed unless given.
    #[arg(long)]
    seed: Option<u64>,
    /// How many callers there are.
    #[arg(long, default_value_t = 192)]
    callers: u64,
    /// The longest pause of a caller between two calls, in milliseconds.
    #[arg(long, default_value_t = 20)]
    pause: u64,
    /// Threads of the runtime.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// How long an epoch is, in seconds.
    #[arg(long, default_value_t = 15)]
    epoch: u64,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Command {
    /// One shutdown in the middle of everything; what the soak runs beside itself.
    Drain {
        /// Where the random numbers start.
        #[arg(long)]
        seed: u64,
    },
}

fn main() -> ExitCode {
    let args = Args::parse();
    verdict::watch_panics();
    let seed = match args.command {
        Some(Command::Drain { seed }) => seed,
        None => args.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
    };
    match run(&args, seed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("seed {seed}: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args, seed: u64) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(args.threads).enable_all().build()?;
    sites::make(seed)?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("a loopback port")?;
        let _ = body::SILENT.set(listener.local_addr()?);
        let silent = tokio::spawn(accept(listener));
        let ended = match args.command {
            Some(Command::Drain { seed }) => drain::here(seed).await,
            None => soak(args, seed).await,
        };
        silent.abort();
        ended
    })
}

/// Accepts and never answers; what the other side has closed is let go.
async fn accept(listener: TcpListener) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
        });
    }
}

async fn soak(args: &Args, seed: u64) -> anyhow::Result<()> {
    eprintln!("{} functions, seed {seed}", sites::all().len());
    let end = Instant::now() + Duration::from_secs_f64(args.minutes * 60.0);
    let mut rng = Rng::with_seed(seed);
    let (mut watch, mut report) = (rest::Watch::new(), Report::new(seed));
    while Instant::now() < end {
        let epoch = epoch(args, &mut rng, &mut watch, report.epochs.len(), end).await?;
        report.epochs.push(epoch);
        eprintln!("{}", report.progress());
    }
    println!("{}", report.table(&watertight::snapshot()));
    Ok(())
}

async fn epoch(
    args: &Args,
    rng: &mut Rng,
    watch: &mut rest::Watch,
    number: usize,
    end: Instant,
) -> anyhow::Result<Epoch> {
    let until = end.min(Instant::now() + Duration::from_secs(args.epoch));
    // Every other epoch leaves breakers alone, so that they have to find back by themselves.
    let load = Load::begin(args.callers, rng.u64(..), args.pause, number % 2 == 1);
    let child = tokio::spawn(drain::in_a_child(rng.u64(..1 << 32)));
    while Instant::now() < until {
        sleep_until(until.min(Instant::now() + Duration::from_millis(500))).await;
        watch.look()?;
        holds()?;
    }
    load.end().await?;
    child.await??;
    rest::agrees().await?;
    holds()?;
    rest::all_answer().await?;
    let keys: Vec<u32> = (0..3).map(|_| rng.u32(0..gauge::KEYS)).collect();
    let compartments = places::are_all_there(&keys).await?;
    let snapshot = rest::agrees().await?;
    holds()?;
    let calls = snapshot.sites.iter().map(|site| site.calls).sum();
    drop(snapshot);
    Ok(Epoch { calls, compartments, allocated: memory::allocated(), resident: memory::resident() })
}

fn holds() -> anyhow::Result<()> {
    verdict::broken().map_or(Ok(()), |what| Err(anyhow::anyhow!(what)))
}
