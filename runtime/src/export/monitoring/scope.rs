//! Of which series, and over which time: what differs between a rule, which knows its window, and a panel, which leaves it to
//! Grafana. And how text becomes part of a query, a file or a message without ending it.
//!
//! Invariants: no text that somebody chose can end the quotes it stands in; a file of rules is one whatever the names are.

use std::fmt::Write;
use std::time::Duration;

/// What a figure is asked of.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Matchers, without braces: `function="recs",module="shop"`.
    pub(super) only: String,
    /// A range: `5m`.
    pub(super) over: String,
    /// Labels that tell processes apart.
    pub(super) apart: Vec<String>,
}

impl Scope {
    /// A selector of a metric, with one more matcher or none.
    pub(super) fn of(&self, metric: &str, more: &str) -> String {
        let matchers: Vec<_> = [self.only.as_str(), more].into_iter().filter(|it| !it.is_empty()).collect();
        if matchers.is_empty() { metric.to_owned() } else { format!("{metric}{{{}}}", matchers.join(",")) }
    }

    /// The same a second, over the range.
    pub(super) fn rate(&self, metric: &str, more: &str) -> String {
        format!("rate({}[{}])", self.of(metric, more), self.over)
    }

    /// Added over processes, and over these labels of ours.
    pub(super) fn sum(&self, labels: &[&str], of: &str) -> String {
        self.over_processes("sum", labels, of)
    }

    pub(super) fn over_processes(&self, how: &str, labels: &[&str], of: &str) -> String {
        let all: Vec<_> = labels.iter().copied().chain(self.apart.iter().map(String::as_str)).collect();
        format!("{how} without ({}) ({of})", all.join(", "))
    }
}

/// One matcher.
pub(super) fn is(label: &str, value: &str) -> String {
    format!("{label}=\"{}\"", escaped(value))
}

/// Text between double quotes, for `PromQL` and YAML alike: both take the escapes of Go and JSON.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Writing to a string does not fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            // What YAML takes for the end of a line, or refuses.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                write!(out, "\\u{:04x}", u32::from(c))
            }
            c => write!(out, "{c}"),
        };
    }
    out
}

/// Text in a message, in which two braces begin a template.
pub(super) fn plain(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

/// A length as Prometheus writes it.
pub(super) fn length(of: Duration) -> String {
    let ms = of.as_millis();
    let (size, unit) = match ms {
        0 => (1, "s"),
        ms if ms.is_multiple_of(3_600_000) => (3_600_000, "h"),
        ms if ms.is_multiple_of(60_000) => (60_000, "m"),
        ms if ms.is_multiple_of(1_000) => (1_000, "s"),
        _ => (1, "ms"),
    };
    format!("{}{unit}", ms / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_what_it_stands_in() {
        assert_eq!(is("function", "a\"} or \\ vector(1) \n"), r#"function="a\"} or \\ vector(1) \n""#);
        assert_eq!(escaped("\u{85}\u{2028}\u{1}ü"), "\\u0085\\u2028\\u0001ü");
        assert_eq!(plain("{{ $value }}"), "{{ \"{{\" }} $value }}");
    }

    #[test]
    fn lengths_are_those_of_prometheus() {
        let lengths = [0, 1, 1_500, 90_000, 120_000, 7_200_000].map(|ms| length(Duration::from_millis(ms)));
        assert_eq!(lengths, ["0s", "1ms", "1500ms", "90s", "2m", "2h"]);
    }

    #[test]
    fn matchers_stand_together_and_labels_of_processes_are_added_over() {
        let scope = Scope { only: is("function", "f"), over: "5m".to_owned(), apart: vec!["instance".to_owned()] };
        assert_eq!(
            scope.sum(&["fate"], &scope.rate("m", "")),
            r#"sum without (fate, instance) (rate(m{function="f"}[5m]))"#
        );
        let all = Scope { only: String::new(), apart: Vec::new(), ..scope };
        assert_eq!(all.sum(&[], &all.of("m", "")), "sum without () (m)");
        assert_eq!(all.of("m", "a=\"b\""), "m{a=\"b\"}");
    }
}
