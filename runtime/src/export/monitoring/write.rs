//! The file of rules.
//!
//! Its groups are evaluated side by side, the rules of one in their order: first what is recorded, then one group for each
//! function, so that a person finds it and can leave it out.
//!
//! Invariant: whatever the names are, the file is YAML and the rules are those above.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::Monitoring;
use super::alerts::{Alert, Site, value};
use super::figure::{Figure, TIMEOUT};
use super::scope::{Scope, escaped, length};
use super::shared;
use crate::declaration::Declaration;
use crate::strategies::timeout;

const HEAD: &str = "\
# Written by watertight from the declarations of one binary; write it anew rather than edit it.
# Thresholds and their reasons: docs/metrics.md.
groups:
";

pub(super) fn file(watch: &Monitoring, functions: &[&'static Declaration], all: &[&'static Declaration]) -> String {
    let mut text = HEAD.to_owned();
    group(&mut text, "watertight: figures");
    let over = length(watch.window);
    let scope = Scope { only: String::new(), over: over.clone(), apart: watch.process_labels.clone() };
    for figure in Figure::ALL {
        record(&mut text, &figure.name(&over), &figure.expr(&scope), &[]);
    }
    let sites = sites(watch, functions, all);
    timeouts(&mut text, &sites);
    for site in &sites {
        group(&mut text, &format!("watertight: {}", site.identity()));
        for it in &site.alerts() {
            alert(&mut text, it);
        }
    }
    for (name, alerts) in [
        ("watertight: breakers", shared::breakers(watch, functions, all)),
        ("watertight: threads", shared::threads(watch, functions)),
    ] {
        if !alerts.is_empty() {
            group(&mut text, name);
            for it in &alerts {
                alert(&mut text, it);
            }
        }
    }
    text
}

/// Those of one name in one module are one series, and so one site.
fn sites<'a>(
    watch: &'a Monitoring,
    functions: &[&'static Declaration],
    all: &'a [&'static Declaration],
) -> Vec<Site<'a>> {
    let mut same: BTreeMap<_, Vec<&Declaration>> = BTreeMap::new();
    for &it in functions {
        same.entry((it.identity.module, it.identity.name)).or_default().push(it);
    }
    same.into_values().map(|same| Site { same, all, watch }).collect()
}

/// What is declared and never measured: a line for charts.
fn timeouts(text: &mut String, sites: &[Site<'_>]) {
    let of = |site: &Site<'_>| {
        let timeouts = site.same.iter().filter(|it| !it.observe.timeout).filter_map(|it| it.timeout);
        timeouts.map(timeout::Config::nanos).min().map(|nanos| (site.identity(), nanos as f64 / 1e9))
    };
    let declared: Vec<_> = sites.iter().filter_map(of).collect();
    if !declared.is_empty() {
        group(text, "watertight: settings");
    }
    for (identity, seconds) in declared {
        let labels = [("function", identity.name), ("module", identity.module)];
        record(text, TIMEOUT, &format!("vector({seconds})"), &labels);
    }
}

fn group(text: &mut String, name: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "- name: \"{}\"\n  rules:", escaped(name));
}

fn record(text: &mut String, name: &str, expr: &str, labels: &[(&str, &str)]) {
    let _ = writeln!(text, "  - record: {name}");
    block(text, "expr", expr);
    self::labels(text, labels);
}

fn alert(text: &mut String, it: &Alert) {
    let _ = writeln!(text, "  - alert: {}", it.name);
    block(text, "expr", &it.expr);
    let _ = writeln!(text, "    for: {}", length(it.hold));
    labels(text, &[it.labels.as_slice(), &[("severity", it.severity)]].concat());
    let _ = writeln!(text, "    annotations:");
    for (key, said) in [("summary", &it.summary), ("description", &it.description), ("runbook", &it.runbook)] {
        let _ = writeln!(text, "      {key}: \"{}\"", escaped(said));
    }
}

/// As it is, line by line: nothing has to be escaped, since what could end a line is escaped in the query already.
fn block(text: &mut String, key: &str, said: &str) {
    let _ = writeln!(text, "    {key}: |-");
    for line in said.lines() {
        let _ = writeln!(text, "      {line}");
    }
}

fn labels(text: &mut String, labels: &[(&str, &str)]) {
    if !labels.is_empty() {
        let _ = writeln!(text, "    labels:");
    }
    for (key, said) in labels {
        let _ = writeln!(text, "      {key}: \"{}\"", value(said));
    }
}
