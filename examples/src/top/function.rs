//! # One function
//!
//! What the panels of the page say, in words: how its calls ended, how long its attempts took beside the timeout, which attempt
//! answered, its slots, its breaker, where the time goes. A panel that the function has no use for is not there.
//!
//! Invariant: drawing changes nothing.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Paragraph, Sparkline, Wrap};

use super::data::Function;
use super::view::View;
use super::wall;
use super::words::{count, group_of, harmless, known, length, percent, style_of};

pub(super) fn draw(frame: &mut Frame<'_>, view: &View) {
    let [title, name, attribute, chart, panels, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Length(4),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    wall::title(frame, title, view);
    frame.render_widget(Line::from("Esc all functions   ↑↓ scroll   q quit").dim(), keys);
    let Some(it) = &view.function else {
        frame.render_widget(Line::from("Reading its figures."), name);
        return;
    };
    let place = format!("  {}, {}", harmless(&it.module), harmless(&it.source));
    frame.render_widget(Line::from(vec![harmless(&it.name).bold(), place.dim()]), name);
    frame.render_widget(Paragraph::new(harmless(&it.attribute)).wrap(Wrap { trim: true }), attribute);
    calls(frame, chart, it);
    let [left, right] = Layout::horizontal([Constraint::Percentage(45), Constraint::Fill(1)]).spacing(2).areas(panels);
    frame.render_widget(Paragraph::new(ends(it)).scroll((view.scrolled, 0)), left);
    let facts = Paragraph::new(facts(it)).wrap(Wrap { trim: true }).scroll((view.scrolled, 0));
    frame.render_widget(facts, right);
}

/// Calls of the last two minutes, and those of them that were harmed below, on one scale.
fn calls(frame: &mut Frame<'_>, area: Rect, it: &Function) {
    let frames = it.fates.as_ref().map(|fates| fates.frames.as_slice()).unwrap_or_default();
    let columns = usize::from(area.width);
    let frames = &frames[frames.len().saturating_sub(columns)..];
    // The newest is to the right.
    let padded = |shown: Vec<u64>| [vec![0; columns - shown.len()], shown].concat();
    let all: Vec<u64> = padded(frames.iter().map(|classes| classes.iter().sum()).collect());
    let is_harmed = |class: &usize| matches!(group_of(*class), 2 | 3);
    let harmed =
        |classes: &Vec<u64>| classes.iter().enumerate().filter(|(at, _)| is_harmed(at)).map(|(_, count)| count).sum();
    let harmed: Vec<u64> = padded(frames.iter().map(harmed).collect());
    let most = all.iter().copied().max().unwrap_or(0).max(1);
    let [label, above, below] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(2), Constraint::Length(1)]).areas(area);
    let text = format!("calls a second, {} at most; below, in red, those that failed or fell back", count(most as f64));
    frame.render_widget(Line::from(text).dim(), label);
    frame.render_widget(Sparkline::default().data(&all).max(most).style(Style::new().fg(Color::Cyan)), above);
    frame.render_widget(Sparkline::default().data(&harmed).max(most).style(Style::new().fg(Color::Red)), below);
}

/// How calls ended in the last two minutes, by class.
fn ends(it: &Function) -> Text<'static> {
    let Some(fates) = &it.fates else { return Text::from("It has not been called.") };
    let mut recent = vec![0_u64; fates.classes.len()];
    for frame in &fates.frames {
        recent.iter_mut().zip(frame).for_each(|(sum, count)| *sum += count);
    }
    let all: u64 = recent.iter().sum();
    let mut lines = vec![Line::from(format!("Ends, {} calls in two minutes", count(all as f64)).bold())];
    for (class, total) in recent.iter().enumerate().filter(|(_, total)| **total > 0) {
        let (letter, style) = style_of(class);
        let share = percent(*total as f64 / all.max(1) as f64);
        lines.push(Line::from(vec![
            Span::styled(format!("{letter} "), style),
            Span::raw(format!("{:>7} {:>6}  {}", share, count(*total as f64), harmless(&fates.classes[class]))),
        ]));
    }
    let ever: u64 = fates.total.iter().sum();
    lines.push(Line::from(format!("{} since the process started", count(ever as f64)).dim()));
    Text::from(lines)
}

fn facts(it: &Function) -> Text<'static> {
    let parts = [latency(it), attempts(it), compartment(it), breaker(it), time(it), keys(it)];
    Text::from(parts.into_iter().flatten().collect::<Vec<_>>())
}

fn head(text: &str) -> Line<'static> {
    Line::from(text.to_owned().bold())
}

fn latency(it: &Function) -> Vec<Line<'static>> {
    let Some(bands) = &it.latency else { return Vec::new() };
    let newest = bands.quantiles.iter().rev().find(|all| all.iter().any(Option::is_some));
    let of = |at: usize| newest.and_then(|all| all.get(at).copied().flatten());
    let mut lines = vec![
        head("Attempts"),
        Line::from(format!("p50 {}  p90 {}  p99 {}  p99.9 {}", known(of(0)), known(of(1)), known(of(2)), known(of(3)))),
    ];
    let advice = it.picker.as_ref().map(|it| &it.advice);
    if let Some(timeout) = bands.timeout {
        let cut = advice.and_then(|it| it.cut_by_timeout.as_ref()).map(|it| format!(" cuts off {}", percent(it.share)));
        lines.push(Line::from(format!("timeout {}{}", length(timeout), cut.unwrap_or_default())));
    }
    if let Some(advised) = advice.and_then(|it| it.advised_timeout.as_ref()) {
        lines.push(Line::from(format!("{} would cut off one in a thousand", length(advised.ms))));
    }
    lines
}

fn attempts(it: &Function) -> Vec<Line<'static>> {
    let Some(retry) = it.retry.as_ref().filter(|it| it.calls > 0 && it.attempts > 0) else { return Vec::new() };
    let mut lines =
        vec![head("Retries"), Line::from(format!("{:.2} attempts a call", retry.attempts as f64 / retry.calls as f64))];
    let rungs = retry.ladder.iter().filter(|rung| rung.begun > 0);
    let rungs: Vec<_> = rungs.map(|it| format!("{}: {} of {}", harmless(&it.attempt), it.answered, it.begun)).collect();
    lines.push(Line::from(format!("answered at attempt {}", rungs.join(", "))));
    let stops: Vec<_> = retry.stops.iter().map(|it| format!("{} {}", harmless(&it.reason), it.count)).collect();
    if !stops.is_empty() {
        lines.push(Line::from(format!("not tried again: {}", stops.join(", "))));
    }
    lines
}

fn compartment(it: &Function) -> Vec<Line<'static>> {
    let Some(it) = &it.compartment else { return Vec::new() };
    let mut lines = vec![head(&format!("Slots of {}", harmless(&it.name)))];
    if let Some(now) = &it.now {
        let queue = it.queue.map_or_else(String::new, |queue| format!(" of {queue}"));
        lines.push(Line::from(format!("{} of {} run, {}{queue} wait", now.running, now.slots, now.queued)));
    }
    lines.push(Line::from(format!("full in {} of the seconds shown", percent(it.full_share))));
    if it.shared_by.len() > 1 {
        lines.push(Line::from(format!("shared by {}", harmless(&it.shared_by.join(", ")))));
    }
    lines
}

fn breaker(it: &Function) -> Vec<Line<'static>> {
    let Some(it) = &it.breaker else { return Vec::new() };
    let figures = format!("  {} of {} failed, opened {} times", it.failures, it.results, it.opened);
    let mut lines = vec![
        head(&format!("Breaker {}", harmless(&it.name))),
        Line::from(vec![wall::state(&it.state), figures.into()]),
    ];
    let changes = it.changes.iter().take(3);
    lines.extend(changes.map(|it| Line::from(format!("{:.0} s ago: {}", it.ago, harmless(&it.text))).dim()));
    lines
}

fn time(it: &Function) -> Vec<Line<'static>> {
    let Some(it) = &it.deadline else { return Vec::new() };
    let mut lines = vec![
        head("Where a call's time goes"),
        Line::from(format!(
            "waits {}, answers {}, cut off {}",
            length(it.waiting),
            length(it.answered),
            length(it.cut_off)
        )),
    ];
    if let Some(deadline) = it.deadline {
        lines.push(Line::from(format!("deadline {}, {} came too late", length(deadline), percent(it.too_late_share))));
    }
    lines
}

fn keys(it: &Function) -> Vec<Line<'static>> {
    let Some(keys) = it.keys.as_ref().filter(|it| !it.busiest.is_empty()) else { return Vec::new() };
    let most = keys.busiest.iter().take(5).map(|it| format!("{} {}", harmless(&it.key), it.count));
    vec![head("Most calls by key"), Line::from(most.collect::<Vec<_>>().join(", "))]
}
