//! # An outage by hand, over four terminals
//!
//! ```sh
//! cargo run --release -- vendor --port 9001
//! cargo run --release -- service --port 9000 --vendor http://127.0.0.1:9001/recommendations
//! cargo run --release -- load http://127.0.0.1:9000/work
//! cargo run --release -- probe http://127.0.0.1:9000/db http://127.0.0.1:9000/healthy
//! ```
//!
//! All is well. Then, from a fifth one, the vendor hangs, and `/db`, which never calls it, goes down:
//!
//! ```sh
//! curl -H 'content-type: application/json' -d '"hang"' http://127.0.0.1:9001/behave
//! curl http://127.0.0.1:9001/books
//! ```
//!
//! The cure is another service: `service --guarded`. They are the very pieces that the lab and the main job are put together
//! from; nothing is measured here that is not measured there.
//!
//! Invariants:
//! * standard output holds addresses and figures, one line each while it runs, and the sum at the end;
//! * Ctrl-C ends each of them with its figures, and with exit code 130 those that were not finished.

mod load;
mod probe;
mod service;
mod vendor;

use std::fs::File;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use serde_json::Value;
use watertight_examples::stop::Stop;

use crate::INTERRUPTED;

/// What each of the four says below its options.
const RECIPE: &str = "The outage by hand, over four terminals:
  demo vendor --port 9001
  demo service --port 9000 --vendor http://127.0.0.1:9001/recommendations
  demo load http://127.0.0.1:9000/work
  demo probe http://127.0.0.1:9000/db http://127.0.0.1:9000/healthy
From a fifth one, the vendor hangs, and /db, which never calls it, goes down; then its own books:
  curl -H 'content-type: application/json' -d '\"hang\"' http://127.0.0.1:9001/behave
  curl http://127.0.0.1:9001/books
The cure is `demo service --guarded`. From a checkout, `demo` is `cargo run --release --`.";

/// One of the four.
#[derive(Debug, Subcommand)]
pub(crate) enum Piece {
    /// The vendor alone: a settable answer time, and its own books.
    Vendor(vendor::Args),
    /// The service alone: /healthy, /db and /work over a pool of ten, bare or guarded.
    Service(service::Args),
    /// The load alone: clients who ask again and again, or calls at a rate.
    Load(load::Args),
    /// Probes alone: one call to each address in an even beat.
    Probe(probe::Args),
}

pub(crate) async fn run(piece: Piece) -> anyhow::Result<ExitCode> {
    match piece {
        Piece::Vendor(args) => vendor::run(args).await,
        Piece::Service(args) => service::run(args).await,
        Piece::Load(args) => load::run(args).await,
        Piece::Probe(args) => probe::run(args).await,
    }
}

/// Prints a line, at once.
fn say(line: &str) {
    let mut out = std::io::stdout();
    // A reader who left early, as `head` does, is no failure.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Says a line every second for as long as this is polled, if it is another one.
async fn every_second(line: impl Fn() -> String) {
    let mut beat = tokio::time::interval(Duration::from_secs(1));
    let mut last = String::new();
    loop {
        beat.tick().await;
        let line = line();
        if line != last {
            say(&line);
            last = line;
        }
    }
}

/// How a piece ends that had something to finish.
fn ended(stop: &Stop) -> ExitCode {
    if stop.is_stopped() { ExitCode::from(INTERRUPTED) } else { ExitCode::SUCCESS }
}

/// Writes figures, if that was asked for.
fn write(file: Option<File>, figures: &Value) -> std::io::Result<()> {
    let Some(mut file) = file else { return Ok(()) };
    file.set_len(0)?;
    writeln!(file, "{figures:#}")
}

/// A length of time as people write it: `300ms`, `2s`.
fn length(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let number: u64 = number.parse().map_err(|_| format!("`{text}` is not a length; write `300ms` or `2s`"))?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        _ => Err(format!("`{text}` has no unit that is known; write `300ms` or `2s`")),
    }
}

/// An address to call.
fn address(text: &str) -> Result<String, String> {
    match text.strip_prefix("http://") {
        Some(rest) if !rest.is_empty() => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not an address; write it whole, as `http://127.0.0.1:9000/work`")),
    }
}

#[cfg(test)]
mod tests {
    use super::{address, length};
    use std::time::Duration;

    #[test]
    fn lengths_and_addresses_are_read_or_refused_with_what_to_write_instead() {
        assert_eq!(length("300ms"), Ok(Duration::from_millis(300)));
        assert_eq!(length("2s"), Ok(Duration::from_secs(2)));
        for wrong in ["", "2", "s", "-1s", "2 s", "2m"] {
            assert!(length(wrong).unwrap_err().contains("write `300ms` or `2s`"), "{wrong}");
        }
        assert!(address("http://127.0.0.1:1/x").is_ok());
        assert!(address("127.0.0.1:1").unwrap_err().contains("write it whole"));
    }
}
