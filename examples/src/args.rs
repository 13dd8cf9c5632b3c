//! # The command line
//!
//! Run without a word, the program does the one thing it is here for. Everything else is a sub-command, so that what is
//! added later never changes what `cargo run --release` does.
//!
//! Invariants:
//! * no argument is needed, ever;
//! * a value out of range is refused before anything starts.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use watertight_examples::lab;
use watertight_examples::outage::Settings;

use crate::by_hand::Piece;

const QUICK: u64 = 4;

/// What happens to a shop when one of its vendors hangs, with and without one line.
#[derive(Debug, Parser)]
#[command(name = "demo", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    outage: OutageArgs,
}

/// What to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The recs outage, bare and annotated (what runs when no command is given).
    Outage(OutageArgs),
    /// Every guarded function with its settings and worst case, and what is wrong with them; exit code 1 if anything is.
    Check(CheckArgs),
    /// Recording and alert rules for Prometheus, from what every guarded function declares.
    Rules(RulesArgs),
    /// A Grafana dashboard over the same figures, as JSON.
    Grafana,
    /// A service's dashboard in this terminal: which function hurts users now, and why.
    Top(TopArgs),
    /// Published experiments on slow dependencies, bare and guarded, each with a verdict on its claims.
    Lab(LabArgs),
    /// A page with two switches: who drowns when one of three dependencies is slow, in a common room and in one each.
    Flood(FloodArgs),
    #[command(flatten)]
    Piece(Piece),
}

#[derive(Args, Debug)]
pub(crate) struct FloodArgs {
    /// Where the page is served; a port of the system's choice unless written.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) address: std::net::SocketAddr,
    /// End after so long; until Ctrl-C unless written.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: Option<u64>,
}

#[derive(Args, Debug)]
pub(crate) struct LabArgs {
    /// The experiment's name, `all`, or `list`.
    #[arg(value_name = "ID", value_parser = experiment)]
    pub(crate) id: String,
    /// Shorter, with rougher figures; every output says so.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write every figure here, with the exact settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write one HTML page here, with plots; it opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// Write our tables beside the published ones here.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Take this server's pool in place of the embedded database: `postgres://user@host/database`.
    #[arg(long, value_name = "URL")]
    pub(crate) postgres: Option<String>,
}

fn experiment(id: &str) -> Result<String, String> {
    let known: Vec<_> = lab::ALL.iter().map(|experiment| experiment.id).chain(["all", "list"]).collect();
    if known.contains(&id) { Ok(id.to_owned()) } else { Err(format!("there are {}", known.join(", "))) }
}

#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RulesArgs {
    /// How long something has to be wrong before an alert fires.
    #[arg(long = "for", default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub(crate) hold: u64,
    /// Over how long rates are taken; four scrapes should fit in.
    #[arg(long, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) window: u64,
}

#[derive(Args, Debug)]
pub(crate) struct TopArgs {
    /// Where a dashboard is served, by `watertight::dashboard::serve` or inside a service's own server.
    #[arg(default_value = "http://127.0.0.1:7878/", value_name = "URL")]
    pub(crate) url: String,
}

#[derive(Args, Debug)]
pub(crate) struct OutageArgs {
    /// Length of each of the two runs.
    #[arg(long, default_value_t = 15, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Visitors on the product page; the limit keeps the sockets of both ends below a common 1,024.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=400))]
    clients: u16,
    /// Seconds after which a visitor without an answer leaves, as a gateway's limit would have it.
    #[arg(long, default_value_t = 30, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
    /// Write the results here as well, with all settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Where the page to watch is served while it runs, with the dashboard at /dashboard; a port of the system's choice unless
    /// written.
    #[arg(long, default_value = "127.0.0.1:0", value_name = "ADDRESS")]
    pub(crate) dashboard: std::net::SocketAddr,
    /// Serve the page and the dashboard on after the runs, until Ctrl-C.
    #[arg(long)]
    pub(crate) stay: bool,
    /// Four seconds per run: the shape, with rougher figures.
    #[arg(long, conflicts_with = "seconds")]
    pub(crate) quick: bool,
}

impl Cli {
    /// The command given, or the default one.
    pub(crate) fn command(self) -> Command {
        self.command.unwrap_or(Command::Outage(self.outage))
    }
}

impl OutageArgs {
    pub(crate) fn settings(&self) -> Settings {
        let seconds = if self.quick { QUICK } else { self.seconds };
        let mut settings = Settings::new(Duration::from_secs(seconds), self.clients.into());
        settings.load.patience = Duration::from_secs(self.patience);
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckArgs, Cli, Command};
    use clap::{CommandFactory, Parser};

    #[test]
    fn no_word_means_the_outage() {
        <Cli as CommandFactory>::command().debug_assert();
        let settings = |words: &[&str]| match Cli::parse_from(words).command() {
            Command::Outage(args) => args.settings(),
            other => panic!("another command: {other:?}"),
        };
        let given = settings(&["demo", "--clients", "7"]);
        assert_eq!((given.load.clients, given.load.length.as_secs()), (7, 15));
        assert_eq!(settings(&["demo", "outage", "--quick"]).load.length.as_secs(), 4);
        assert!(matches!(Cli::parse_from(["demo", "check"]).command(), Command::Check(CheckArgs { json: false })));
        assert!(Cli::try_parse_from(["demo", "--seconds", "0"]).is_err());
        assert!(matches!(Cli::parse_from(["demo", "lab", "all", "--quick"]).command(), Command::Lab(_)));
        let refused = Cli::try_parse_from(["demo", "lab", "cascades"]).unwrap_err().to_string();
        assert!(refused.contains("there are defaults, cascade"), "{refused}");
    }
}
