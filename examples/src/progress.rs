//! # Something to look at
//!
//! Half a minute of silence reads as a hang, and a hang is what the experiment is about. So while it runs, one line per
//! run tells how the routes do *now*: over the last two seconds, since an average from the start would still look well
//! long after the cart has stopped. The line goes to standard error; standard output holds results alone.
//!
//! A terminal gets a line that moves. Anything else, a log or a pipe, gets a plain line every few seconds, because a
//! moving line in a file is a page of control characters.
//!
//! Invariants:
//! * watching changes nothing: counters are read, never taken;
//! * one line per run, the first staying in sight while the second moves.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use sqlx::sqlite::SqlitePool;
use tokio::time::{Instant, interval};

use crate::pool;
use crate::report::words;
use crate::shop::Variant;
use crate::tally::{Tally, percent};

const TICK: Duration = Duration::from_millis(250);
/// Ticks that count as now: two seconds.
const NOW: usize = 8;
/// Ticks between two plain lines.
const PLAIN: usize = 12;

/// Where progress goes.
#[derive(Debug)]
pub enum Progress {
    /// Nowhere.
    Silent,
    /// A plain line every few seconds.
    Plain,
    /// Lines that move, and the one moving.
    Moving(MultiProgress, Mutex<Option<ProgressBar>>),
}

/// A run under way, to look at.
#[derive(Debug)]
pub struct Live<'run> {
    /// Which shop.
    pub variant: Variant,
    /// How long it goes on.
    pub length: Duration,
    /// The load's route.
    pub product: &'run Tally,
    /// The probe's.
    pub cart: &'run Tally,
    /// Whose idle connections are shown.
    pub pool: &'run SqlitePool,
}

impl Progress {
    /// What standard error can show.
    pub fn for_stderr() -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if std::io::stderr().is_terminal() && !dumb {
            Self::Moving(MultiProgress::new(), Mutex::new(None))
        } else {
            Self::Plain
        }
    }

    /// Shows a run for as long as this is polled.
    pub async fn follow(&self, live: &Live<'_>) {
        self.begin(live);
        let (mut product, mut cart) = (Recent::default(), Recent::default());
        let begun = Instant::now();
        let mut beat = interval(TICK);
        for tick in 0_usize.. {
            beat.tick().await;
            let now = format!(
                "product {:>7}  cart {:>7}  pool idle {:>2} of {}",
                words::share(product.now(live.product)),
                words::share(cart.now(live.cart)),
                live.pool.num_idle(),
                pool::SIZE,
            );
            self.show(live, begun.elapsed().min(live.length), tick, now);
        }
    }

    /// Leaves the run's overall figures behind.
    pub fn done(&self, live: &Live<'_>, partial: bool) {
        let share = |tally: &Tally| words::share(tally.figures().success());
        let end = if partial { "interrupted" } else { "done" };
        let message = format!("product {:>7}  cart {:>7}  {end}", share(live.product), share(live.cart));
        match self {
            Self::Silent => {}
            Self::Plain => plain(live, &message),
            Self::Moving(_, bar) => {
                if let Some(bar) = bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
                    bar.abandon_with_message(message);
                }
            }
        }
    }

    fn begin(&self, live: &Live<'_>) {
        if let Self::Plain = self {
            plain(live, &format!("begins, {} s", live.length.as_secs()));
        }
        if let Self::Moving(lines, bar) = self {
            let style = ProgressStyle::with_template("{prefix:>9} [{bar:24}] {pos:>3}/{len} s  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> ");
            let fresh = lines.add(ProgressBar::new(live.length.as_secs()).with_style(style));
            fresh.set_prefix(live.variant.name());
            *bar.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
        }
    }

    fn show(&self, live: &Live<'_>, elapsed: Duration, tick: usize, now: String) {
        match self {
            Self::Plain if tick % PLAIN == PLAIN - 1 => {
                plain(live, &format!("{:>3}/{} s  {now}", elapsed.as_secs(), live.length.as_secs()));
            }
            Self::Moving(_, bar) => {
                if let Some(bar) = bar.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
                    bar.set_position(elapsed.as_secs());
                    bar.set_message(now);
                }
            }
            Self::Silent | Self::Plain => {}
        }
    }
}

fn plain(live: &Live<'_>, message: &str) {
    // Whoever read this may have left; that is no reason to end the experiment, let alone to panic.
    let _ = writeln!(std::io::stderr(), "{:>9}  {message}", live.variant.name());
}

/// The last two seconds of a tally, read four times a second.
#[derive(Debug, Default)]
pub(crate) struct Recent(VecDeque<(u64, u64)>);

impl Recent {
    pub(crate) fn now(&mut self, tally: &Tally) -> Option<f64> {
        self.push(tally.so_far())
    }

    fn push(&mut self, (requests, ok): (u64, u64)) -> Option<f64> {
        self.0.push_back((requests, ok));
        if self.0.len() > NOW + 1 {
            self.0.pop_front();
        }
        let (requests_then, ok_then) = *self.0.front()?;
        percent(ok - ok_then, requests - requests_then)
    }
}

#[cfg(test)]
mod tests {
    use super::{NOW, Recent};

    #[test]
    fn now_forgets_the_good_times() {
        let mut recent = Recent::default();
        assert_eq!(recent.push((100, 100)), None);
        assert_eq!(recent.push((200, 200)), Some(100.0));
        for _ in 0..NOW {
            recent.push((300, 200));
        }
        assert_eq!(recent.push((310, 200)), Some(0.0));
    }
}
