//! The Grafana dashboard: the first screen on top, then one row per function, by a variable, then what functions share.
//!
//! Panels ask for the figures themselves and not for what the rules record, so it shows something without them, and over
//! whatever length is looked at. The one line that stands in no figure, the declared timeout, comes from the rules. Where each
//! function stands in the source, and what it declares, is a table of text: Prometheus has no label for that.
//!
//! Invariants: every panel has a unit and says what it shows; a share of nothing is a gap and no zero; nothing on it can be
//! changed from Prometheus' side.

use serde_json::{Value, json};

use super::Monitoring;
use super::figure::{self, Figure, TIMEOUT};
use super::scope::Scope;
use crate::call::tally::WaitFate;
use crate::call::{Fate, Refusal};
use crate::declaration::Declaration;
use crate::listing::{Listed, in_figures};
use crate::metrics::names;

/// Grafana's own choice of a range: four scrapes, or a step of the chart.
const OVER: &str = "$__rate_interval";
const WIDTH: u32 = 24;
const HEIGHT: u32 = 8;

pub(super) fn dashboard(watch: &Monitoring, functions: &[&'static Declaration], all: &[&'static Declaration]) -> Value {
    let scope =
        |only: &str| Scope { only: only.to_owned(), over: OVER.to_owned(), apart: watch.process_labels.clone() };
    let mut panels = Panels::default();
    first_screen(&mut panels, &scope("job=~\"$job\""));
    panels.row("$function", Some("function"), |row| function(row, &scope("job=~\"$job\",function=~\"$function\"")));
    panels.row("Bulkheads, threads and breakers", None, |row| shared(row, &scope("job=~\"$job\"")));
    panels.row("Where they stand, and what they declare", None, |row| {
        row.add(
            "Functions",
            WIDTH,
            json!({ "type": "text", "options": { "mode": "markdown", "content": listed(functions, all) } }),
        );
    });
    json!({
        "uid": "watertight",
        "title": "watertight",
        "tags": ["watertight"],
        "schemaVersion": 39,
        "editable": true,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": { "from": "now-1h", "to": "now" },
        "timezone": "browser",
        "annotations": { "list": [annotation()] },
        "templating": { "list": [
            { "name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus" },
            variable("job", "Service", &format!("label_values({}, job)", names::CALLS)),
            variable("function", "Function", &format!("label_values({}{{job=~\"$job\"}}, function)", names::CALLS)),
        ] },
        "panels": panels.done,
    })
}

/// The alerts of the rules, as marks on every chart.
fn annotation() -> Value {
    json!({
        "name": "Alerts",
        "datasource": source(),
        "enable": true,
        "iconColor": "red",
        "expr": "ALERTS{alertname=~\"Watertight.+\",alertstate=\"firing\"}",
        "titleFormat": "{{alertname}}",
        "textFormat": "{{function}}",
    })
}

fn source() -> Value {
    json!({ "type": "prometheus", "uid": "${datasource}" })
}

fn variable(name: &str, label: &str, query: &str) -> Value {
    json!({
        "name": name, "label": label, "type": "query", "datasource": source(), "query": query, "definition": query,
        "refresh": 2, "sort": 1, "multi": true, "includeAll": true, "allValue": ".*",
        "current": { "selected": true, "text": ["All"], "value": ["$__all"] },
    })
}

/// Panels in the order in which they are read, each where the last one ends.
#[derive(Default)]
struct Panels {
    done: Vec<Value>,
    /// Identities and places.
    next: u32,
    x: u32,
    y: u32,
}

impl Panels {
    fn add(&mut self, title: &str, width: u32, mut panel: Value) {
        if self.x + width > WIDTH {
            (self.x, self.y) = (0, self.y + HEIGHT);
        }
        self.next += 1;
        panel["id"] = self.next.into();
        panel["title"] = title.into();
        panel["gridPos"] = json!({ "x": self.x, "y": self.y, "w": width, "h": HEIGHT });
        self.x += width;
        self.done.push(panel);
    }

    /// Lines over time.
    fn lines(&mut self, title: &str, says: &str, unit: &str, queries: &[(String, &str)]) {
        let targets = targets(queries);
        let defaults = json!({ "unit": unit, "min": 0, "custom": { "fillOpacity": 8, "showPoints": "never" } });
        self.add(title, 8, json!({
            "type": "timeseries", "description": says, "datasource": source(), "targets": targets,
            "fieldConfig": { "defaults": defaults, "overrides": [] },
            "options": { "legend": { "displayMode": "list", "placement": "bottom" }, "tooltip": { "mode": "multi" } },
        }));
    }

    /// A stack over time: the parts are the whole.
    fn stack(&mut self, title: &str, says: &str, queries: &[(String, &str)]) {
        self.lines(title, says, "reqps", queries);
        if let Some(last) = self.done.last_mut() {
            last["fieldConfig"]["defaults"]["custom"] =
                json!({ "fillOpacity": 70, "lineWidth": 0, "showPoints": "never", "stacking": { "mode": "normal" } });
        }
    }

    /// A row that opens; with a variable, one for each of its values.
    fn row(&mut self, title: &str, repeat: Option<&str>, fill: impl FnOnce(&mut Self)) {
        (self.x, self.y) = (0, self.y + HEIGHT);
        self.next += 1;
        let mut inner = Self { done: Vec::new(), next: self.next, x: 0, y: self.y + 1 };
        fill(&mut inner);
        let place = json!({ "x": 0, "y": self.y, "w": WIDTH, "h": 1 });
        let mut row = json!({ "type": "row", "id": self.next, "title": title, "collapsed": true, "gridPos": place, "panels": inner.done });
        if let Some(variable) = repeat {
            row["repeat"] = variable.into();
        }
        self.done.push(row);
        (self.next, self.y) = (inner.next, self.y + 1);
    }
}

fn targets(queries: &[(String, &str)]) -> Vec<Value> {
    let letters = ('A'..='Z').cycle();
    let one = |((expr, legend), letter): (&(String, &str), char)| json!({ "refId": letter.to_string(), "datasource": source(), "expr": expr, "legendFormat": legend });
    queries.iter().zip(letters).map(one).collect()
}

/// Calls a second of those that match.
fn calls(of: &Scope, more: &str) -> String {
    figure::calls(of, more)
}

fn first_screen(panels: &mut Panels, of: &Scope) {
    let worst = format!("topk(10, {} > 0)", calls(of, &figure::harmed()));
    panels.lines(
        "Who hurts users",
        "Calls a second that failed or that a fallback answered, of the ten functions that have most of them.",
        "reqps",
        &[(worst, "{{function}}")],
    );
    panels.lines(
        "Share of calls that got no answer",
        "Calls that failed with no fallback's answer, among all calls of their function.",
        "percentunit",
        &[(format!("topk(10, {} > 0)", Figure::Failed.expr(of)), "{{function}}")],
    );
    panels.lines(
        "Attempts a call",
        "1 is no retry. Above that, the dependency carries so many times the load that the callers asked for.",
        "none",
        &[(Figure::RetryFactor.expr(of), "{{function}}")],
    );
    table(panels, of);
}

/// One line per function, those first that hurt most.
fn table(panels: &mut Panels, of: &Scope) {
    let columns = [
        ("Harmed a second", calls(of, &figure::harmed()), "reqps"),
        ("Harmed", Figure::Harmed.expr(of), "percentunit"),
        ("Calls a second", Figure::Calls.expr(of), "reqps"),
        ("Refused", Figure::Refused.expr(of), "percentunit"),
        ("Attempts a call", Figure::RetryFactor.expr(of), "none"),
        ("Cut off", Figure::CutOff.expr(of), "percentunit"),
        ("p50", Figure::P50.expr(of), "s"),
        ("p99", Figure::P99.expr(of), "s"),
    ];
    let queries: Vec<_> = columns.iter().map(|(_, expr, _)| (expr.clone(), "")).collect();
    let mut targets = targets(&queries);
    for target in &mut targets {
        target["format"] = "table".into();
        target["instant"] = true.into();
    }
    let mut overrides = Vec::new();
    let mut renamed = serde_json::Map::new();
    for ((name, _, unit), letter) in columns.iter().zip('A'..='Z') {
        renamed.insert(format!("Value #{letter}"), (*name).into());
        let matcher = json!({ "id": "byName", "options": name });
        overrides.push(json!({ "matcher": matcher, "properties": [{ "id": "unit", "value": unit }, { "id": "decimals", "value": 2 }] }));
    }
    panels.add("Functions, those first that hurt most", WIDTH, json!({
        "type": "table", "datasource": source(), "targets": targets,
        "description": "Now. An attempt that was cut off counts in p50 and p99 by what it had run, so these say: at least.",
        "fieldConfig": { "defaults": {}, "overrides": overrides },
        "options": { "sortBy": [{ "displayName": columns[0].0, "desc": true }] },
        "transformations": [
            { "id": "merge", "options": {} },
            { "id": "organize", "options": { "excludeByName": { "Time": true }, "renameByName": renamed } },
        ],
    }));
}

fn function(row: &mut Panels, of: &Scope) {
    let and = |fate: Fate, more: &str| format!("fate=\"{}\"{more}", fate.as_str());
    let answered = "fallback=~\"used|last_good\"";
    let refused = |reason: Refusal| format!("reason=\"{}\",fallback!~\"used|last_good\"", reason.as_str());
    let unanswered = ",fallback!~\"used|last_good\"";
    let mut fates = vec![
        (total(&calls(of, &and(Fate::Ok, ""))), "ok"),
        (total(&calls(of, answered)), "answered by the fallback"),
        (total(&calls(of, &and(Fate::Error, unanswered))), "failed: error"),
        (total(&calls(of, &and(Fate::TimedOut, unanswered))), "failed: timed out"),
        (total(&calls(of, &and(Fate::Panicked, unanswered))), "failed: panicked"),
        (total(&calls(of, &and(Fate::Cancelled, unanswered))), "dropped by the caller"),
    ];
    let words =
        ["no slot", "waited for a slot", "breaker open", "no time left", "doomed", "too often", "shutting down"];
    let reasons: Vec<_> = words.iter().map(|word| format!("failed: {word}")).collect();
    fates.extend(
        Refusal::ALL.into_iter().zip(&reasons).map(|(it, word)| (total(&calls(of, &refused(it))), word.as_str())),
    );
    row.stack("How calls ended", "Every call is in one of them, so the stack is all calls.", &fates);
    let buckets = |quantile: &str| figure::percentile(of, quantile);
    row.lines(
        "Length of attempts",
        "Of completed attempts and those cut off, which count by what they had run: at least. The timeout comes from the rules.",
        "s",
        &[
            (buckets("0.5"), "p50"),
            (buckets("0.9"), "p90"),
            (buckets("0.99"), "p99"),
            (format!("min ({TIMEOUT}{{function=~\"$function\"}})"), "timeout"),
        ],
    );
    heat(row, of);
    row.lines(
        "Attempts a call, and what stopped retries",
        "Failed attempts that were not followed by another, by reason; `budget` means that the dependency is down and no blip.",
        "none",
        &[(Figure::RetryFactor.expr(of), "attempts a call"), (stops(of), "no retry: {{reason}}")],
    );
    row.lines(
        "Attempts cut off",
        "The share of attempts that their timeout or deadline cut off.",
        "percentunit",
        &[(Figure::CutOff.expr(of), "cut off"), (Figure::NoSlot.expr(of), "calls without a slot")],
    );
    row.lines(
        "Waiting for a slot",
        "How long those waited that had to, by how it ended.",
        "s",
        &[WaitFate::Ran, WaitFate::Expired].map(|it| (waits(of, it), it.as_str())),
    );
}

/// A fate over all modules and services that were chosen: one line.
fn total(of: &str) -> String {
    format!("sum ({of})")
}

fn stops(of: &Scope) -> String {
    format!("sum by (reason) ({}) > 0", of.rate(names::RETRY_STOPS, ""))
}

fn waits(of: &Scope, fate: WaitFate) -> String {
    let buckets = of.rate(&format!("{}_bucket", names::QUEUE_WAIT), &format!("outcome=\"{}\"", fate.as_str()));
    format!("histogram_quantile(0.99, sum by (le) ({buckets}))")
}

fn heat(row: &mut Panels, of: &Scope) {
    let buckets = of.rate(&format!("{}_bucket", names::LATENCY), "");
    let mut targets = targets(&[(format!("sum by (le) ({buckets})"), "{{le}}")]);
    targets[0]["format"] = "heatmap".into();
    row.add("Completed attempts by length", 8, json!({
        "type": "heatmap", "datasource": source(), "targets": targets,
        "description": "Attempts that were cut off are not among them: nobody knows how long they would have taken.",
        "options": { "calculate": false, "yAxis": { "unit": "s" }, "cellValues": { "unit": "reqps" } },
    }));
}

fn shared(row: &mut Panels, of: &Scope) {
    let gauge = |metric: &str| of.sum(&[], &of.of(metric, ""));
    row.lines(
        "Slots taken",
        "Of a bulkhead, over all processes. A line that lies at 100 % refuses, or makes wait, whatever comes.",
        "percentunit",
        &[(Figure::Saturation.expr(of), "{{bulkhead}}"), (Figure::Threads.expr(of), "threads {{isolate}}")],
    );
    row.lines(
        "Running and waiting",
        "Samples: what is over between two scrapes is in the high-water marks, watertight_bulkhead_running_peak.",
        "none",
        &[
            (gauge(names::BULKHEAD_RUNNING), "{{bulkhead}} runs"),
            (gauge(names::BULKHEAD_QUEUED), "{{bulkhead}} waits"),
            (gauge(names::ISOLATE_AT_LARGE), "threads {{isolate}} lost"),
        ],
    );
    row.lines(
        "Breakers that are not closed",
        "1 while that of any process is open, half-open or held open.",
        "none",
        &[
            (Figure::NotClosed.expr(of), "{{breaker}}"),
            (
                format!("sum by (breaker, to) (increase({}[{OVER}])) > 0", of.of(names::BREAKER_TRANSITIONS, "")),
                "{{breaker}} to {{to}}",
            ),
        ],
    );
}

/// A table in markdown: names may be any text.
fn listed(functions: &[&'static Declaration], all: &[&'static Declaration]) -> String {
    let cell = |text: &str| {
        let quiet: String = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
        format!("`{}`", quiet.replace('|', "\\|").replace('$', "\u{ff04}"))
    };
    let row = |it: &&Declaration| {
        let listed = Listed::of(it, all);
        let longest = listed.worst_case.longest().map_or_else(|| "no end".to_owned(), in_figures);
        let place = format!("{}:{}", it.identity.file, it.identity.line);
        format!("| {} | {longest} | {} | {} |\n", cell(it.identity.name), cell(&listed.to_string()), cell(&place))
    };
    let rows: String = functions.iter().map(row).collect();
    format!("| function | worst case | settings | source |\n|---|---|---|---|\n{rows}")
}
