//! # A dashboard for people on a shell
//!
//! Whoever is woken at night has a shell on the machine before anything else, and often no way for a browser to reach it. So
//! the first screen of the dashboard, and the panels of a function, are drawn here in the terminal. Everything comes from the
//! addresses that the page asks, so it works with any process that serves a dashboard, and shows the same figures:
//!
//! ```text
//!   api/stream ──► feed ──► view ◄── keys          data    what the addresses answer
//!   api/function ──┘         │                     words   figures, bars and sparks as text
//!                            ▼
//!                   draw: wall or function ──► terminal
//! ```
//!
//! What is known is a value ([`view::View`]), what a key does to it is a function of it, and drawing changes nothing: so all of
//! it is tested without a terminal.
//!
//! Invariants:
//! * the terminal is as it was, whichever way this ends: a key, a signal, an error, a panic;
//! * shape says what colour says;
//! * a service that has gone is said to have gone, its last figures are dimmed, and it is asked again every second.

pub mod data;
mod feed;
mod function;
pub mod view;
mod wall;
mod words;

#[cfg(test)]
mod tests;

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::{DefaultTerminal, Frame};
use tokio::sync::{mpsc, watch};

use crate::stop;
use view::{Act, View};

/// How often it is drawn when nothing happens.
const TICK: Duration = Duration::from_millis(500);
/// How long a look for keys may take before it looks whether anybody still wants them.
const LOOK: Duration = Duration::from_millis(100);

/// Shows what is served at `url`, until a key or a signal ends it.
///
/// # Errors
/// When `url` is none, or standard output is no terminal.
pub async fn run(url: &str) -> anyhow::Result<()> {
    let base = feed::base(url)?;
    anyhow::ensure!(
        std::io::stdout().is_terminal(),
        "`top` draws in a terminal, and standard output is none; the same figures as text are at {base}api/wall"
    );
    let stop = stop::on_interrupt();
    let mut screen = Screen::open().context("the terminal cannot be drawn on")?;
    let (wants, wanted) = watch::channel(None);
    let (say, mut heard) = mpsc::channel(16);
    let feeding = tokio::spawn(feed::follow(base.clone(), wanted, say));
    let mut keys = keys();
    let mut view = View::new(base);
    let mut ticks = tokio::time::interval(TICK);
    let stopped = stop.stopped();
    tokio::pin!(stopped);
    loop {
        screen.0.draw(|frame| draw(frame, &view))?;
        let act = tokio::select! {
            () = &mut stopped => Act::Quit,
            Some(it) = heard.recv() => { view.hear(it); Act::Nothing }
            key = keys.recv() => key.map_or(Act::Quit, |key| view.key(key)),
            _ = ticks.tick() => Act::Nothing,
        };
        match act {
            Act::Quit => break,
            Act::Show(id) => _ = wants.send_replace(id),
            Act::Nothing => {}
        }
    }
    feeding.abort();
    Ok(())
}

/// The whole terminal.
fn draw(frame: &mut Frame<'_>, view: &View) {
    if view.open.is_some() { function::draw(frame, view) } else { wall::draw(frame, view) }
}

/// The terminal while it is ours; dropping it gives it back.
struct Screen(DefaultTerminal);

impl Screen {
    /// A panic on any thread gives it back, too, before the message is written.
    fn open() -> std::io::Result<Self> {
        ratatui::try_init().map(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Keys, from a thread of their own, since looking for one waits. It ends when nobody listens, or when the terminal is gone.
fn keys() -> mpsc::Receiver<KeyEvent> {
    let (say, keys) = mpsc::channel(16);
    std::thread::spawn(move || {
        while !say.is_closed() {
            match event::poll(LOOK).and_then(|some| if some { event::read().map(Some) } else { Ok(None) }) {
                Ok(Some(Event::Key(key))) if key.kind != KeyEventKind::Release => {
                    if say.blocking_send(key).is_err() {
                        return;
                    }
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    });
    keys
}
