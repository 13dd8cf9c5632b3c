//! # What is known and what is looked at
//!
//! A value, and what changes it: what the service says, and keys. The row that somebody stands on is remembered by its function,
//! not by its place, since those that hurt most move up.
//!
//! Invariants:
//! * what is selected is one of the rows shown, if there are any;
//! * keys change what is looked at, never the service.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tokio::time::Instant;

use super::data::{Function, Site, Wall};
use super::feed::Heard;

/// Rows that a page key moves by.
const PAGE: isize = 10;

/// Everything that is drawn.
#[derive(Debug)]
pub struct View {
    /// Where it comes from.
    pub(super) base: String,
    pub(super) link: Link,
    pub(super) wall: Wall,
    /// The function that is stood on.
    selected: Option<String>,
    /// The function that is shown whole.
    pub(super) open: Option<String>,
    pub(super) function: Option<Function>,
    /// Lines of it that are above the top.
    pub(super) scrolled: u16,
    /// What is looked for, and whether it is being typed.
    pub(super) search: String,
    pub(super) typing: bool,
}

/// How things stand with the service.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// Nothing has come yet.
    Waiting,
    /// Once a second.
    Live,
    /// Since when, and why.
    Lost(Instant, String),
}

/// What a key asks for beyond the view.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    Nothing,
    /// The panels of this function from now on, or of none.
    Show(Option<String>),
    Quit,
}

impl View {
    pub(super) fn new(base: String) -> Self {
        Self {
            base,
            link: Link::Waiting,
            wall: Wall::default(),
            selected: None,
            open: None,
            function: None,
            scrolled: 0,
            search: String::new(),
            typing: false,
        }
    }

    pub(super) fn hear(&mut self, it: Heard) {
        match it {
            Heard::Wall(wall) => {
                self.wall = *wall;
                self.link = Link::Live;
            }
            Heard::Function(function) => {
                if self.open.as_ref() == Some(&function.id) {
                    self.function = Some(*function);
                }
            }
            // Since when it is lost stays as it was; why may change.
            Heard::Lost(why) => {
                let since = if let Link::Lost(since, _) = self.link { since } else { Instant::now() };
                self.link = Link::Lost(since, why);
            }
        }
    }

    /// The rows that are shown.
    pub(super) fn rows(&self) -> Vec<&Site> {
        let wanted = self.search.to_lowercase();
        let matches = |site: &&Site| format!("{} {}", site.name, site.id).to_lowercase().contains(&wanted);
        self.wall.sites.iter().filter(matches).collect()
    }

    /// The place of the row that is stood on.
    pub(super) fn place(&self) -> Option<usize> {
        let rows = self.rows();
        let found = rows.iter().position(|site| self.selected.as_ref() == Some(&site.id));
        found.or((!rows.is_empty()).then_some(0))
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Act {
        if key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return Act::Quit;
        }
        if self.typing {
            self.typed(key.code);
            return Act::Nothing;
        }
        match key.code {
            KeyCode::Char('q') => return Act::Quit,
            KeyCode::Esc | KeyCode::Backspace | KeyCode::Left | KeyCode::Char('h') if self.open.is_some() => {
                return self.close();
            }
            KeyCode::Esc => self.search.clear(),
            KeyCode::Char('/') if self.open.is_none() => self.typing = true,
            KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') if self.open.is_none() => {
                self.open = self.place().map(|place| self.rows()[place].id.clone());
                (self.function, self.scrolled) = (None, 0);
                return Act::Show(self.open.clone());
            }
            KeyCode::Up | KeyCode::Char('k') => self.step(-1),
            KeyCode::Down | KeyCode::Char('j') => self.step(1),
            KeyCode::PageUp => self.step(-PAGE),
            KeyCode::PageDown => self.step(PAGE),
            KeyCode::Home | KeyCode::Char('g') => self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.step(isize::MAX),
            _ => {}
        }
        Act::Nothing
    }

    fn typed(&mut self, code: KeyCode) {
        match code {
            KeyCode::Char(c) => self.search.push(c),
            KeyCode::Backspace => _ = self.search.pop(),
            KeyCode::Esc => (self.typing, self.search) = (false, String::new()),
            KeyCode::Enter | KeyCode::Up | KeyCode::Down => self.typing = false,
            _ => {}
        }
    }

    fn close(&mut self) -> Act {
        (self.open, self.function) = (None, None);
        Act::Show(None)
    }

    fn step(&mut self, by: isize) {
        if self.open.is_some() {
            let by = i16::try_from(by).unwrap_or(if by < 0 { i16::MIN } else { 100 });
            self.scrolled = self.scrolled.saturating_add_signed(by).min(100);
            return;
        }
        let rows = self.rows();
        if let Some(place) = self.place() {
            let to = place.saturating_add_signed(by).min(rows.len() - 1);
            self.selected = Some(rows[to].id.clone());
        }
    }
}
