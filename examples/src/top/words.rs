//! # Figures as text
//!
//! A terminal has a few letters for a figure, and not everybody sees its colours. So each kind of end has a shape of its own
//! beside its colour, and a figure has two or three places.
//!
//! Invariants:
//! * a part that is not nothing has at least one letter of its bar;
//! * a bar and a spark are exactly as wide as asked.

use ratatui::style::{Color, Style};
use ratatui::text::Span;

/// Ends of calls, in the order in which they are drawn.
const GROUPS: [(&str, char, Color); 5] = [
    ("ok", '█', Color::Green),
    ("ok after a retry", '▓', Color::LightGreen),
    ("fallback", '▒', Color::Yellow),
    ("failed", '×', Color::Red),
    ("dropped", '·', Color::DarkGray),
];

/// The group of a class, by its place.
pub(super) fn group_of(class: usize) -> usize {
    match class {
        0 => 0,
        1 => 1,
        2..10 => 2,
        10..18 => 3,
        _ => 4,
    }
}

/// How the group of a class looks.
pub(super) fn style_of(class: usize) -> (char, Style) {
    let (_, letter, colour) = GROUPS[group_of(class)];
    (letter, Style::new().fg(colour))
}

/// What the letters mean.
pub(super) fn legend() -> Vec<Span<'static>> {
    GROUPS
        .iter()
        .map(|(name, letter, colour)| Span::styled(format!("{letter} {name}  "), Style::new().fg(*colour)))
        .collect()
}

/// Calls by class as a bar.
pub(super) fn bar(classes: &[u64], width: usize) -> Vec<Span<'static>> {
    let mut groups = [0; GROUPS.len()];
    classes.iter().enumerate().for_each(|(class, count)| groups[group_of(class)] += count);
    let letters = shares(&groups, width);
    let drawn = GROUPS.iter().zip(letters).filter(|(_, count)| *count > 0);
    drawn
        .map(|((_, letter, colour), count)| Span::styled(letter.to_string().repeat(count), Style::new().fg(*colour)))
        .collect()
}

/// How many of `width` letters each part has.
fn shares(parts: &[u64; 5], width: usize) -> [usize; 5] {
    let all: u64 = parts.iter().sum();
    let mut letters = [0; 5];
    if all == 0 {
        return letters;
    }
    for (letters, part) in letters.iter_mut().zip(parts) {
        let exact = *part as f64 / all as f64 * width as f64;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a width
        let rounded = exact.round() as usize;
        *letters = if *part > 0 { rounded.max(1) } else { 0 };
    }
    // The largest part gives or takes what rounding made.
    let largest = (0..5).max_by_key(|at| parts[*at]).unwrap_or(0);
    let others: usize = letters.iter().enumerate().filter(|(at, _)| *at != largest).map(|(_, count)| count).sum();
    letters[largest] = width.saturating_sub(others);
    letters
}

/// Calls a second as a spark, the newest to the right; where somebody was harmed it looks different.
pub(super) fn spark(rate: &[u64], harm: &[u64], width: usize) -> Vec<Span<'static>> {
    const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let each = rate.len().div_ceil(width.max(1)).max(1);
    // The oldest column may stand for fewer seconds.
    let mean = |all: &[u64]| all.iter().sum::<u64>() * each as u64 / all.len() as u64;
    let columns: Vec<_> = rate.rchunks(each).map(mean).rev().collect();
    let harmed: Vec<_> = harm.rchunks(each).map(|all| all.iter().any(|count| *count > 0)).rev().collect();
    let most = columns.iter().copied().max().unwrap_or(0).max(1);
    let blank = Span::raw(" ".repeat(width.saturating_sub(columns.len())));
    let letter = |(at, count): (usize, &u64)| {
        let step = usize::try_from(count * 7 / most).unwrap_or(7).min(7);
        let letter = if *count == 0 { ' ' } else { STEPS[step] };
        let is_harmed = harmed.get(at).copied().unwrap_or(false);
        let style = if is_harmed { Style::new().fg(Color::Red).underlined() } else { Style::new().fg(Color::Cyan) };
        Span::styled(letter.to_string(), style)
    };
    std::iter::once(blank).chain(columns.iter().enumerate().map(letter)).collect()
}

/// A length, in six letters at most.
pub(super) fn length(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{:.0}µs", ms * 1e3),
        ms if ms < 9.95 => format!("{ms:.1}ms"),
        ms if ms < 999.5 => format!("{ms:.0}ms"),
        ms if ms < 99_950.0 => format!("{:.1}s", ms / 1e3),
        ms => format!("{:.0}s", ms / 1e3),
    }
}

/// A length, or that there is none.
pub(super) fn known(ms: Option<f64>) -> String {
    ms.map_or_else(|| "-".to_owned(), length)
}

/// How many, in five letters at most.
pub(super) fn count(value: f64) -> String {
    match value {
        value if value < 9.95 && value.fract() > 0.05 => format!("{value:.1}"),
        value if value < 9_999.5 => format!("{value:.0}"),
        value if value < 999_500.0 => format!("{:.0}k", value / 1e3),
        value => format!("{:.0}M", value / 1e6),
    }
}

/// A share.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    if value > 0.0 && value < 1.0 { format!("{value:.2} %") } else { format!("{value:.0} %") }
}

/// Text of somebody else's without what a terminal would obey.
pub(super) fn harmless(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(spans: &[Span<'_>]) -> String {
        spans.iter().map(|span| span.content.as_ref()).collect()
    }

    #[test]
    fn a_bar_is_as_wide_as_asked_and_shows_the_smallest_part() {
        let mut classes = [0; 19];
        assert_eq!(plain(&bar(&classes, 8)), "");
        classes[0] = 9_990;
        assert_eq!(plain(&bar(&classes, 8)), "████████");
        classes[10] = 1;
        assert_eq!(plain(&bar(&classes, 8)), "███████×");
        (classes[1], classes[3], classes[18]) = (5_000, 5_000, 9);
        assert_eq!(plain(&bar(&classes, 8)), "██▓▓▒▒×·");
    }

    #[test]
    fn a_spark_is_as_wide_as_asked_and_its_newest_is_to_the_right() {
        assert_eq!(plain(&spark(&[0, 1, 7], &[], 5)), "   ▂█");
        assert_eq!(plain(&spark(&[1; 60], &[], 8)), "████████");
        let harmed = spark(&[4, 4], &[0, 1], 2);
        assert_eq!((harmed[1].style.fg, harmed[2].style.fg), (Some(Color::Cyan), Some(Color::Red)));
    }

    #[test]
    fn figures_are_short() {
        let lengths = [0.02, 1.25, 48.4, 999.4, 1_500.0, 120_000.0].map(length);
        assert_eq!(lengths, ["20µs", "1.2ms", "48ms", "999ms", "1.5s", "120s"]);
        assert_eq!([0.0, 0.25, 9.0, 120.0, 12_345.0, 2e6].map(count), ["0", "0.2", "9", "120", "12k", "2M"]);
        assert_eq!([0.0, 0.004, 0.5].map(percent), ["0 %", "0.40 %", "50 %"]);
        assert_eq!(harmless("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
    }
}
