//! What is wrong with one function: calls that fail, calls that a fallback answers, and what leads there.
//!
//! | alert | fires when | the figure comes from |
//! |---|---|---|
//! | `WatertightCallsFail` | more than a share of its calls get no answer | `may_fail`, or its breaker's `failures` if that is less |
//! | `WatertightCallsFallBack` | more than a share are harmed, those that its fallback answers included | the same |
//! | `WatertightNoSlot` | its calls find no slot, while the slots are taken | slots in force, `may_fail` |
//! | `WatertightTimeoutCuts` | its timeout cuts off more than a share of attempts | what retries of timeouts and its breaker allow, 1 % at most |
//! | `WatertightRetriesRefused` | its budget refuses more retries than it grants | `budget` |
//! | `WatertightHangs` | calls are under way and none ends | functions that declare no limit at all |
//!
//! A share of few calls is an anecdote, so it counts from as many calls on as the breaker waits for (20 unless it says
//! another), or from three if not one of them was any good: a function that is called once a minute can be down, too.
//!
//! Invariant: what a function does not declare, or only observes, raises no alert.

use std::time::Duration;

use super::Monitoring;
use super::figure::Figure;
use super::scope::{escaped, is, length, plain};
use crate::base::text::exact;
use crate::call::Identity;
use crate::declaration::Declaration;
use crate::listing::{Listed, WorstCase};
use crate::strategies::breaker::Rules;
use crate::strategies::retry::Allowance;
use crate::strategies::{bulkhead, isolate};

/// The share of attempts that a timeout may cut off, where nothing of the function says less. Ten times what an advised
/// timeout cuts off, so that one that was chosen well does not ring.
const MAY_BE_CUT: f64 = 0.01;
/// Slots of which so many are taken on average are taken.
const TAKEN: f64 = 0.9;

/// One alert, before it is written down.
#[derive(Clone, Debug)]
pub(super) struct Alert {
    pub(super) name: &'static str,
    pub(super) expr: String,
    pub(super) hold: Duration,
    pub(super) severity: &'static str,
    /// Beside those of the series.
    pub(super) labels: Vec<(&'static str, &'static str)>,
    pub(super) summary: String,
    pub(super) description: String,
    pub(super) runbook: String,
}

/// The functions that are one series: those of one name in one module.
pub(super) struct Site<'a> {
    pub(super) same: Vec<&'a Declaration>,
    pub(super) all: &'a [&'static Declaration],
    pub(super) watch: &'a Monitoring,
}

pub(super) const CRITICAL: &str = "critical";
pub(super) const WARNING: &str = "warning";

impl Site<'_> {
    pub(super) fn alerts(&self) -> Vec<Alert> {
        let all = [
            Some(self.calls_fail()),
            self.calls_fall_back(),
            self.no_slot(),
            self.timeout_cuts(),
            self.retries_refused(),
            self.hangs(),
        ];
        all.into_iter().flatten().collect()
    }

    pub(super) fn identity(&self) -> Identity {
        self.same[0].identity
    }

    /// `recs (src/recs.rs:12)`, with every place it stands.
    pub(super) fn place(&self) -> String {
        plain(&format!("{} ({})", self.identity().name, places(&self.same)))
    }

    fn matchers(&self) -> String {
        let Identity { name, module, .. } = self.identity();
        format!("{},{}", is("function", name), is("module", module))
    }

    /// The least of what its declarations say.
    fn least(&self, of: impl Fn(&Declaration) -> Option<f64>) -> Option<f64> {
        self.same.iter().filter_map(|it| of(it)).reduce(f64::min)
    }

    fn any(&self, of: impl Fn(&Declaration) -> bool) -> bool {
        self.same.iter().any(|it| of(it))
    }

    fn may_fail(&self) -> f64 {
        let said = self.least(|it| (self.watch.may_fail)(&it.identity));
        let share = said.unwrap_or_else(|| {
            let opens = self.least(|it| breaker(it, self.all).map(|rules| rules.failures));
            super::MAY_FAIL.min(opens.unwrap_or(1.0))
        });
        // Not a number is no share.
        if share.is_nan() { super::MAY_FAIL } else { share.clamp(0.0, 1.0) }
    }

    /// A share that is too large, of enough calls.
    fn beyond(&self, figure: Figure, share: f64) -> String {
        let over = length(self.watch.window);
        let only = self.matchers();
        let seconds = self.watch.window.as_secs_f64();
        let enough = self.same.iter().filter_map(|it| breaker(it, self.all)).map(|rules| rules.min_calls).min();
        let enough = enough.unwrap_or(Rules::DEFAULT.min_calls);
        let (share_of, calls) = (figure.name(&over), Figure::Calls.name(&over));
        // What Prometheus counts lies a little beside whole calls, so three are more than two and a half.
        format!(
            "({share_of}{{{only}}} > {share} and {calls}{{{only}}} * {seconds} >= {enough})\n\
             or ({share_of}{{{only}}} >= 1 and {calls}{{{only}}} * {seconds} > 2.5)"
        )
    }

    fn alert(&self, name: &'static str, expr: String) -> Alert {
        let Identity { name: function, module, .. } = self.identity();
        Alert {
            name,
            expr,
            hold: self.watch.hold,
            severity: WARNING,
            labels: vec![("function", function), ("module", module)],
            summary: String::new(),
            description: format!("It declares #[resilient({})].", plain(&self.settings())),
            runbook: String::new(),
        }
    }

    fn settings(&self) -> String {
        Listed::of(self.same[0], self.all).to_string()
    }

    fn calls_fail(&self) -> Alert {
        let share = self.may_fail();
        let fallback = if self.any(|it| it.fallback.is_some()) {
            "its fallback fails too, or does not answer for this failure"
        } else {
            "a `fallback` would answer its callers meanwhile"
        };
        Alert {
            severity: CRITICAL,
            summary: format!("{}: {{{{ $value | humanizePercentage }}}} of its calls fail", self.place()),
            runbook: format!(
                "See in watertight_calls_total by which fate and reason: `timed_out` and `error` are the dependency's, so mend or \
                 roll back that; `full` and `waited` are slots, `open` its breaker, `deadline` and `doomed` callers that come \
                 too late. Beside that, {fallback}."
            ),
            ..self.alert("WatertightCallsFail", self.beyond(Figure::Failed, share))
        }
    }

    fn calls_fall_back(&self) -> Option<Alert> {
        let share = self.may_fail();
        self.any(|it| it.fallback.is_some()).then(|| Alert {
            summary: format!(
                "{}: {{{{ $value | humanizePercentage }}}} of its calls are answered by its fallback, or fail",
                self.place()
            ),
            runbook: "Users get the substitute, so nothing is down; what is wrong is the dependency, or a setting that the other \
                      alerts of this function name."
                .to_owned(),
            ..self.alert("WatertightCallsFallBack", self.beyond(Figure::Harmed, share))
        })
    }

    fn no_slot(&self) -> Option<Alert> {
        let bulkhead = self.same.iter().find_map(|it| it.bulkhead.filter(|_| !it.observe.bulkhead));
        let isolate = self.same.iter().find_map(|it| it.isolate);
        let (name, label, figure, room) = match (bulkhead, isolate) {
            (_, Some(it)) => (it.name, "isolate", Figure::Threads, threads_of(&it, self.all)),
            (Some(it), None) => (it.name, "bulkhead", Figure::Saturation, slots_of(&it, self.all)),
            (None, None) => return None,
        };
        let over = length(self.watch.window);
        // Slots for each key, and a limit that moves, are full at other times than the whole is.
        let moves = bulkhead.is_some_and(|it| it.keyed || it.floor.is_some()) && isolate.is_none();
        let mut expr = self.beyond(Figure::NoSlot, self.may_fail());
        if !moves {
            let taken = format!("{}{{{}}} >= {TAKEN}", figure.name(&over), is(label, name));
            expr = format!("({expr})\nand ignoring (function, module, {label}) {taken}");
        }
        Some(Alert {
            labels: [self.alert("", String::new()).labels, vec![(label, name)]].concat(),
            summary: format!(
                "{}: {{{{ $value | humanizePercentage }}}} of its calls find no slot in {label} {}",
                self.place(),
                plain(name)
            ),
            runbook: format!(
                "`{}` has {room}. If its attempts take no longer than usual, there is more traffic than slots: give it as many as \
                 watertight::advise() works out. If they take longer, leave it: it is what keeps everybody else alive, and \
                 more slots would only let more of them wait.",
                plain(name)
            ),
            ..self.alert("WatertightNoSlot", expr)
        })
    }

    fn timeout_cuts(&self) -> Option<Alert> {
        let timeout = self.same.iter().filter(|it| !it.observe.timeout).find_map(|it| it.timeout)?.nanos();
        let retried = self.least(|it| {
            let retry = it.retry.filter(|retry| retry.on.timeout && !it.observe.retry)?;
            retry.budget.map(|budget| budget.per_call)
        });
        let opens = self.least(|it| {
            it.breaker.filter(|breaker| breaker.on.timeout).and_then(|_| breaker(it, self.all)).map(|it| it.failures)
        });
        let share = [retried, opens].into_iter().flatten().fold(MAY_BE_CUT, f64::min);
        Some(Alert {
            summary: format!(
                "{}: its timeout of {} cuts off {{{{ $value | humanizePercentage }}}} of its attempts",
                self.place(),
                exact(timeout)
            ),
            runbook: format!(
                "If the dependency is slower than usual, mend that. If it is as it always was, `timeout = \"{}\"` is too short: \
                 set what the timeout picker or watertight::advise() says.",
                exact(timeout)
            ),
            ..self.alert("WatertightTimeoutCuts", self.beyond(Figure::CutOff, share))
        })
    }

    fn retries_refused(&self) -> Option<Alert> {
        let budget = |it: &Declaration| it.retry.filter(|_| !it.observe.retry).and_then(|it| it.budget);
        let Allowance { per_call, per_second } =
            self.same.iter().filter_map(|it| budget(it)).reduce(Allowance::stricter)?;
        Some(Alert {
            summary: format!(
                "{}: its budget refuses {{{{ printf \"%.2f\" $value }}}} retries a call, more than the {per_call} it grants",
                self.place()
            ),
            runbook: format!(
                "More of its calls fail than {per_call} retries a call and {per_second} a second can mend: this is an outage of the \
                 dependency and no blip. Mend that; a larger `budget` would multiply its load."
            ),
            ..self.alert("WatertightRetriesRefused", self.beyond(Figure::RetriesRefused, per_call))
        })
    }

    fn hangs(&self) -> Option<Alert> {
        if !self.any(|it| WorstCase::of(it, self.all).longest().is_none()) {
            return None;
        }
        let over = length(self.watch.window);
        let only = self.matchers();
        let (hanging, calls) = (Figure::Hanging.name(&over), Figure::Calls.name(&over));
        Some(Alert {
            summary: format!("{}: {{{{ $value }}}} calls are under way and none has ended for {over}", self.place()),
            runbook: "It declares neither `timeout` nor `deadline`, so nothing ends what hangs: write one.".to_owned(),
            ..self.alert("WatertightHangs", format!("{hanging}{{{only}}} > 0 and {calls}{{{only}}} == 0"))
        })
    }
}

/// `src/a.rs:1, src/b.rs:9`.
pub(super) fn places(of: &[&Declaration]) -> String {
    of.iter().map(|it| format!("{}:{}", it.identity.file, it.identity.line)).collect::<Vec<_>>().join(", ")
}

/// The rules of a function's breaker: the strictest of all that name it.
pub(super) fn breaker(it: &Declaration, all: &[&'static Declaration]) -> Option<Rules> {
    let breaker = it.breaker.filter(|_| !it.observe.breaker)?;
    let named = all.iter().filter_map(|it| it.breaker).filter(|it| it.name.is_some() && it.name == breaker.name);
    Some(named.chain([breaker]).filter_map(|it| it.rules).reduce(Rules::stricter).unwrap_or(Rules::DEFAULT))
}

fn slots_of(it: &bulkhead::Config, all: &[&'static Declaration]) -> String {
    let named = all.iter().filter_map(|it| it.bulkhead).filter(|other| other.name == it.name);
    let limits = named.chain([*it]).filter_map(|it| it.limits).reduce(bulkhead::Limits::stricter);
    let bulkhead::Limits { slots, queue } = limits.unwrap_or(bulkhead::Limits::UNDECLARED);
    let most = if it.floor.is_some() { "up to " } else { "" };
    let each = if it.keyed { " for each key" } else { "" };
    format!("{most}{slots} slots{each} and a queue of {queue}")
}

fn threads_of(it: &isolate::Config, all: &[&'static Declaration]) -> String {
    let named = all.iter().filter_map(|it| it.isolate).filter(|other| other.name == it.name);
    let limits = named.chain([*it]).filter_map(|it| it.limits).reduce(isolate::Limits::stricter);
    let isolate::Limits { threads, queue } = limits.unwrap_or(isolate::Limits::UNDECLARED);
    format!("{threads} threads and a queue of {queue}")
}

/// A label's value in the file of rules.
pub(super) fn value(text: &str) -> String {
    escaped(&plain(text))
}
