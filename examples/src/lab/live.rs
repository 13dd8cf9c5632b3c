//! # Something to look at
//!
//! `lab all` runs for minutes. On a terminal one line moves; in a log or a pipe a plain line appears every few seconds. All
//! of it goes to standard error, and what is shown is read from counters that exist anyway.
//!
//! Invariants:
//! * watching changes nothing.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::{Instant, interval};

const TICK: Duration = Duration::from_millis(250);
/// Ticks between two plain lines.
const PLAIN: u32 = 12;

/// Where progress goes.
#[derive(Debug)]
pub enum Live {
    /// Nowhere.
    Silent,
    /// A plain line every few seconds.
    Plain,
    /// One line that moves.
    Moving(ProgressBar),
}

impl Live {
    /// What standard error can show.
    pub fn for_stderr() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if !std::io::stderr().is_terminal() || dumb {
            return Self::Plain;
        }
        let style = ProgressStyle::with_template("{spinner} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
        Self::Moving(ProgressBar::no_length().with_style(style))
    }

    /// Says one thing.
    pub fn say(&self, message: &str) {
        match self {
            Self::Silent => {}
            Self::Plain => {
                // Whoever read this may have left; that is no reason to end the experiment.
                let _ = writeln!(std::io::stderr(), "{message}");
            }
            Self::Moving(bar) => {
                if bar.is_finished() {
                    bar.reset();
                }
                bar.set_message(message.to_owned());
                bar.tick();
            }
        }
    }

    /// Clears the moving line, so that a result can be printed.
    pub fn clear(&self) {
        if let Self::Moving(bar) = self {
            bar.finish_and_clear();
        }
    }

    /// Shows a stage for as long as this is polled; `now` says how it stands.
    pub async fn follow(&self, stage: &str, length: Duration, now: impl Fn() -> String) {
        let begun = Instant::now();
        let mut beat = interval(TICK);
        for tick in 1_u32.. {
            beat.tick().await;
            if matches!(self, Self::Plain) && tick % PLAIN != 1 {
                continue;
            }
            let elapsed = begun.elapsed().min(length).as_secs();
            self.say(&format!("  {stage}  {elapsed:>3}/{} s  {}", length.as_secs_f64().ceil(), now()));
        }
    }
}
