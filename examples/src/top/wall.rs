//! # The first screen
//!
//! The sentence, then a row for each function, those first that hurt most, then what they share. Narrow terminals lose columns,
//! never the sentence or the names.
//!
//! Invariant: drawing changes nothing.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table, TableState, Wrap};

use super::data::{Site, Wall};
use super::view::{Link, View};
use super::words::{bar, count, harmless, known, legend, spark};

/// From this width on there is room for everything.
const WIDE: u16 = 104;

pub(super) fn draw(frame: &mut Frame<'_>, view: &View) {
    let [title, headline, rows, letters, named, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(3),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    self::title(frame, title, view);
    self::headline(frame, headline, view);
    table(frame, rows, view);
    frame.render_widget(Line::from(legend()), letters);
    frame.render_widget(Line::from(shared(&view.wall)), named);
    let said = if view.typing || !view.search.is_empty() {
        format!("find: {}{}", view.search, if view.typing { "_" } else { "   Esc all" })
    } else {
        "↑↓ choose   Enter panels   / find   q quit".to_owned()
    };
    frame.render_widget(Line::from(said).dim(), keys);
}

/// What is watched, and how things stand with it.
pub(super) fn title(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let (word, style) = match &view.link {
        Link::Waiting => ("connecting".to_owned(), Style::new().yellow()),
        Link::Live => {
            let (calls, harmed) = (count(view.wall.calls_per_second), count(view.wall.harmed_per_second));
            (format!("live, {calls} calls/s, {harmed} harmed/s"), Style::new().green())
        }
        Link::Lost(since, why) => {
            let ago = since.elapsed().as_secs();
            (format!("lost {ago} s ago ({}), asking again", harmless(why)), Style::new().red().bold())
        }
    };
    let line = Line::from(vec![
        "watertight ".bold(),
        Span::raw(harmless(&view.base)).dim(),
        Span::raw("  "),
        Span::styled(word, style),
    ]);
    frame.render_widget(line, area);
}

fn headline(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let style = if view.wall.harmed { Style::new().fg(Color::Red).bold() } else { Style::new().bold() };
    let text = if view.wall.headline.is_empty() { "Waiting for the first second." } else { &view.wall.headline };
    frame.render_widget(Paragraph::new(harmless(text)).style(style).wrap(Wrap { trim: true }), area);
}

fn table(frame: &mut Frame<'_>, area: Rect, view: &View) {
    let is_wide = area.width >= WIDE;
    let rows = view.rows();
    let lines = rows.iter().map(|site| row(site, is_wide));
    let mut heads = vec!["function", "harm/s", "minute", "calls", "p99", "limit", "slots", "att.", "brk."];
    let mut widths = vec![
        Constraint::Min(12),
        Constraint::Length(6),
        Constraint::Length(if is_wide { 12 } else { 8 }),
        Constraint::Length(if is_wide { 20 } else { 8 }),
        Constraint::Length(6),
        Constraint::Length(6),
        Constraint::Length(8),
        Constraint::Length(5),
        Constraint::Length(4),
    ];
    if is_wide {
        heads.insert(4, "p50");
        widths.insert(4, Constraint::Length(6));
    }
    let selected = Style::new().add_modifier(Modifier::REVERSED);
    let mut table = Table::new(lines, widths)
        .header(Row::new(heads).style(Style::new().dim()))
        .row_highlight_style(selected)
        .highlight_symbol("> ");
    if !matches!(view.link, Link::Live) {
        table = table.style(Style::new().dim());
    }
    // What is stood on is in sight.
    frame.render_stateful_widget(table, area, &mut TableState::new().with_selected(view.place()));
}

fn row(site: &Site, is_wide: bool) -> Row<'static> {
    let (bar_width, spark_width) = if is_wide { (12, 20) } else { (8, 8) };
    let is_harmed = site.harmed_per_second > 0.0;
    let name = format!("{}{}", harmless(&site.name), if site.observing { " (observes)" } else { "" });
    let harm = match (is_harmed, site.total) {
        (true, _) => Span::styled(count(site.harmed_per_second), Style::new().fg(Color::Red).bold()),
        (false, 0) => Span::raw("never").dim(),
        (false, _) => Span::raw("0"),
    };
    let latency = site.latency.as_ref();
    let quantile = |at: usize| known(latency.and_then(|it| it.quantiles.as_ref()?.get(at).copied().flatten()));
    let slots = site.saturation.as_ref().map_or_else(Line::default, |it| {
        let waits = if it.queued > 0 { format!("+{}", it.queued) } else { String::new() };
        let text = format!("{}/{}{waits}", it.peak, it.slots);
        if it.slots > 0 && it.peak >= it.slots { Line::from(text.red().bold()) } else { Line::from(text) }
    });
    let rate = site.rate.as_deref().unwrap_or_default();
    let mut cells = vec![
        Cell::from(if is_harmed { Line::from(name.bold()) } else { Line::from(name) }),
        Cell::from(harm),
        Cell::from(Line::from(bar(&site.minute, bar_width))),
        Cell::from(Line::from(spark(rate, site.harm.as_deref().unwrap_or_default(), spark_width))),
        Cell::from(quantile(2)),
        Cell::from(known(latency.and_then(|it| it.timeout))),
        Cell::from(slots),
        Cell::from(site.factor.map_or_else(String::new, |factor| format!("{factor:.2}"))),
        Cell::from(site.breaker.as_ref().map_or_else(Span::default, |it| state(&it.state))),
    ];
    if is_wide {
        cells.insert(4, Cell::from(quantile(0)));
    }
    Row::new(cells)
}

/// A breaker's state in four letters.
pub(super) fn state(of: &str) -> Span<'static> {
    match of {
        "closed" => Span::raw("shut").green(),
        "open" => Span::raw("OPEN").red().bold(),
        "half_open" => Span::raw("half").yellow(),
        "isolated" => Span::raw("HELD").red().bold(),
        other => Span::raw(harmless(other)),
    }
}

/// What is full and what is not closed, or that nothing is.
fn shared(wall: &Wall) -> Vec<Span<'static>> {
    let full = wall.bulkheads.iter().filter(|it| it.slots > 0 && it.peak >= it.slots);
    let full = full.map(|it| {
        let text = format!("{} full: {} of {} run, {} wait", harmless(&it.name), it.running, it.slots, it.queued);
        Span::raw(text).red()
    });
    let open = wall.breakers.iter().filter(|it| it.state != "closed");
    let open = open.map(|it| Span::raw(format!("breaker {} {}", harmless(&it.name), it.state.replace('_', "-"))).red());
    let mut all: Vec<_> = full.chain(open).flat_map(|it| [it, Span::raw("   ")]).collect();
    if all.is_empty() {
        let text =
            format!("{} bulkheads, none full; {} breakers, all closed", wall.bulkheads.len(), wall.breakers.len());
        all.push(Span::raw(text).dim());
    }
    all
}
