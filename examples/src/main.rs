//! # The main job
//!
//! `cargo run --release` from the top of the repository: the recs outage, bare and annotated, with nothing to install.
//!
//! `cargo run --release -- lab all` does the published experiments again.
//!
//! `cargo run --release -- flood` is a page with two switches: who drowns when one of three dependencies is slow.
//!
//! `cargo run --release -- vendor`, `service`, `load` and `probe` are the pieces alone, for an outage by hand.
//!
//! `cargo run --release -- check` lists every guarded function of this binary and what is wrong with their settings.
//!
//! `cargo run --release -- rules` and `-- grafana` write what watches these functions from outside.
//!
//! `cargo run --release -- top URL` shows a service's dashboard in the terminal.
//!
//! Exit code 0 after a complete run, 130 after Ctrl-C (partial results are printed and called so), 1 when something
//! could not be set up or the check found something, 2 for a wrong argument.
//!
//! Invariants:
//! * standard output holds results alone;
//! * everything is taken down by ordinary drops before the process ends, however it ends.

mod args;
mod by_hand;
mod flood_command;
mod lab_command;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;
use watertight::dashboard::Dashboard;
use watertight::export::Monitoring;
use watertight_examples::lab;
use watertight_examples::live::board::Board;
use watertight_examples::live::{self, Live};
use watertight_examples::outage::{self, Outage};
use watertight_examples::progress::Progress;
use watertight_examples::report::{json, story, table};
use watertight_examples::{stop, top};

use args::{CheckArgs, Cli, Command, OutageArgs, TopArgs};

/// What a shell expects of a program ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().command() {
        Command::Outage(args) => run_outage(&args).await,
        Command::Check(CheckArgs { json }) => Ok(run_check(json)),
        Command::Rules(args) => Ok(print(&watched().hold(seconds(args.hold)).window(seconds(args.window)).rules())),
        Command::Grafana => Ok(print(&watched().grafana())),
        Command::Top(TopArgs { url }) => top::run(&url).await.map(|()| ExitCode::SUCCESS),
        Command::Lab(args) => lab_command::run(&args).await,
        Command::Flood(args) => flood_command::run(&args).await,
        Command::Piece(piece) => by_hand::run(piece).await,
    }
}

/// What a service's own `check` command looks like.
fn run_check(json: bool) -> ExitCode {
    let (mut catalogue, mut report) = (watertight::catalogue(), watertight::check());
    // The lab compares with functions that are wrong on purpose; a service has none of those.
    catalogue.sites.retain(|listed| !lab::owns(listed.identity.file));
    report.findings.retain(|finding| !finding.sites.iter().any(|site| lab::owns(site.file)));
    let text = if json {
        format!("{{\"catalogue\":{},\"check\":{}}}\n", catalogue.to_json(), report.to_json())
    } else if report.findings.is_empty() {
        format!("{catalogue}\nnothing to find fault with\n")
    } else {
        format!("{catalogue}\n{report}")
    };
    let _ = std::io::stdout().write_all(text.as_bytes());
    if report.deny().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What a service's own `rules` and `grafana` commands need: those functions alone that somebody runs.
fn watched() -> Monitoring {
    Monitoring::new().only(|function| !lab::owns(function.file))
}

fn print(text: &str) -> ExitCode {
    // A reader who left early, as `head` does, is no failure.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

async fn run_outage(args: &OutageArgs) -> anyhow::Result<ExitCode> {
    // Before the wait, not after it: a path that cannot be written is known now.
    let file = args.json.as_deref().map(writable).transpose()?;
    let stop = stop::on_interrupt();
    let board = Arc::new(Board::default());
    let page = watch(args.dashboard, &board).await;
    let outage = outage::both(args.settings(), &stop, &Progress::for_stderr(), &board).await?;
    let report = report(&outage, args.quick);
    // A reader who left early, as `head` does, is no failure.
    let _ = std::io::stdout().write_all(report.as_bytes());
    if let Some(mut file) = file {
        file.set_len(0)?;
        writeln!(file, "{:#}", json::document(&outage))?;
    }
    if let Some(page) = page {
        if args.stay && !outage.partial {
            eprintln!("the page stays at {} until Ctrl-C", page.url());
            stop.stopped().await;
        }
        page.stop().await;
    }
    Ok(if outage.partial { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// The page of the outage, with the dashboard below it. Without one the outage is the same, so a port that is taken stops
/// nothing.
async fn watch(address: SocketAddr, board: &Arc<Board>) -> Option<Live> {
    let shop = Dashboard::new().only(|function| !lab::owns(function.file));
    match live::serve(address, Arc::clone(board), shop).await {
        Ok(page) => {
            eprintln!("watch it live: {}", page.url());
            Some(page)
        }
        Err(error) => {
            eprintln!("no page to watch: {error}");
            None
        }
    }
}

fn writable(path: &Path) -> anyhow::Result<File> {
    OpenOptions::new().append(true).create(true).open(path).with_context(|| format!("cannot write {}", path.display()))
}

fn report(outage: &Outage, quick: bool) -> String {
    let quick = if quick { "Quick run: shortened, so the figures are rough.\n" } else { "" };
    let guarded = outage.runs.iter().any(|run| !run.functions.is_empty());
    let figures = || lab::without(watertight::snapshot()).to_string();
    let fates = if guarded { format!("\n{}\n", figures().trim_end()) } else { String::new() };
    format!("\n{quick}{}\n{fates}\n{}\n", table::side_by_side(outage), story::tell(outage))
}
